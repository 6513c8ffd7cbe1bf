import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../installed.ts';
import { Home, launcher } from './command.ts';

// Many starts of the whole program.

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(async () => {
  await home.run(['server', 'stop', '--force', '--timeout', '5s']);
  home.remove();
});

const workspace = () => join(home.path, '.local/share/portolan');
const pidOf = (file: string) => Number(readFileSync(file, 'utf8'));

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ends(pid: number): Promise<void> {
  for (let tries = 0; runs(pid) && tries < 2400; tries++) await sleep(25);
  expect(runs(pid)).toBe(false);
}

const daemon = (...more: string[]) => home.start(['server', 'start', '-d', '--bind', '127.0.0.1:0', ...more]);

describe('server in the background', () => {
  it('serves when the command returns, restarts as it was started, and stops', async () => {
    const pidFile = home.file('portolan.pid');
    writeFileSync(pidFile, '4194304\n');
    const started = await daemon('--pid-file', pidFile, '--workers', '2');
    expect([started.code, started.stderr]).toEqual([
      0,
      expect.stringMatching(/in the background \(pid \d+\)/),
    ]);
    const url = started.stdout.trim();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const pid = pidOf(pidFile);
    expect([runs(pid), statSync(pidFile).mode & 0o777]).toEqual([true, 0o600]);
    expect(readFileSync(join(workspace(), 'logs/portolan.log'), 'utf8')).toContain('portolan serves');

    const again = await daemon('--pid-file', home.file('other.pid'));
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining(`process ${pid}`)]);
    const taken = await home.run(['server', 'start', '--pid-file', pidFile, '--bind', '127.0.0.1:0']);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('belongs to a running server')]);

    const restarted = await home.start(['server', 'restart']);
    expect([restarted.code, restarted.stderr]).toEqual([0, expect.stringContaining('in the background')]);
    const next = pidOf(pidFile);
    expect(next).not.toBe(pid);
    const health = await (await fetch(`${restarted.stdout.trim()}/api/v1/health`)).json();
    expect((health as { workers: { total: number } }).workers.total).toBe(2);

    expect((await home.run(['server', 'stop'])).code).toBe(0);
    await ends(next);
    expect(existsSync(pidFile)).toBe(false);
  });

  it('that cannot start tells why and ends with the same code', async () => {
    const config = home.file('bad.yaml');
    writeFileSync(config, 'server:\n  workers: many\n');
    const bad = await home.start(['--config', config, 'server', 'start', '--daemon']);
    expect([bad.code, bad.stderr]).toEqual([3, expect.stringContaining('bad.yaml:2')]);
    const place = home.file('a-file');
    writeFileSync(place, '');
    const misplaced = await home.start(['--workspace-dir', place, 'server', 'start', '--daemon']);
    expect([misplaced.code, misplaced.stderr]).toEqual([
      3,
      expect.stringContaining('a file of that name exists'),
    ]);
  });

  it('has nothing to restart, shows no log, and overwrites no file that is no pid file', async () => {
    const none = await home.start(['server', 'restart']);
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('server start --daemon')]);
    const logs = await home.run(['server', 'logs']);
    expect([logs.code, logs.stderr]).toEqual([1, expect.stringContaining('logging.output: file')]);
    writeFileSync(home.file('notes'), 'my notes');
    const start = await daemon('--pid-file', home.file('notes'));
    expect([start.code, readFileSync(home.file('notes'), 'utf8')]).toEqual([1, 'my notes']);
    const plugin = await home.run(['server', 'start', '--plugin', 'x.so']);
    expect([plugin.code, plugin.stderr]).toEqual([3, expect.stringContaining('x.so: no such file')]);
    expect(existsSync(workspace())).toBe(false);
  });

  it('leaves the API out with --no-api', async () => {
    const { stdout } = await daemon('--no-api', '--no-ui');
    expect((await fetch(`${stdout.trim()}/health`)).status).toBe(200);
    expect((await fetch(`${stdout.trim()}/api/v1/version`)).status).toBe(404);
  });

  it('kept by a service manager is not restarted behind its back', async () => {
    const server = spawn(process.execPath, [launcher, 'server', 'start', '--bind', '127.0.0.1:0'], {
      env: { ...home.env, NOTIFY_SOCKET: home.file('nobody') },
      stdio: 'ignore',
    });
    try {
      await expect.poll(async () => (await home.run(['server', 'status'])).code).toBe(0);
      const refused = await home.start(['server', 'restart']);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('systemctl restart')]);
      expect(server.exitCode).toBeNull();
    } finally {
      server.kill('SIGKILL');
    }
  });
});

const listener = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listens', flush=True)
while True:
    print(s.recv(4096).decode().split(chr(10))[0], flush=True)
`;

it.runIf(isInstalled('python3'))('a service manager is told of start, reload and stop', async () => {
  const socket = home.file('notify');
  const manager = spawn('python3', ['-c', listener, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  manager.stdout.on('data', (part: Buffer) => {
    said += part;
  });
  const until = async (pattern: RegExp) => {
    for (let tries = 0; !pattern.test(said) && tries < 2400; tries++) await sleep(25);
    expect(said).toMatch(pattern);
  };
  await until(/^listens/);
  const server = spawn(process.execPath, [launcher, 'server', 'start', '--bind', '127.0.0.1:0'], {
    env: { ...home.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' },
    stdio: 'ignore',
  });
  try {
    await until(/READY=1\n/);
    await until(/WATCHDOG=1\n/);
    server.kill('SIGHUP');
    await until(/RELOADING=1\n(WATCHDOG=1\n)*READY=1\n/);
    server.kill('SIGTERM');
    await until(/STOPPING=1\n$/);
  } finally {
    server.kill('SIGKILL');
    manager.kill('SIGKILL');
  }
});

describe('server logs', () => {
  const lines = (...all: string[]) => `${all.join('\n')}\n`;
  const at = (minute: number, level: string, text: string) =>
    `2026-10-06T14:${String(minute).padStart(2, '0')}:00.000Z ${level.padEnd(5)} ${text}`;
  const logFile = () => join(workspace(), 'logs/portolan.log');

  beforeEach(() => {
    mkdirSync(join(workspace(), 'logs'), { recursive: true });
    writeFileSync(
      join(workspace(), 'logs/portolan-20261006T140500.000Z-001.log'),
      lines(
        at(1, 'info', 'first'),
        at(2, 'error', 'broken'),
        '    at stack (x.ts:1)',
        at(3, 'info', 'third'),
      ),
    );
    writeFileSync(
      logFile(),
      lines(
        at(6, 'warn', 'evil \u001b[2J\u202e'),
        '{"level":"info","time":"2026-10-06T14:07:00.000Z","msg":"json"}',
      ),
    );
  });

  const show = async (...args: string[]) =>
    (await home.run(['server', 'logs', ...args])).stdout.split('\n').slice(0, -1);

  it('shows rotated files too, by level, time and number', async () => {
    expect(await show()).toHaveLength(6);
    expect(await show('--tail', '3')).toEqual([
      at(3, 'info', 'third'),
      at(6, 'warn', 'evil \\x1b[2J\\u{202e}'),
      expect.stringContaining('"json"'),
    ]);
    expect(await show('--level', 'error')).toEqual([at(2, 'error', 'broken'), '    at stack (x.ts:1)']);
    expect(await show('--since', '2026-10-06T14:03:00Z', '--level', 'info')).toHaveLength(3);
    expect(await show('--since', '1h')).toEqual([]);
    expect(await show('--tail', '0')).toEqual([]);
    expect((await home.run(['server', 'logs', '--since', 'yesterday'])).code).toBe(2);
  });

  it('follows through a rotation until Ctrl-C', async () => {
    let output = '';
    const child = spawn(process.execPath, [launcher, 'server', 'logs', '-f', '--tail', '1'], {
      env: home.env,
    });
    child.stdout.on('data', (part: Buffer) => {
      output += part;
    });
    const until = async (text: string) => {
      for (let tries = 0; !output.includes(text) && tries < 2400; tries++) await sleep(25);
      expect(output).toContain(text);
    };
    await until('"json"');
    writeFileSync(logFile(), lines(at(8, 'info', 'fourth')), { flag: 'a' });
    await until('fourth');
    writeFileSync(logFile(), lines(at(9, 'info', 'last of the old')), { flag: 'a' });
    renameSync(logFile(), join(workspace(), 'logs/portolan-20261006T141000.000Z-001.log'));
    writeFileSync(logFile(), lines(at(10, 'info', 'first of the new')));
    await until('first of the new');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(
      output.split('\n').filter((line) => /fourth|last of the old|first of the new/.test(line)),
    ).toHaveLength(3);
  });
});

describe('audit log', () => {
  const env = { SERVICE_LOGGING__AUDIT__ENABLED: 'true' };
  const verify = (...args: string[]) => home.run(['audit', 'verify', ...args], { env });

  it('has one record for every token command, beside a running server, and verify finds a change', async () => {
    expect((await verify()).code).toBe(1);
    const { stdout: url } = await home.start(['server', 'start', '-d', '--bind', '127.0.0.1:0'], { env });
    const calls = Promise.all(
      Array.from({ length: 40 }, () => fetch(`${url.trim()}/api/v1/version`).then(({ status }) => status)),
    );
    const token = (...args: string[]) => home.run(['server', 'token', ...args], { env });
    const { stdout } = await token('create', '--name', 'ci', '--scopes', 'scan:read', '--expiry', '1d');
    const id = stdout.split('_')[1] as string;
    const codes = [
      (await token('create', '--name', 'ci', '--scopes', 'scan:raed')).code,
      (await token('rotate', id)).code,
      (await token('rotate', 'nobody')).code,
      (await token('revoke', id)).code,
      (await token('rotate', id)).code,
    ];
    expect([codes, new Set(await calls)]).toEqual([[2, 0, 1, 0, 1], new Set([200])]);
    await home.run(['server', 'stop'], { env });
    const file = join(workspace(), `audit/${new Date().toISOString().slice(0, 10)}.jsonl`);
    const text = readFileSync(file, 'utf8');
    const records = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const changes = records.filter(({ event }) => event === 'config_change');
    expect(
      changes.map(({ outcome, details, resource }) => [details.operation, outcome, resource.id]),
    ).toEqual([
      ['token.create', 'allowed', id],
      ['token.create', 'denied', null],
      ['token.rotate', 'allowed', id],
      ['token.rotate', 'denied', 'nobody'],
      ['token.revoke', 'allowed', id],
      ['token.rotate', 'denied', id],
    ]);
    expect(changes[0].actor).toEqual({
      type: 'user',
      id: String(process.getuid?.()),
      name: expect.any(String),
    });
    // Others may reach a port of this machine, too.
    const ours = records.filter(({ request }) => request?.path === '/api/v1/version');
    expect(ours.map(({ event }) => event)).toEqual(Array(40).fill('api_access'));
    expect(text).not.toContain(stdout.trim().split('_').slice(2).join('_'));

    const whole = await verify('--format', 'json');
    expect([whole.code, JSON.parse(whole.stdout)]).toMatchObject([
      0,
      { ok: true, records: 46, complete: true },
    ]);
    writeFileSync(file, text.replace('"status":200', '"status":201'));
    const broken = await verify();
    expect([broken.code, broken.stdout]).toEqual([
      1,
      expect.stringMatching(/jsonl:\d+: the record was changed/),
    ]);
    expect((await verify(file)).code).toBe(1);
    expect((await verify(home.file('none'))).code).toBe(1);

    truncateSync(file);
    const emptied = await verify();
    expect([emptied.code, emptied.stdout]).toEqual([
      1,
      expect.stringMatching(/the end of the chain is missing: .* record 46[^]*BROKEN: 0 records/),
    ]);
    const again = await home.start(['server', 'start', '-d', '--bind', '127.0.0.1:0'], { env });
    const health = (await (await fetch(`${again.stdout.trim()}/api/v1/health`)).json()) as {
      checks: unknown[];
    };
    await home.run(['server', 'stop'], { env });
    const check = {
      name: 'audit',
      status: 'degraded',
      message: expect.stringContaining('46 records were removed'),
    };
    expect(health.checks).toContainEqual(check);
    const after = await verify();
    expect([after.code, after.stdout]).toEqual([1, expect.stringContaining('46 records were removed')]);
  });

  it('is one of its own for each tenant, and verify reads them all', async () => {
    const own = new Home();
    const settings = {
      ...env,
      SERVICE_MULTI_TENANT__ENABLED: 'true',
      SERVICE_MULTI_TENANT__TENANTS: 'acme,globex',
    };
    const run = (...args: string[]) => own.run(args, { env: settings });
    try {
      for (const tenant of [['--tenant', 'acme'], ['--tenant', 'acme'], []]) {
        const create = [
          'server',
          'token',
          'create',
          '--name',
          'ci',
          '--scopes',
          'scan:read',
          '--expiry',
          '1d',
        ];
        expect((await run(...create, ...tenant)).code).toBe(0);
      }
      const whole = JSON.parse((await run('audit', 'verify', '--format', 'json')).stdout);
      expect(whole).toMatchObject({ ok: true, records: 1, tenants: { acme: { ok: true, records: 2 } } });
      const folder = join(own.path, '.local/share/portolan/tenants/acme/audit');
      const file = join(folder, `${new Date().toISOString().slice(0, 10)}.jsonl`);
      writeFileSync(file, readFileSync(file, 'utf8').replace('"allowed"', '"denied"'));
      const broken = await run('audit', 'verify');
      expect([broken.code, broken.stdout]).toEqual([
        1,
        expect.stringMatching(
          /^intact: 1 record in 1 file\nlast hash \w+\nacme: .*jsonl:1: the record was changed.*\nacme: BROKEN: 2 records/,
        ),
      ]);
    } finally {
      own.remove();
    }
  });
});
