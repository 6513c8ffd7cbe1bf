import { describe, expect, it } from 'vitest';
import type { ObservedFact } from './predicate.ts';
import type { EvaluationRule, RuleGroup } from './rule.ts';
import { RuleEvaluation } from './rule-evaluation.ts';

const endpoint = { host: '192.0.2.1', port: 22, protocol: 'tcp' } as const;

function rule(match: RuleGroup, more: Partial<EvaluationRule> = {}): EvaluationRule {
  return {
    id: 'a-rule',
    name: 'A rule',
    version: '1.0.0',
    type: 'evaluation',
    author: null,
    severity: 'medium',
    cve: [],
    tags: [],
    references: [],
    triggers: [],
    match,
    reports: true,
    message: '{{field}} is {{value}}',
    action: 'Change SSH',
    remediation: 'Change it.',
    ...more,
  };
}

const fact = (field: string, ...values: ObservedFact['values']): ObservedFact => ({ field, values });

/** Findings at once, and those at the end. */
function evaluate(rules: EvaluationRule[], facts: ObservedFact[], hostFacts: ObservedFact[] = []) {
  const evaluation = new RuleEvaluation(rules);
  const early = facts.flatMap((each) => evaluation.observe(endpoint, [each]));
  evaluation.observeHost(endpoint.host, hostFacts);
  return { early, late: [...evaluation.complete()].flat() };
}

const software = { field: 'ssh.software', operator: 'contains', value: 'Open' } as const;
const kex = { field: 'ssh.kex_algorithms', operator: 'equals', value: 'group1' } as const;

describe('the evaluation of rules', () => {
  it.each([
    ['AND', ['OpenSSH'], ['group1'], true],
    ['AND', ['OpenSSH'], ['group14'], false],
    ['OR', ['dropbear'], ['group14', 'group1'], true],
    ['OR', ['dropbear'], ['group14'], false],
    ['NOT', ['dropbear'], ['group14'], true],
    ['NOT', ['dropbear'], ['group1'], false],
  ] as const)('%s with %j and %j: %s', (logic, seenSoftware, seenKex, holds) => {
    const facts = [fact('ssh.software', ...seenSoftware), fact('ssh.kex_algorithms', ...seenKex)];
    const { early, late } = evaluate([rule({ logic, rules: [software, kex] })], facts);
    expect([...early, ...late]).toHaveLength(holds ? 1 : 0);
  });

  it('evaluates nested groups', () => {
    const nested = rule({ logic: 'AND', rules: [software, { logic: 'NOT', rules: [kex] }] });
    expect(evaluate([nested], [fact('ssh.software', 'OpenSSH')]).late).toHaveLength(1);
    const both = [fact('ssh.software', 'OpenSSH'), fact('ssh.kex_algorithms', 'group1')];
    expect(evaluate([nested], both).late).toHaveLength(0);
  });

  it('requires every trigger', () => {
    const triggered = rule(
      { logic: 'OR', rules: [software] },
      { triggers: [{ field: 'http', operator: 'exists', value: true }] },
    );
    expect(evaluate([triggered], [fact('ssh.software', 'OpenSSH')])).toEqual({ early: [], late: [] });
    expect(evaluate([triggered], [fact('ssh.software', 'OpenSSH'), fact('http', true)]).early).toHaveLength(
      1,
    );
  });

  it('takes a missing field for absent at the end only', () => {
    const absent = rule({
      logic: 'AND',
      rules: [software, { field: 'tls', operator: 'exists', value: false }],
    });
    const { early, late } = evaluate([absent], [fact('ssh.software', 'OpenSSH')]);
    expect([early.length, late.length]).toEqual([0, 1]);
    expect(evaluate([absent], [fact('ssh.software', 'OpenSSH'), fact('tls', true)]).late).toEqual([]);
  });

  it('waits for the last claim about the product', () => {
    const old = rule({ logic: 'OR', rules: [{ field: 'version', operator: 'version_lt', value: '9.0' }] });
    const { early, late } = evaluate([old], [fact('version', '8.0'), fact('version', '9.2')]);
    expect([early, late]).toEqual([[], []]);
    expect(evaluate([old], [fact('version', '9.2'), fact('version', '8.0')]).late).toHaveLength(1);
  });

  it('adds the system of the host to each of its ports', () => {
    const linux = rule({
      logic: 'AND',
      rules: [software, { field: 'os.family', operator: 'equals', value: 'linux' }],
    });
    expect(
      evaluate([linux], [fact('ssh.software', 'OpenSSH')], [fact('os.family', 'linux')]).late,
    ).toHaveLength(1);
    expect(evaluate([linux], [fact('ssh.software', 'OpenSSH')], [fact('os.family', 'windows')]).late).toEqual(
      [],
    );
  });

  it('reports a rule once per port', () => {
    const evaluation = new RuleEvaluation([rule({ logic: 'OR', rules: [software] })]);
    const facts = [fact('ssh.software', 'OpenSSH')];
    const first = evaluation.observe(endpoint, facts);
    const again = evaluation.observe(endpoint, facts);
    const other = evaluation.observe({ ...endpoint, port: 2222 }, facts);
    expect([first, again, other].map(({ length }) => length)).toEqual([1, 0, 1]);
    expect([...evaluation.complete()].flat()).toEqual([]);
  });

  it('reads every response of a port', () => {
    const both = rule({
      logic: 'AND',
      rules: [
        { field: 'banner', operator: 'contains', value: 'one' },
        { field: 'banner', operator: 'contains', value: 'two' },
      ],
    });
    expect(evaluate([both], [fact('banner', 'one'), fact('banner', 'two')]).early).toHaveLength(1);
  });

  it('limits the ports of a host', () => {
    const evaluation = new RuleEvaluation([rule({ logic: 'OR', rules: [software] })]);
    const findings = Array.from({ length: 5000 }, (_, port) =>
      evaluation.observe({ ...endpoint, port }, [fact('ssh.software', 'OpenSSH')]),
    ).flat();
    expect(findings).toHaveLength(4096);
  });
});

describe('the finding of a rule', () => {
  it('names the rule, what matched and what to do', () => {
    const facts = [fact('ssh.kex_algorithms', 'group14', 'group1')];
    const references = ['https://example.net/'];
    const { early } = evaluate([rule({ logic: 'OR', rules: [software, kex] }, { references })], facts);
    expect(early).toEqual([
      {
        ...endpoint,
        id: 'a-rule',
        title: 'A rule',
        severity: 'medium',
        cvss: null,
        kev: false,
        epss: null,
        cpe: null,
        affected: null,
        detected: 'group1',
        confidence: 0.95,
        backport_note: null,
        affected_from: null,
        fixed_in: null,
        action: { key: 'change ssh', text: 'Change SSH', update: false },
        class: 'certain',
        evidence: 'ssh.kex_algorithms is group1\nssh.kex_algorithms: group1',
        remediation: 'Change it.',
        references,
        plugin: 'a-rule',
      },
    ]);
  });

  it('substitutes a value once, without its control characters, and limits it', () => {
    const hostile = `Open{{field}}\u001b]0;${'x'.repeat(9000)}`;
    const [finding] = evaluate(
      [rule({ logic: 'OR', rules: [software] })],
      [fact('ssh.software', hostile)],
    ).early;
    expect(finding?.evidence).toMatch(/^ssh\.software is Open\n/);
    const short = hostile.slice(0, 30);
    const [shown] = evaluate([rule({ logic: 'OR', rules: [software] })], [fact('ssh.software', short)]).early;
    expect(shown?.evidence).toContain('ssh.software is Open{{field}}\\x1b]0;xxx');
  });

  it('is less certain where it rests on a version that a distribution may have patched', () => {
    const old = rule({ logic: 'OR', rules: [{ field: 'version', operator: 'version_lt', value: '9.8' }] });
    const claim = { cpe: 'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*', version: '9.2p1', confidence: 0.98 };
    const trial = (revision?: string) => {
      const evaluation = new RuleEvaluation([old]);
      evaluation.observe(endpoint, [fact('version', '9.2p1')], { ...claim, revision });
      return [...evaluation.complete()].flat()[0];
    };
    expect(trial()).toMatchObject({
      confidence: 0.95,
      class: 'likely',
      cpe: claim.cpe,
      detected: '9.2p1',
      backport_note: null,
    });
    expect(trial('Debian-2+deb12u3')).toMatchObject({
      confidence: 0.4,
      class: 'possible',
      backport_note: expect.stringContaining('Debian-2+deb12u3'),
    });
  });

  it('has no action if the rule names none', () => {
    const silent = rule({ logic: 'OR', rules: [software] }, { action: '' });
    const [finding] = evaluate([silent], [fact('ssh.software', 'OpenSSH')]).early;
    expect(finding).not.toHaveProperty('action');
  });

  it('names the plugin that brought the rule', () => {
    const producer = { name: 'my-rules', version: '1.2.3', sha256: 'ab' };
    const { early } = evaluate(
      [rule({ logic: 'OR', rules: [software] }, { producer })],
      [fact('ssh.software', 'OpenSSH')],
    );
    expect(early[0]?.producer).toEqual(producer);
  });
});
