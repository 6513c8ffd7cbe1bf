import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PortolanError } from '../domain/errors.ts';
import { readAlertRules } from './read-rules.ts';
import { loadAlertRules } from './rules-file.ts';

const contract = `alerts:
  - name: high-error-rate
    condition: error_rate > 0.1
    action: slack,email        # slack, email or both
    message: "More than 10 % of scans fail"
  - {name: queue-backlog, condition: queue_length > 100, action: slack, message: "Queue is long"}
  - {name: low-disk, condition: free_space_mb < 10000, action: email, message: "Disk is filling", for: 5m}
`;

function issues(text: string): string[] {
  return loadAlertRules(text).issues.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const rule = (more: string) => `- name: a\n  action: slack\n  ${more}\n`;

describe('a file of alert rules', () => {
  it('holds rules under alerts', () => {
    const { rules, issues } = loadAlertRules(contract);
    expect(issues).toEqual([]);
    expect(rules.map(({ condition, ...rest }) => ({ ...rest, condition: condition.text }))).toEqual([
      {
        name: 'high-error-rate',
        condition: 'error_rate > 0.1',
        action: 'slack,email',
        channels: ['slack://default', 'email://default'],
        forMs: 0,
        message: 'More than 10 % of scans fail',
        line: 2,
      },
      {
        name: 'queue-backlog',
        condition: 'queue_length > 100',
        action: 'slack',
        channels: ['slack://default'],
        forMs: 0,
        message: 'Queue is long',
        line: 6,
      },
      {
        name: 'low-disk',
        condition: 'free_space_mb < 10000',
        action: 'email',
        channels: ['email://default'],
        forMs: 300_000,
        message: 'Disk is filling',
        line: 7,
      },
    ]);
  });

  it('may be a bare list, and JSON', () => {
    const bare = contract.replace('alerts:\n', '').replaceAll(/^ {2}/gm, '');
    const plain = ({ rules }: ReturnType<typeof loadAlertRules>) =>
      JSON.stringify(rules.map((each) => ({ ...each, line: 0 })));
    expect(plain(loadAlertRules(bare))).toBe(plain(loadAlertRules(contract)));
    const json = '[{"name": "a", "condition": "queue_length > 1", "action": "webhook:ops, slack"}]';
    expect(loadAlertRules(json).rules[0]).toMatchObject({
      channels: ['webhook://ops', 'slack://default'],
      message: 'queue_length > 1',
    });
    expect(loadAlertRules('alerts: []')).toEqual({ rules: [], issues: [] });
  });

  it.each([
    [
      'condition: queue_lenght > 1',
      '3:14 condition: unknown variable queue_lenght; did you mean queue_length?',
    ],
    ['condition: queue_length > 1 && foo > "x"', '3:34 condition: unknown variable foo'],
    ['condition: "queue_length > 1 && foo > 1"', '3:35 condition: unknown variable foo'],
    ["condition: '''x'' == queue_length'", '3:15 condition: no such overload: string == double'],
    ['condition: "\\"x\\" == \\"y\\" && foo > 1"', '3:33 condition: unknown variable foo'],
    ['condition: >-\n    queue_length > 1\n    && foo > 1', '5:8 condition: unknown variable foo'],
    ['condition: |\n    queue_length > 1 and\n    foo > 1', '5:5 condition: unknown variable foo'],
    ['condition: queue_length\n    > 1\n    or foo > 1', '5:8 condition: unknown variable foo'],
    ['condition: queue_length >', '3:28 condition: unexpected end of the condition'],
    ['condition: 1.0 + 1.0', '3:14 condition: must be true or false, but has the type double'],
    ['condition: true', '3:14 condition must be text'],
    ['condition:', '3:13 condition must be text'],
    ['conditon: queue_length > 1', '3:3 unknown key "conditon"; did you mean condition?'],
    ['condition: queue_length > 1\n  color: red', '4:3 unknown key "color"; known: name, condition'],
    ['condition: queue_length > 1\n  for: soon', '4:8 for must be a duration up to 7d, such as 5m'],
    ['condition: queue_length > 1\n  for: 8d', '4:8 for must be a duration up to 7d, such as 5m'],
    ['condition: &c queue_length > 1\n  message: *c', '4:12 aliases are not supported'],
    ['condition: queue_length > 1\n  condition: "true"', '4:3 Map keys must be unique'],
  ])('names the place of %s', (text, expected) => {
    expect(issues(rule(text))[0]).toContain(expected);
  });

  it.each([
    ['slak', 'unknown action "slak"; did you mean slack?'],
    ['pager', 'unknown action "pager"; known: slack, email and webhook:NAME, comma-separated'],
    ['slack,', 'unknown action ""'],
    ['webhook', 'a webhook is written webhook:NAME'],
    ['webhook:', 'a webhook is written webhook:NAME'],
    ['webhook:a b', 'a webhook is written webhook:NAME'],
  ])('rejects the action %s', (action, message) => {
    const [issue] = issues(`- {name: a, condition: queue_length > 1, action: "${action}"}`);
    expect(issue).toMatch(/^1:50 /);
    expect(issue).toContain(message);
  });

  it('rejects what is not a list of rules', () => {
    expect(issues('')).toEqual([
      '1:1 the document is empty; it needs a list of rules, or one under "alerts"',
    ]);
    expect(issues('text')[0]).toContain('the document is not a list');
    expect(issues('alerts: 1')[0]).toContain('alerts must be a list of rules');
    expect(issues('rules: []')[0]).toContain('1:1 unknown key "rules"');
    expect(issues('- 1')[0]).toContain('1:3 a rule must be a map');
    expect(issues('- {name: a}')).toEqual(['1:3 a rule needs "condition"', '1:3 a rule needs "action"']);
    expect(issues('- !!js/function x')[0]).toMatch(/^1:3 .*tag/i);
    expect(
      issues(`- {name: a, condition: "true", action: slack, message: "${'x'.repeat(1001)}"}`)[0],
    ).toContain('message is longer than 1000 characters');
  });

  it('rejects bad and repeated names', () => {
    const named = (name: string) => `- {name: ${name}, condition: "true", action: slack}\n`;
    expect(issues(named('a') + named('a'))).toEqual(['2:10 another rule has the name a']);
    for (const name of ['"a b"', '"-a"', '""', '"a\\nb"', `"${'x'.repeat(64)}"`])
      expect(issues(named(name))[0], name).toContain('name must be 1 to 63 letters');
  });

  it('reports all problems at once and gives no rules then', () => {
    const text = '- {name: a, condition: x > 1, action: y}\n- {name: b, condition: "true", action: slack}\n';
    expect(loadAlertRules(text).issues).toHaveLength(2);
    expect(loadAlertRules(text).rules).toEqual([]);
  });

  it('has a bounded size and number of rules', () => {
    const many = Array.from({ length: 501 }, (_, i) => `- {name: a${i}, condition: "true", action: slack}\n`);
    expect(issues(many.join(''))).toEqual(['501:3 more than 500 rules']);
    expect(issues(`# ${'x'.repeat(300_000)}\n`)[0]).toContain('the file is larger than 256 KiB');
    expect(issues(`alerts: ${'['.repeat(5000)}`)[0]).toMatch(/nested too deeply|Flow/);
  });
});

describe('the place of the alert rules', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'portolan-rules-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const problemsOf = async (work: () => Promise<unknown>): Promise<unknown> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof PortolanError && error.code === 'configuration') return error.details['problems'];
      throw error;
    }
    return [];
  };

  it('is the first file that exists; without one there are no rules', async () => {
    const [first, second] = [join(dir, 'absent.yaml'), join(dir, 'second.yaml')];
    writeFileSync(second, contract);
    expect(await readAlertRules([first, second], '')).toMatchObject({ file: second });
    expect(await readAlertRules([first], '')).toEqual({ file: null, rules: [] });
  });

  it('must exist when it is named', async () => {
    const absent = join(dir, 'absent.yaml');
    expect(await problemsOf(() => readAlertRules([absent], absent))).toEqual([`${absent}: no such file`]);
    expect(await problemsOf(() => readAlertRules([dir], dir))).toEqual([`${dir}: not a regular file`]);
  });

  it('stands before each problem', async () => {
    const bad = join(dir, 'bad.yaml');
    writeFileSync(bad, '- name: a\n  condition: queue_lenght > 1\n  action: slak\n');
    expect(await problemsOf(() => readAlertRules([bad], ''))).toEqual([
      `${bad}:2:14: condition: unknown variable queue_lenght; did you mean queue_length?`,
      `${bad}:3:11: unknown action "slak"; did you mean slack?`,
    ]);
    writeFileSync(bad, Buffer.from([0xff, 0xfe, 0x80]));
    expect(await problemsOf(() => readAlertRules([bad], ''))).toEqual([`${bad}: not UTF-8 text`]);
  });
});

describe('packaging/alerts.yaml', () => {
  it('has no problems', () => {
    const text = readFileSync(join(import.meta.dirname, '../../packaging/alerts.yaml'), 'utf8');
    const { rules, issues } = loadAlertRules(text);
    expect(issues).toEqual([]);
    expect(rules.length).toBeGreaterThan(3);
  });
});
