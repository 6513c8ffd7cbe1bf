import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { freePort, Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
const server = new InProcessServer({ workers: 2 });
const unknown = '20260101-000000-abcdef';
let ssh = 0;
let closed = 0;

beforeAll(async () => {
  ssh = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  closed = await freePort();
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  listeners.close();
  home.remove();
});

const houseRules = `
- id: house.server
  service: house
  source: banner.raw
  pattern: '^HOUSE-MADE (?P<version>\\d+\\.\\d+)'
  product: House Server
  vendor: house
  version: '{version}'
  certainty: 0.9
  examples:
    - { text: HOUSE-MADE 4.2 ready, version: '4.2' }
`;

/** On the server that holds the workspace, which is found by its lock. */
function run(...args: string[]) {
  return home.run([...args, '--workspace-dir', server.workspace]);
}

const quick = { targets: ['127.0.0.1'], options: { discover: false, timeout: '1s' } };

/** A scan that takes minutes. */
function slowScan(): Promise<string> {
  const options = { discover: false, timeout: '1s' };
  return server.submit({ targets: ['127.64.0.0/20'], ports: String(closed), rate: 50, options });
}

async function untilRunning(id: string): Promise<void> {
  for (let tries = 0; (await server.detail(id)).status !== 'running'; tries++) {
    if (tries > 100) throw new Error('the scan did not begin');
    await sleep(50);
  }
}

describe('scan status, cancel, pause, resume', () => {
  it('steer a scan of the server that holds the workspace', async () => {
    const id = await slowScan();
    await untilRunning(id);
    const paused = await run('scan', 'pause', id);
    expect({ code: paused.code, stdout: paused.stdout, stderr: paused.stderr }).toEqual({
      code: 0,
      stdout: `${id} paused\n`,
      stderr: '',
    });
    expect((await run('scan', 'status', id)).stdout).toMatch(/^progress +.*, paused$/m);
    const resumed = await run('scan', 'resume', id, '--format', 'json');
    expect(JSON.parse(resumed.stdout)).toMatchObject({ scan_id: id, progress: { paused: false } });
    const canceled = await home.run(['scan', 'cancel', id, '--server', server.url]);
    expect([canceled.code, canceled.stdout]).toEqual([0, `${id} canceled\n`]);
    const status = await home.run(['scan', 'status', id, '--format', 'json'], {
      env: { SERVICE_SERVER: server.url },
    });
    expect(JSON.parse(status.stdout)).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
  });

  it('tell what is wrong by their exit codes', async () => {
    const codes = await Promise.all(
      [
        home.run(['scan', 'status', unknown]),
        home.run(['scan', 'cancel', unknown, '--server', 'http://127.0.0.1:9']),
        run('scan', 'status', unknown),
        run('scan', 'pause', '../../etc/passwd'),
        run('scan', 'status'),
        run('scan', 'status', unknown, '--format', 'csv'),
      ].map(async (ended) => (await ended).code),
    );
    expect(codes).toEqual([4, 4, 1, 1, 2, 2]);
    const foreign = await run('scan', 'status', unknown, '--ports', '22');
    expect([foreign.code, foreign.stderr]).toEqual([
      2,
      'portolan: --ports is a flag of scan, not of scan status\n',
    ]);
  });

  it('leave targets of their names to --targets', async () => {
    const planned = await home.run(['scan', '--targets', 'status', '--dry-run', '--format', 'json']);
    expect(JSON.parse(planned.stdout)).toMatchObject({ targets: ['status'], hostnames: 1 });
  });
});

describe('scan watch', () => {
  it('follows a scan to its end and has its exit code', async () => {
    const id = await server.submit({ ...quick, ports: String(ssh) });
    const watched = await run('scan', 'watch', id, '--format', 'json');
    expect(watched.code).toBe(0);
    expect(JSON.parse(watched.stdout)).toMatchObject({ scan_id: id, status: 'completed' });
    const failed = await server.submit({ ...quick, targets: ['nowhere.invalid'] });
    const ended = await run('scan', 'watch', failed);
    expect(ended.code).toBe(7);
    expect(ended.stderr).toMatch(/^portolan: the scan failed \(no_targets\)/m);
    // What alerts count: a name that is not known is no failure of the service.
    const { body } = await server.request('/api/v1/health');
    expect(body).toMatchObject({ queue: { failed: 0 } });
  });

  it('is not begun where every target is excluded', async () => {
    const none = await run('scan', '127.0.0.1', '--exclude', '127.0.0.0/8');
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing is left to scan: exclude has every target'),
    });
  });

  it('ends with Ctrl-C, and the scan goes on', async () => {
    const id = await slowScan();
    await untilRunning(id);
    const args = ['scan', 'watch', id, '--progress', '--server', server.url];
    const ended = await home.start(args, {
      started: (child) => void child.stderr?.once('data', () => child.kill('SIGINT')),
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`the scan goes on: portolan scan watch ${id}\n`);
    expect((await server.detail(id)).status).toBe('running');
    await run('scan', 'cancel', id);
  });
});

describe('scan --dry-run --server', () => {
  it('shows the same plan as without a server', async () => {
    const args = [
      'scan',
      '127.0.0.1',
      '--ports',
      '22,80',
      '--discover-profile',
      'tcp',
      '--rate',
      '1000',
      '--dry-run',
    ];
    const [there, here] = [
      await home.run([...args, '--format', 'json', '--server', server.url]),
      await home.run([...args, '--format', 'json']),
    ];
    expect([there.code, there.stderr]).toEqual([0, '']);
    expect(JSON.parse(there.stdout)).toEqual(JSON.parse(here.stdout));
    const text = await home.run([...args, '--server', server.url]);
    expect(text.stdout).toMatch(/^profile +standard: 2 tcp ports, services/m);
    expect(text.stdout).toContain('Nothing was sent.');
    expect((await home.run([...args, '--exclude-ports', '0', '--server', server.url])).code).toBe(2);
  });

  it('asks a server that runs on this workspace too, since that will run the scan', async () => {
    const plan = await home.run(['scan', '127.0.0.1', '--dry-run', '--workspace-dir', server.workspace], {
      env: { SERVICE_RATE: '77' },
    });
    expect(plan.stdout).toContain(`server    ${server.url}\nrate      auto: as responses come\n`);
  });
});

describe('scan diff', () => {
  it('shows what changed between two scans of a server, and the same without it', async () => {
    const before = await server.submit({ ...quick, name: 'pair', ports: String(closed) });
    const after = await server.submit({ ...quick, name: 'pair', ports: `${closed},${ssh}` });
    for (const id of [before, after]) await server.waitForEnd(id);
    const json = await run('scan', 'diff', after, before, '--format', 'json');
    expect(json.code).toBe(0);
    // The port was not asked for the first time.
    expect(JSON.parse(json.stdout)).toMatchObject({
      scan_id: after,
      against: before,
      ports: { added: [] },
      not_comparable: [{ host: '127.0.0.1', port: ssh, reason: 'port_not_planned', missing_in: before }],
    });
    const text = await run('scan', 'diff', after, before);
    expect(text.stdout.replaceAll(/ \([^)]+\)/g, '')).toBe(
      `${after} since ${before}\n? 127.0.0.1:${ssh}: not tried before\nno change, 1 not comparable\n`,
    );
    // Without a baseline the scan of the same name before it is one.
    const others = [[unknown], ['nonsense'], []].map((other) => run('scan', 'diff', after, ...other));
    expect((await Promise.all(others)).map(({ code }) => code)).toEqual([1, 1, 0]);
  });

  it('works on the workspace when no server holds it, and after a scan', async () => {
    const port = await freePort();
    const scan = (...more: string[]) =>
      home.run([
        'scan',
        '127.0.0.1',
        '--no-discover',
        '--ports',
        `${ssh},${port}`,
        '--timeout',
        '1s',
        ...more,
      ]);
    const first = JSON.parse((await scan('--format', 'json')).stdout).scan_id;
    const file = home.file('result.json');
    const [same, toFile, piped] = await Promise.all([
      scan('--compare-with', first),
      scan('--compare-with', first, '-o', file),
      scan('--compare-with', first, '--format', 'json'),
    ]);
    expect(same.stdout).toMatch(
      new RegExp(`^${ssh}/tcp.*(\\n.*)+\\n.* since ${first} .*\nno change\n$`, 'm'),
    );
    expect([toFile.code, JSON.parse(toFile.stdout).against]).toEqual([0, first]);
    expect(JSON.parse(piped.stdout).status).toBe('completed');
    expect(piped.stderr).toContain(`since ${first}`);
    const second = JSON.parse(piped.stdout).scan_id;
    const diff = await home.run(['scan', 'diff', second, first, '--format', 'json']);
    expect(JSON.parse(diff.stdout)).toMatchObject({ hosts: { added: [], removed: [] }, not_comparable: [] });
    const bad = [[unknown], [first, '--no-workspace'], [first, '--no-wait']];
    const refused = await Promise.all(bad.map((args) => scan('--compare-with', ...args)));
    expect(refused.map(({ code }) => code)).toEqual([1, 2, 2]);
  });

  it('is printed after a scan on a server', async () => {
    const first = await server.submit({ ...quick, ports: String(ssh) });
    await server.waitForEnd(first);
    const args = [
      'scan',
      '127.0.0.1',
      '--no-discover',
      '--ports',
      String(ssh),
      '--timeout',
      '1s',
      '--compare-with',
    ];
    const ended = await run(...args, first);
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(new RegExp(`since ${first} .*\nno change\n$`));
    expect((await run(...args, unknown)).code).toBe(1);
  });
});

describe('flags of scan', { concurrent: true }, () => {
  const plan = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(
      ['scan', '127.0.0.1', '--dry-run', '--format', 'json', ...args],
      {},
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const nodes = JSON.parse(stdout).nodes as {
      module_type: string;
      options: object;
      skipped: string | null;
    }[];
    return (type: string) => nodes.find(({ module_type }) => module_type === type);
  };

  it('reach the modules', async () => {
    const flags = '--exclude-ports 80 --discovery-timeout 7s --discovery-retry 4 --max-protocols 2';
    const tuned = await plan(...flags.split(' '), '--ports', '22,80', '--scan-type', 'connect');
    expect(tuned('connect_scanner')?.options).toMatchObject({ ports: '22,80', exclude_ports: '80' });
    expect(tuned('icmp_discovery')?.options).toMatchObject({ timeout: '7s', retry: 4 });
    expect(tuned('tcp_probe_discovery')?.options).toMatchObject({ ports: '22,25,443' });
    expect(tuned('fingerprint_coordinator')?.options).toMatchObject({ max_protocols: 2 });
    const plain = await plan('--no-fingerprint', '--discover-profile', 'fast');
    expect(plain('fingerprint_coordinator')?.skipped).toBe('only ports were requested');
    expect(plain('banner_grabber')?.skipped).toBe('only ports were requested');
    expect(plain('ssh_parser')?.skipped).toBe('no running node provides banners');
    expect(plain('tcp_probe_discovery')).toBeUndefined();
  });

  it('leave an excluded port alone, in a real scan', async () => {
    let connections = 0;
    const own = '127.86.0.1';
    const port = await listeners.serve(() => connections++, own);
    const args = ['scan', `127.0.0.1,${own}`, '--ports', `${port},${ssh}`, '--exclude-ports', String(port)];
    const { stdout } = await home.run([...args, '--timeout', '1s', '--format', 'csv']);
    expect(stdout).toContain(`,${ssh},`);
    expect([stdout.includes(`,${port},`), connections]).toEqual([false, 0]);
  });

  it('give a file of signatures to the fingerprinting', async () => {
    const port = await listeners.greet('HOUSE-MADE 4.2 ready\r\n');
    const rules = home.file('rules.yaml');
    writeFileSync(rules, houseRules);
    const args = [
      'scan',
      '127.0.0.1',
      '--no-discover',
      '--ports',
      String(port),
      '--timeout',
      '1s',
      '--format',
      'json',
    ];
    const { code, stdout, stderr } = await home.run([...args, '--fingerprint-rules', rules]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(JSON.parse(stdout).results[0].ports[0].service).toMatchObject({
      product: 'House Server',
      version: '4.2',
    });
    expect((await home.run([...args, '--fingerprint-rules', '/none/such.yaml'])).code).toBe(2);
    const remote = await home.run([...args, '--fingerprint-rules', rules, '--server', server.url]);
    expect(remote.code).toBe(2);
  });

  it.each([
    ['--plugin that does not exist', ['--plugin', 'x.wasm'], 3],
    ['--schedule without a server', ['--schedule', '0 2 * * *'], 4],
    ['--notify of an unknown kind', ['--notify', 'teams://x'], 2],
    ['--pool without a server', ['--pool', 'far'], 2],
    ['--compliance of an unknown kind', ['--compliance', 'cis,sox'], 2],
    ['--min-severity of an unknown kind', ['--min-severity', 'scary'], 2],
    ['--discover-profile without discovery', ['--discover-profile', 'fast', '--no-discover'], 2],
    ['--fail-fast and its opposite', ['--fail-fast', '--continue-on-error'], 2],
  ])('%s: refused, never ignored', async (_what, args, code) => {
    const ended = await home.run(['scan', '127.0.0.1', ...args, '--no-workspace']);
    expect({ code: ended.code, stdout: ended.stdout, stderr: ended.stderr }).toEqual({
      code,
      stdout: '',
      stderr: expect.stringMatching(/^portolan: \S/),
    });
  });
});
