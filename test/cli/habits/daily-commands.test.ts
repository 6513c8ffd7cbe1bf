import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { InProcessServer } from '../in-process-server.ts';
import { freePort, Listeners } from '../listeners.ts';
import { runInTerminal } from '../terminal.ts';

const home = new Home();
const listeners = new Listeners();
const server = new InProcessServer({ workers: 1 });
const here = () => ['--workspace-dir', server.workspace];
let open = 0;
let closed = 0;
let scanId = '';
let jobId = '';

beforeAll(async () => {
  open = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  closed = await freePort();
  await server.start();
  const ports = `${open},${closed}`;
  scanId = await server.submit({ targets: ['127.0.0.1'], ports, vuln: true, options: { discover: false } });
  await server.waitForEnd(scanId);
  const job = [
    'job',
    'submit',
    '127.0.0.1',
    '--ports',
    '9',
    '--schedule',
    '@yearly',
    '--name',
    'Berlin office',
  ];
  const { stdout } = await home.run([...job, '--format', 'json', ...here()]);
  jobId = (JSON.parse(stdout) as { job_id: string }).job_id;
}, 240_000);
afterAll(async () => {
  await server.dispose();
  listeners.close();
  home.remove();
});

const run = (...args: string[]) => home.run([...args, ...here()]);

describe('explain', () => {
  it('without an id takes the newest scan that tried the port, in a short block', async () => {
    const { code, stdout } = await run('explain', `127.0.0.1:${open}`);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      new RegExp(
        `^127\\.0\\.0\\.1:${open} {2}open: syn-ack; ssh, OpenSSH 9\\.2p1 \\(0\\.\\d\\d\\) {2}\\(${scanId}, .*\\)$`,
      ),
    );
    expect(lines.slice(1, 3)).toEqual([
      '  response  SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2',
      expect.stringMatching(/^ {2}rule {6}ssh\.openssh: version 9\.2p1, revision /),
    ]);
    expect(stdout).toMatch(/^ {2}findings {2}.*\d+ possible/m);
    expect(lines.length).toBeLessThan(12);
    const all = await run('explain', `127.0.0.1:${open}`, '-v');
    expect(all.stdout.split('\n').length).toBeGreaterThan(lines.length);
    expect(all.stdout).toContain('CVSS:3');
  });

  it('says why a port is closed, was not tried, or is no target', async () => {
    const ports = [closed, closed === 9 ? 10 : 9].map((port) => run('explain', `127.0.0.1:${port}`));
    const [shut, untried] = await Promise.all(ports);
    expect(shut).toMatchObject({ code: 0, stdout: expect.stringMatching(/ closed {2}.*\n {2}why {2}RST /) });
    expect(untried).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ not tried: .*\n {2}try {2}portolan scan /),
    });
    const foreign = await run('explain', '127.0.0.9');
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('127.0.0.9')]);
  });
});

describe('tables', () => {
  const commands = [
    ['workspace', 'list'],
    ['workspace', 'stats'],
    ['workspace', 'info'],
    ['workspace', 'show', 'latest'],
    ['server', 'token', 'list'],
    ['job', 'list'],
    ['schedule', 'list'],
    ['module', 'list'],
    ['profile', 'list'],
    ['dag', 'list'],
    ['doctor', '-v'],
  ];

  it.each(commands)('%s %s fit into 60 columns and are whole in a pipe', async (...words) => {
    const [narrow, piped] = await Promise.all([
      runInTerminal(home, [...words, '--no-color', ...here()], { columns: 60 }),
      run(...words),
    ]);
    expect([narrow.code, piped.code]).toEqual([0, 0]);
    // What cannot be broken, such as a path or a command to copy, is whole on a line of its own.
    const tooLong = narrow.lines.filter((line) => line.length > 60 && / \S+ \S/.test(line.trim()));
    expect(tooLong.filter((line) => !/^ *(?:try|path)\b|\/tmp\//.test(line))).toEqual([]);
    expect(piped.stdout).not.toMatch(/\x1b/);
  });

  it('of jobs have relative times and the beginning of an id finds one', async () => {
    const { stdout } = await run('job', 'list');
    expect(stdout).toMatch(/^ID +STATUS +SCHEDULE +NEXT +LAST +RUNS +NAME\n/);
    expect(stdout).toMatch(new RegExp(`^${jobId} +pending +@yearly +.* {2}– +0 {2}Berlin office$`, 'm'));
    const shown = await run('job', 'show', jobId.slice('job-'.length, -2));
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(jobId) });
    expect((await run('job', 'show', 'job-zzzz')).code).toBe(1);
  });
});

describe('server status', () => {
  it('is the state, the workers and the storage', async () => {
    const { code, stdout } = await run('server', 'status');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^(?:healthy|degraded) +http:\S+, version \S+, up .*, pid \d+\nworkers +0 of 1 busy; 0 scans wait, 0 failed\nstorage +1 scan, at most 1.0 MB; .*B free\n/,
    );
  });
});

describe('doctor', () => {
  it('has what is well in one line, and a line for each check with -v', async () => {
    const [short, all] = await Promise.all([run('doctor'), run('doctor', '-v')]);
    expect(short.stdout).toMatch(/^ok {4}\d+ (?:more|checks) +\S.* \(-v\)\n$/m);
    expect(all.stdout).toMatch(/^ok {4}clock +/m);
  });
});

describe('-v', () => {
  const found = () => [
    expect.stringMatching(/^ *\d+\.\d\d s {2}scan \d{8}-\S+: 1 target, profile \w+/),
    expect.stringMatching(/^ *\d+\.\d\d s {2}127\.0\.0\.1 up: /),
    expect.stringMatching(new RegExp(`^ *\\d+\\.\\d\\d s {2}127\\.0\\.0\\.1:${open} open: syn-ack$`)),
    expect.stringMatching(new RegExp(`^ *\\d+\\.\\d\\d s {2}127\\.0\\.0\\.1:${open} ssh, OpenSSH 9\\.2p1 `)),
  ];

  it('says what a scan on a server finds', async () => {
    const { code, stderr } = await run(
      'scan',
      '127.0.0.1',
      '-p',
      `${open},${closed}`,
      '--server',
      server.url,
      '-v',
    );
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual(expect.arrayContaining(found()));
    expect(stderr).toMatch(/^ *\d+\.\d\d s {2}syn done: 1 open, 1 closed$/m);
  });

  it('says what a watched scan has found', async () => {
    const { code, stderr } = await run('scan', 'watch', 'latest', '-v');
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual(expect.arrayContaining(found()));
  });
});
