import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';

const home = new Home();
const file = (name: string, text: string) => {
  writeFileSync(home.file(name), text);
  return home.file(name);
};
const rules = file(
  'alerts.yaml',
  `alerts:
  - {name: no-queue, condition: queue_length == 0, action: slack, message: Idle, for: 1h}
  - {name: full-disk, condition: free_space_mb < 0, action: "email,webhook:ops"}
  - {name: old-data, condition: vulndb_age_days > 30, action: slack}
  - {name: broken, condition: 1 / 0 == 1, action: slack}
`,
);
const server = new InProcessServer({
  env: { SERVICE_ALERTS: rules, SERVICE_ALERTS__INTERVAL: '1s' },
});
beforeAll(() => server.start());
afterAll(async () => {
  await server.dispose();
  home.remove();
});

const run = (args: string[], workspace = server.workspace) =>
  home.run([...args, '--workspace-dir', workspace]);

describe('portolan alert list', () => {
  it('shows states and since when, and warns of rules that cannot be evaluated', async () => {
    await expect
      .poll(async () => (await run(['alert', 'list', '--format', 'json'])).stdout, { interval: 500 })
      .toContain('division by zero');
    const { code, stdout, stderr } = await run(['alert', 'list']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^NAME +STATE +SINCE +FOR +ACTION +CONDITION$/);
    expect(lines[1]).toMatch(/^no-queue +pending +(?:now|\d+ \w+ ago) +1 h +slack +queue_length == 0$/);
    expect(lines[2]).toMatch(
      /^full-disk +inactive +(?:now|\d+ \w+ ago) +– +email,webhook:ops +free_space_mb < 0$/,
    );
    expect(stderr).toBe('warning: broken cannot be evaluated: division by zero\n');
  });

  it('needs a server', async () => {
    const { code, stderr } = await run(['alert', 'list'], home.file('none'));
    expect(code).toBe(4);
    expect(stderr).toContain('no server runs on this workspace');
  });
});

describe('portolan alert test', () => {
  it('shows the values of the server and what would fire', async () => {
    const { code, stdout } = await run(['alert', 'test', rules, '--format', 'json']);
    expect(code).toBe(0);
    const tested = JSON.parse(stdout) as {
      rules: { name: string; holds: boolean | null; error: string | null }[];
    };
    expect(tested).toMatchObject({ file: rules, unknown: ['vulndb_age_days'], values: { queue_length: 0 } });
    expect(tested.rules.map(({ name, holds, error }) => [name, holds, error])).toEqual([
      ['no-queue', true, null],
      ['full-disk', false, null],
      ['old-data', false, null],
      ['broken', null, 'division by zero'],
    ]);
    const text = await run(['alert', 'test', rules]);
    expect(text.stdout).toMatch(
      /^NAME +FIRES +CONDITION +VALUES\nno-queue +yes +queue_length == 0 +queue_length=0\n/,
    );
    expect(text.stderr).toBe(`${rules}: 4 rules, no problems\nunknown values: vulndb_age_days\n`);
  });

  it('says without a server that the values are unknown', async () => {
    const { code, stdout, stderr } = await run(['alert', 'test', rules], home.file('none'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^no-queue +unknown +queue_length == 0 +queue_length=unknown$/m);
    expect(stderr).toContain('unknown values: error_rate, queue_length, free_space_mb');
  });

  it('ends with exit code 3 and the place of every problem', async () => {
    const bad = file('bad.yaml', '- name: a\n  condition: queue_lenght > 1\n  action: slak\n');
    const { code, stdout, stderr } = await run(['alert', 'test', bad]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(
      [
        `${bad}:2:14: error: condition: unknown variable queue_lenght`,
        '  2 |   condition: queue_lenght > 1',
        '    |              ^^^^^^^^^^^^ did you mean queue_length?',
        `${bad}:3:11: error: unknown action "slak"`,
        '  3 |   action: slak',
        '    |           ^^^^ did you mean slack?',
        '2 errors\n',
      ].join('\n'),
    );
  });

  it('prints control characters of a file visibly', async () => {
    const hostile = file(
      'hostile.yaml',
      '- {"name\\e[2J": a, condition: "true", action: slack, message: "\\a"}\n',
    );
    const { code, stderr } = await run(['alert', 'test', hostile]);
    expect(code).toBe(3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(stderr).not.toMatch(/[\x07\x1b]/);
  });
});

describe('a server with bad alert rules', () => {
  it('does not start: exit code 3 with file, line and column', async () => {
    const bad = file('bad.yaml', 'alerts:\n  - {name: a, condition: 1.0 + 1.0, action: slack}\n');
    const env = { SERVICE_ALERTS: bad };
    const { code, stderr } = await home.run(['server', 'start', '--bind', '127.0.0.1:0'], { env });
    expect(code).toBe(3);
    const problem = `${bad}:2:26: error: condition: must be true or false, but has the type double\n`;
    expect(stderr).toContain(problem);
    const checked = await home.run(['config', 'validate'], { env });
    expect(checked).toMatchObject({ code: 3, stderr: expect.stringContaining(problem) });
  });
});
