import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';

const home = new Home();
afterAll(() => home.remove());
writeFileSync(home.file('scope.yaml'), 'scanner:\n  scope:\n    allow: [10.0.0.0/8]\n');
writeFileSync(home.file('denied.yaml'), 'scanner:\n  scope:\n    deny: [127.0.0.0/8]\n');
writeFileSync(
  home.file('bad.yaml'),
  'name: bad\nnodes:\n  - {instance_id: z, module_type: json_reporter, depends_on: [y]}\n  - instance_id: a\n    module_type: icmp_discovry\n',
);
writeFileSync(home.file('badconf.yaml'), 'server:\n  workers: many\nscanner:\n  rate: 5\n  timout: 3s\n');

describe.concurrent('a mistake ends with what to type instead', { timeout: 300_000 }, () => {
  it.each([
    ['--prots 22', 'unknown flag --prots', '--ports 22'],
    ['--prots=22', 'unknown flag --prots', '--ports 22'],
    ['-ports 22', 'unknown flag -ports', '--ports 22'],
    ['--profile port-scan', 'no profile "port-scan", it is a graph', '--dag port-scan'],
    ['-p standart', 'no profile "standart"', '--profile standard (also deep, infrastructure, quick, webapp)'],
    ['--profile 22', 'no profile "22"', '-p 22'],
    ['-p htpp', '"htpp" is no service, and no profile', '-p http'],
    ['-p top', '"top" is no port list, and no profile', '-p top-100'],
    ['-p 22 80', 'target "80" is a number; ports are separated by commas', '-p 22,80'],
    ['--dag port-scn', 'no graph "port-scn"', '--dag port-scan'],
    ['127.0.7.10:22', 'target 127.0.7.10:22 has a port', 'portolan scan 127.0.7.10 -p 22'],
    ['127.0.7.10:', 'target "127.0.7.10:": ends with a colon', 'portolan scan 127.0.7.10'],
    ['127.1/16', 'target "127.1/16": an IPv4 address has four decimal numbers', 'portolan scan 127.1.0.0/16'],
    ['127.0.*', 'target "127.0.*": octet ranges are four numbers', 'portolan scan 127.0.*.*'],
    ['https://127.0.0.1/x', 'target https://127.0.0.1/x is a URL', 'portolan scan 127.0.0.1 -p 443'],
    [
      '127.0.0.0/8',
      '16,777,214 addresses, the limit is 65,536',
      'SERVICE_SCANNER__MAX_ADDRESSES=0 (no limit)',
    ],
    ['-o', '--output needs a value', '--output FILE'],
  ])('scan %s', async (words, message, hint) => {
    const targets = /^(?:127|http)/.test(words) ? [] : ['127.0.0.1'];
    const { code, stdout, stderr } = await home.run(['scan', ...targets, ...words.split(' ')]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `portolan: ${message}\n  try: ${hint}\n`,
    });
  });

  it.each([
    [['127.0.7.10', '-p', '22'], '"127.0.7.10" is no command', 'portolan scan 127.0.7.10 -p 22'],
    [['https://127.0.7.10'], '"https://127.0.7.10" is no command', 'portolan scan https://127.0.7.10'],
    [['scna', '127.0.0.1'], '"scna" is no command', 'portolan scan 127.0.0.1'],
    [['-v', 'wrokspace'], '"wrokspace" is no command', 'portolan workspace'],
    [['-sS', '127.0.0.1'], 'flag -sS without a command', 'portolan scan -sS 127.0.0.1'],
    [['scans', 'list'], '"scans" is no command', 'portolan scan list'],
    [['show', 'latest'], '"show" is no command', 'portolan scan show latest'],
    [['findings'], '"findings" is no command', 'portolan scan show latest'],
    [['start'], '"start" is no command', 'portolan server start'],
    [['--json', 'scan', '127.0.0.1'], 'flag --json without a command', 'portolan scan 127.0.0.1 --json'],
    [['workspace', 'rm', 'x'], '"rm" is no command of workspace', 'portolan workspace delete x'],
    [['job', 'create'], '"create" is no command of job', 'portolan job submit'],
    [['nonsense'], '"nonsense" is no command', 'portolan --help'],
    [['workspace', 'lst'], '"lst" is no command of workspace', 'portolan workspace list'],
    [['workspace', 'list', '--limt', '5'], 'unknown flag --limt', '--limit 5'],
    [['workspace', 'list', '--limit'], '--limit needs a value', '--limit N'],
    [['workspace', 'show'], 'portolan workspace show needs an id', 'portolan workspace show ID'],
  ])('portolan %j', async (words, message, hint) => {
    const { code, stdout, stderr } = await home.run(words);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `portolan: ${message}\n  try: ${hint}\n`,
    });
  });

  it.each([
    ['ls', [], 'scan list'],
    ['history', [], 'scan list'],
    ['results', [], 'scan show latest'],
    ['rm', ['x'], 'scan delete x'],
    ['stop', ['x'], 'scan cancel x'],
    ['report', ['latest'], 'scan export latest'],
    ['run', ['127.0.0.1'], 'scan 127.0.0.1'],
    ['start', [], 'scan TARGET'],
    ['gc', [], 'workspace gc'],
  ])('scan %s: a verb is no host name', async (verb, rest, hint) => {
    const { code, stdout, stderr } = await home.run(['scan', verb, ...rest]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `portolan: "${verb}" is no command of scan (a host of that name: --targets ${verb})\n  try: portolan ${hint}\n`,
    });
  });

  it.each([['nope'], ['latest'], ['20260101-000000-abcdef']])('workspace show %s', async (id) => {
    const { code, stderr } = await home.run(['workspace', 'show', id]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `portolan: no scan "${id}"\n  try: portolan workspace list\n`,
    });
  });

  it('names the line of the scope', async () => {
    // The variable that keeps tests to this machine wins over a file.
    const env = { SERVICE_SCANNER__SCOPE__ALLOW: '' };
    const scan = (file: string) => home.run(['scan', '127.0.7.10', '--config', home.file(file)], { env });
    expect((await scan('scope.yaml')).stderr).toBe(
      'portolan: 127.0.7.10 is not in scanner.scope.allow (scope.yaml:3)\n  try: add 127.0.7.10/32 there\n',
    );
    expect((await scan('denied.yaml')).stderr).toBe(
      'portolan: 127.0.7.10 is in scanner.scope.deny (denied.yaml:3)\n  try: a list without it there\n',
    );
  });

  it('is JSON with --format json', async () => {
    const { stderr } = await home.run(['scan', '127.0.7.10:22', '--format', 'json']);
    expect(JSON.parse(stderr).error).toMatchObject({
      message: 'target 127.0.7.10:22 has a port',
      details: { try: 'portolan scan 127.0.7.10 -p 22' },
    });
  });

  it('of a connection or a token', async () => {
    const { code, stderr } = await home.run(['scan', '127.0.0.1', '--server', 'http://127.0.0.1:1024']);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr:
        'portolan: no connection to http://127.0.0.1:1024: refused\n  try: portolan server status, or the same without --server\n',
    });
  });
});

describe.concurrent('problems of files stand at their lines', { timeout: 300_000 }, () => {
  it('of a graph, in the order of its lines', async () => {
    const { code, stdout } = await home.start(['dag', 'validate', 'bad.yaml'], { cwd: home.path });
    expect({ code, stdout: stdout.split('\n') }).toEqual({
      code: 1,
      stdout: [
        'bad.yaml:3:62: error: node "z", depends_on: depends on "y", which is not a node of this graph',
        '  3 |   - {instance_id: z, module_type: json_reporter, depends_on: [y]}',
        '    |                                                              ^',
        'bad.yaml:5:18: error: node "a", module_type: "icmp_discovry" is not a registered module',
        '  5 |     module_type: icmp_discovry',
        '    |                  ^^^^^^^^^^^^^ did you mean "icmp_discovery"?',
        '2 errors',
        '',
      ],
    });
  });

  it('of a configuration, with its unknown keys', async () => {
    const file = home.file('badconf.yaml');
    for (const words of [
      ['config', 'validate', file],
      ['scan', '127.0.0.1', '--config', file],
    ]) {
      const { code, stderr } = await home.run(words);
      expect({ code, stderr: stderr.split('\n') }).toEqual({
        code: 3,
        stderr: [
          `${file}:2:12: error: server.workers: must be a whole number, not "many"`,
          '  2 |   workers: many',
          '    |            ^^^^',
          `${file}:5:3: warning: unknown key scanner.timout`,
          '  5 |   timout: 3s',
          '    |   ^^^^^^ did you mean scanner.timeout?',
          '1 error, 1 warning',
          '',
        ],
      });
    }
  });
});

describe.concurrent('help', { timeout: 300_000 }, () => {
  it.each([
    ['-h', 40],
    ['scan -h', 40],
    ['--help', 80],
    ['scan --help', 110],
  ])('portolan %s', async (words, lines) => {
    const { code, stdout, stderr } = await home.run(words.split(' '));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const all = stdout.trimEnd().split('\n');
    expect(all.length).toBeLessThanOrEqual(lines);
    expect(all.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain('portolan help nmap');
  });

  it('--help says more than -h, below it', async () => {
    for (const command of [[], ['scan']]) {
      const [short, long] = await Promise.all(['-h', '--help'].map((flag) => home.run([...command, flag])));
      expect(long?.stdout.startsWith(short?.stdout ?? '?')).toBe(true);
      expect(long?.stdout.length).toBeGreaterThan(short?.stdout.length ?? 0);
    }
  });

  it('help of a command is its --help', async () => {
    const [asked, flag] = await Promise.all([home.run(['help', 'doctor']), home.run(['doctor', '--help'])]);
    expect(asked.stdout).toBe(flag.stdout);
  });
});

describe('-v of a scan', { timeout: 300_000 }, () => {
  const args = ['scan', '127.0.0.1', '-p', '1', '--no-fingerprint', '--no-workspace', '--format', 'csv'];

  it('says what happens, and no log', async () => {
    const { stderr } = await home.run([...args, '-v']);
    expect(stderr).toMatch(/^ +0\.\d\d s {2}scan \d{8}-\d{6}-\w+: 1 target, profile standard, ports 1$/m);
    expect(stderr).toMatch(/^ +\d+\.\d\d s {2}127\.0\.0\.1 up: [\w-]+, \d+\.\d ms$/m);
    expect(stderr).toMatch(/^ +\d+\.\d\d s {2}\w+ done: 1 closed$/m);
    expect(stderr).toMatch(/ s {2}sent \d+ packets?, (?:no retry|\d+ retr)/);
    expect(stderr).not.toMatch(/debug|level=|\d{4}-\d\d-\d\dT/);
  });

  it('-vv says more', async () => {
    const slow = [...args.map((word) => (word === '1' ? '1-200' : word)), '--rate', '100'];
    expect((await home.run([...slow, '-vv'])).stderr).toMatch(/ s {2}\w+ started/);
  });
});

describe('shells', { timeout: 300_000 }, () => {
  it('are given profiles, graphs and scans', async () => {
    await home.run(['scan', '127.0.0.1', '-p', '1', '--no-fingerprint']);
    const values = async (kind: string) =>
      (await home.run(['completion', 'bash', '--values', kind])).stdout.trim().split('\n');
    expect(await values('profiles')).toEqual(expect.arrayContaining(['quick', 'standard', 'deep']));
    expect(await values('graphs')).toContain('port-scan');
    expect(await values('scans')).toEqual(
      expect.arrayContaining(['latest', expect.stringMatching(/^\d{8}-\d{6}-\w+$/)]),
    );
  });
});
