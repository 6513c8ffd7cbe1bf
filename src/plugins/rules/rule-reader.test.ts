import { describe, expect, it } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { readRules } from './rule-reader.ts';

const contract = `
id: ssh-weak-kex            # required, ^[a-z][a-z0-9-]{2,62}$
name: Weak SSH key exchange
version: 1.0.0
type: evaluation            # evaluation | output | integration
author: security-team
metadata: {severity: medium, cve: [], tags: [ssh, crypto], references: ["https://www.rfc-editor.org/rfc/rfc9142"]}
triggers: [{data_key: ssh.kex_algorithms, condition: exists, value: true}]    # all must hold
match:
  logic: OR                 # AND | OR | NOT
  rules: [{field: ssh.kex_algorithms, operator: contains, value: diffie-hellman-group1-sha1}]
output: {vulnerability: true, severity: medium, message: "Server offers {{value}}", remediation: "Remove the algorithm", reference: "", metadata: {}}
`;

const rule = (id: string, match = '{ field: port, operator: equals, value: 22 }') =>
  `id: ${id}\nname: A rule\nversion: 1.0.0\ntype: evaluation\nmatch:\n  logic: OR\n  rules: [${match}]\noutput: { severity: low, message: text }\n`;

/** The problems of a text, without the name of its file. */
function problemsOf(text: string): string[] {
  try {
    readRules(text, 'f.yaml');
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect((error as PortolanError).code).toBe('configuration');
    const { fields } = (error as PortolanError).details as { fields: { field: string; reason: string }[] };
    return fields.map(({ field, reason }) => `${field.replace(/^f\.yaml:/, '')}: ${reason}`);
  }
}

describe('a rule file', () => {
  it('is read as the reference writes it', () => {
    expect(readRules(contract, 'f.yaml')).toEqual([
      {
        id: 'ssh-weak-kex',
        name: 'Weak SSH key exchange',
        version: '1.0.0',
        type: 'evaluation',
        author: 'security-team',
        severity: 'medium',
        cve: [],
        tags: ['ssh', 'crypto'],
        references: ['https://www.rfc-editor.org/rfc/rfc9142'],
        triggers: [{ field: 'ssh.kex_algorithms', operator: 'exists', value: true }],
        match: {
          logic: 'OR',
          rules: [{ field: 'ssh.kex_algorithms', operator: 'contains', value: 'diffie-hellman-group1-sha1' }],
        },
        reports: true,
        message: 'Server offers {{value}}',
        action: '',
        remediation: 'Remove the algorithm',
      },
    ]);
  });

  it('has one rule per document', () => {
    const text = `# comment\n---\n${rule('one-rule')}---\n${rule('two-rules')}...\n---\n# nothing\n`;
    expect(readRules(text, 'f.yaml').map(({ id }) => id)).toEqual(['one-rule', 'two-rules']);
  });

  it('names line and field of every problem, and is rejected as a whole', () => {
    const text = `${rule('one-rule')}---\n${rule('two-rules').replace('version: 1.0.0', 'version: "1"\nverson: 1')}`;
    expect(problemsOf(text)).toEqual([
      '13: verson: unknown key; did you mean version?',
      '12: version: must be a version such as 1.0.0',
    ]);
  });

  it('adds a reference per CVE', () => {
    const text = contract
      .replace('cve: []', 'cve: [CVE-2015-4000]')
      .replace('reference: ""', 'reference: "https://weakdh.org/"');
    expect(readRules(text, 'f.yaml')[0]?.references).toEqual([
      'https://www.rfc-editor.org/rfc/rfc9142',
      'https://weakdh.org/',
      'https://nvd.nist.gov/vuln/detail/CVE-2015-4000',
    ]);
  });

  it.each<[what: string, from: string | RegExp, to: string, problem: string]>([
    ['an id of another form', 'ssh-weak-kex ', 'SSH_weak ', '2: id: must be a lower-case letter'],
    ['no id', /id: ssh.*\n/, '', '2: id: is missing'],
    ['a version that is none', '1.0.0', '"one"', '4: version: must be a version such as 1.0.0'],
    [
      'an unknown type',
      'evaluation  ',
      'detection  ',
      '5: type: must be one of evaluation, output, integration',
    ],
    [
      'an unknown severity',
      'severity: medium,',
      'severity: urgent,',
      '7: metadata.severity: must be one of critical',
    ],
    ['a CVE that is none', 'cve: []', 'cve: [CVE-1]', '7: metadata.cve[0]: must be a CVE id'],
    [
      'a reference that is no URL',
      'https://www.rfc-editor.org',
      'javascript://x',
      '7: metadata.references[0]: must be an http',
    ],
    ['an unknown key within', 'cve: []', 'cwe: []', '7: metadata.cwe: unknown key; did you mean cve?'],
    [
      'an unknown field',
      'field: ssh.kex_algorithms',
      'field: ssh.kex_algorithm',
      '11: match.rules[0].field: is not a field; did you mean',
    ],
    [
      'an action of two lines',
      'remediation: "Remove',
      'action: "Remove\\nit", remediation: "Remove',
      '12: output.action: must be one line of text',
    ],
    [
      'a long action',
      'remediation: "Remove',
      `action: "${'x'.repeat(121)}", remediation: "Remove`,
      '12: output.action: is longer than 120 characters',
    ],
    [
      'an unknown operator',
      'operator: contains',
      'operator: contain',
      '11: match.rules[0].operator: is not an operator; did you mean contains?',
    ],
    [
      'an operator of another type',
      'operator: contains',
      'operator: gt',
      '11: match.rules[0].operator: gt does not fit ssh.kex_algorithms, which is text',
    ],
    [
      'a value of another type',
      'value: diffie-hellman-group1-sha1',
      'value: 7',
      '11: match.rules[0].value: must be text; quote it',
    ],
    [
      'an invalid pattern',
      'operator: contains, value: diffie-hellman-group1-sha1',
      'operator: matches, value: "(a"',
      '11: match.rules[0].value: does not compile',
    ],
    [
      'a backreference',
      'operator: contains, value: diffie-hellman-group1-sha1',
      "operator: matches, value: '(a)\\1'",
      '11: match.rules[0].value: does not compile',
    ],
    [
      'a pattern of many steps',
      'operator: contains, value: diffie-hellman-group1-sha1',
      'operator: matches, value: "((a{50}){50}){50}"',
      '11: match.rules[0].value: has more than 1000 steps',
    ],
    ['an unknown logic', 'logic: OR  ', 'logic: XOR  ', '10: match.logic: must be one of AND, OR, NOT'],
    [
      'no conditions',
      /rules: \[\{field.*\n/,
      'rules: []\n',
      '11: match.rules: must be a list of at least one',
    ],
    ['no match', /match:\n.*\n.*\n/, '', '2: match: is missing'],
    ['a trigger without value', ', value: true}]', '}]', '8: triggers[0].value: is missing'],
    [
      'a flag that is none',
      'vulnerability: true',
      'vulnerability: "yes"',
      '12: output.vulnerability: must be true or false',
    ],
    ['no message', 'message: "Server offers {{value}}", ', '', '2: output.message: is missing'],
    ['an alias', 'author: security-team', 'author: &a security-team\nx: *a', '7: aliases are not supported'],
    ['a merge key', 'author: security-team', '<<: {id: x}', '6: <<: unknown key'],
    ['a tag', 'author: security-team', 'author: !!js/function "x"', '6: Unresolved tag'],
    ['a key twice', 'author: security-team', 'id: other-rule', '6: Map keys must be unique'],
  ])('with %s is rejected', (_, from, to, problem) => {
    const text = contract.replace(from, to);
    expect(text).not.toBe(contract);
    expect(
      problemsOf(text).some((each) => each.startsWith(problem)),
      problemsOf(text).join('\n'),
    ).toBe(true);
  });

  it.each([
    [
      'version: version_lt',
      '{ field: version, operator: version_lt, value: 9 }',
      'must be a version in quotes',
    ],
    [
      'version_between',
      '{ field: version, operator: version_between, value: ["9.0", "8.0"] }',
      'the lowest value comes first',
    ],
    [
      'between',
      '{ field: http.status, operator: between, value: [200] }',
      'must be a list of the lowest and the highest value',
    ],
    ['in', '{ field: service, operator: in, value: ssh }', 'must be a list of 1 to 200 values'],
    ['exists', '{ field: tls, operator: exists, value: "no" }', 'must be true or false'],
    ['a date', '{ field: tls.not_after, operator: lt, value: soon }', 'must be a date such as'],
    [
      'a header',
      '{ field: http.headers.X-Powered-By, operator: exists, value: true }',
      'header names are lower-case',
    ],
    ['a scalar', 'port', 'must be a map with field, operator, value, or a group'],
    ['an empty text', '{ field: banner, operator: contains, value: "" }', 'must not be empty'],
  ])('with a wrong value of %s is rejected', (_, condition, problem) => {
    expect(problemsOf(rule('a-rule', condition)).join()).toContain(problem);
  });

  it('rejects an id that stands twice', () => {
    expect(problemsOf(`${rule('one-rule')}---\n${rule('one-rule')}`)).toEqual([
      '10: id: one-rule is already the id of the rule in line 1',
    ]);
  });

  it.each([
    ['nothing', '', '1: the document is empty'],
    ['a list', '- a\n- b\n', '1: the document is not a map'],
    ['a scalar', 'text\n', '1: the document is not a map'],
    ['a thousand levels', `id: ${'['.repeat(1000)}`, '1: the document is nested too deeply'],
    ['a billion laughs', 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n', '2: aliases are not supported'],
    ['1 MiB', `# ${'x'.repeat(1024 * 1024)}\n`, '1: the file is larger than 512 KiB'],
    [
      '501 rules',
      Array.from({ length: 501 }, (_, n) => rule(`rule-${n}`)).join('---\n'),
      ': the file has more than 500 rules',
    ],
    [
      'groups ten deep',
      rule(
        'a-rule',
        `${'{ logic: OR, rules: ['.repeat(9)}{ field: port, operator: equals, value: 1 }${']}'.repeat(9)}`,
      ),
      'groups are nested more than 8 deep',
    ],
    [
      '300 conditions',
      rule(
        'a-rule',
        Array.from({ length: 300 }, () => '{ field: port, operator: equals, value: 1 }').join(', '),
      ),
      'the rule has more than 200 conditions',
    ],
  ])('of %s is rejected', (_, text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem);
  });

  it('has no effect on prototypes', () => {
    expect(problemsOf(`${rule('a-rule')}__proto__: { polluted: true }\n`).join()).toContain(
      '__proto__: unknown key',
    );
    expect(
      problemsOf(rule('a-rule', '{ field: constructor, operator: exists, value: true }')).join(),
    ).toContain('is not a field');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
