import { type ChildProcess, spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, launcher } from './command.ts';
import { Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
let ssh = 0;
let server: StartedServer;

/** `server start` until it says where it serves. */
class StartedServer {
  readonly child: ChildProcess;
  output = '';

  constructor(args: string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [launcher, 'server', 'start', ...args], { env });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (let tries = 0; tries < 1200; tries++) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.child.exitCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the server did not say ${pattern}; it said:\n${this.output}`);
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const ended = new Promise<number | null>((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    return ended;
  }
}

async function waitForServer(of: Home): Promise<void> {
  await expect.poll(async () => (await of.run(['server', 'status'])).code).toBe(0);
}

beforeAll(async () => {
  ssh = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  server = new StartedServer(['--bind', '127.0.0.1:0', '--workers', '1'], {
    ...home.env,
    SERVICE_SERVER__API__AUTH: 'true',
  });
  await server.until(/http:\/\/127\.0\.0\.1:\d+/);
});
afterAll(async () => {
  await server.stop('SIGKILL');
  listeners.close();
  home.remove();
});

async function newToken(scopes: string): Promise<{ token: string; id: string; secret: string }> {
  const { stdout } = await home.run([
    'server',
    'token',
    'create',
    '--name',
    't',
    '--scopes',
    scopes,
    '--expiry',
    '1h',
  ]);
  const token = stdout.trim();
  expect(token).toMatch(/^svc_[a-z0-9]+_[A-Za-z0-9_-]{43}$/);
  const [, id = '', secret = ''] = /^svc_([a-z0-9]+)_(.+)$/.exec(token) ?? [];
  return { token, id, secret };
}

describe('tokens', () => {
  it('are made, listed, rotated, checked and revoked', async () => {
    const { token, id, secret } = await newToken('scan:read,scan:write');
    const list = JSON.parse((await home.run(['server', 'token', 'list', '--format', 'json'])).stdout);
    expect(list.tokens).toContainEqual(expect.objectContaining({ id, name: 't', status: 'active' }));
    expect(JSON.stringify(list)).not.toContain(secret);
    expect((await home.run(['server', 'token', 'verify'], { input: `${token}\n` })).code).toBe(0);
    const rotated = (await home.run(['server', 'token', 'rotate', id])).stdout.trim();
    expect((await home.run(['server', 'token', 'verify'], { input: token })).code).toBe(5);
    expect(
      (await home.run(['server', 'token', 'verify'], { env: { SERVICE_API_TOKEN: rotated } })).code,
    ).toBe(0);
    expect((await home.run(['server', 'token', 'revoke', id])).code).toBe(0);
    expect((await home.run(['server', 'token', 'verify'], { input: rotated })).code).toBe(5);
  });
});

describe('a workspace that a server holds', () => {
  it('refuses a second server, naming the first (exit 3)', async () => {
    const ended = await home.run(['server', 'start', '--bind', '127.0.0.1:0']);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/in use.*process \d+/);
  });

  it('is scanned through the API, with a token', async () => {
    const { token } = await newToken('scan:read,scan:write');
    const args = ['scan', '127.0.0.1', '--ports', String(ssh), '--timeout', '1s', '--format', 'json'];
    const ended = await home.run(args, { env: { SERVICE_API_TOKEN: token } });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('submitted to'),
    });
    expect(JSON.parse(ended.stdout).results[0].ports[0]).toMatchObject({ port: ssh, state: 'open' });
    const text = await home.run(args.slice(0, -2), { env: { SERVICE_API_TOKEN: token } });
    expect(text.stdout).toMatch(new RegExp(`^${ssh}/tcp +open +ssh`, 'm'));
    const queued = await home.run([...args.slice(0, -2), '--no-wait'], { env: { SERVICE_API_TOKEN: token } });
    expect(queued.stdout).toMatch(/^\d{8}-\d{6}-[0-9a-f]{6}\n$/);
    expect(queued.code).toBe(0);
  });

  it('cancels its scan on Ctrl-C and keeps what was found (exit 7)', async () => {
    const { token } = await newToken('scan:read,scan:write');
    const args = [
      'scan',
      '127.64.0.0/20',
      '127.0.0.1',
      '--no-discover',
      '--ports',
      String(ssh),
      '--rate',
      '100',
    ];
    const ended = await home.start([...args, '--format', 'json'], {
      env: { SERVICE_API_TOKEN: token },
      started: (child) => void child.stderr?.once('data', () => setTimeout(() => child.kill('SIGINT'), 1500)),
    });
    expect(ended.code).toBe(7);
    expect(ended.stderr).toContain('canceled');
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'failed', partial: true });
  });

  it('tells a missing token, a missing scope and a bad request apart', async () => {
    const args = ['scan', '127.0.0.1', '--ports', String(ssh)];
    expect((await home.run(args)).code).toBe(5);
    expect((await home.run([...args, '--api-token', 'svc_nope'])).code).toBe(5);
    const { token } = await newToken('scan:read');
    expect((await home.run([...args, '--api-token', token])).code).toBe(5);
    const writer = (await newToken('scan:read,scan:write')).token;
    const bad = await home.run(['scan', '10.0.0.300', '--api-token', writer]);
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('10.0.0.300');
  });

  it('is rid of old scans by its server, with a token that may', async () => {
    const gc = async (scopes: string, ...args: string[]) =>
      home.run(['workspace', 'gc', '--format', 'json', ...args], {
        env: { SERVICE_API_TOKEN: (await newToken(scopes)).token },
      });
    expect((await gc('scan:read', '--keep-last', '0')).code).toBe(5);
    const dry = await gc('workspace:write', '--keep-last', '0', '--dry-run');
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dry_run: true,
      policy: { older_than: null, keep_last: 0 },
    });
  });

  it('says that it runs to who has no token', async () => {
    const { code, stdout, stderr } = await home.run(['server', 'status', '--api-token', 'svc_none']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^running {2}http.*, pid \d+\n$/),
    });
    expect(stderr).toContain('SERVICE_API_TOKEN');
    const json = await home.run(['server', 'status', '--api-token', 'svc_none', '--format', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ running: true, pid: server.child.pid });
  });

  it('shows its state', async () => {
    const { token } = await newToken('scan:read');
    const env = { SERVICE_API_TOKEN: token };
    const text = await home.run(['server', 'status'], { env });
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 0, stderr: '' });
    // Without the right to raw sockets health is degraded, and says so.
    expect(text.stdout).toMatch(
      /^(?:healthy|degraded) +http\S+, version \S+, up .*, pid \d+\nworkers +\d of 1 busy; .*\nstorage +/,
    );
    const json = JSON.parse((await home.run(['server', 'status', '--format', 'json'], { env })).stdout);
    expect(json).toMatchObject({ running: true, pid: server.child.pid, workers: { total: 1 } });
  });
});

describe('server start', () => {
  it('names a port that is taken and the way out', async () => {
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const other = new Home();
    const ended = await other.run(['server', 'start', '--bind', `127.0.0.1:${port}`]);
    taken.close();
    other.remove();
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain(String(port));
    expect(ended.stderr).toContain('--bind');
  });

  it.each([
    { auth: 'false', variable: '' },
    { auth: 'true', variable: 'SERVICE_API_TOKEN=' },
  ])(
    'scans this machine first, ends with the next click and command, and stops cleanly (tokens: $auth)',
    async ({ auth, variable }) => {
      const other = new Home();
      const env = { ...other.env, SERVICE_SERVER__API__AUTH: auth };
      const first = new StartedServer(['--bind', '127.0.0.1:0', '--first-scan'], env);
      try {
        await first.until(/scan 192\.168\.1\.0\/24 --vuln\n/);
        expect(first.output).toMatch(/^Web UI {3}http:\/\/127\.0\.0\.1:\d+\/ui\/\n/m);
        expect(first.output).toMatch(/^This scan {1,3}http:\S+\/ui\/scans\/\d{8}-\d{6}-\w{6}\n/m);
        expect(first.output).toMatch(/^\d+ hosts? up|0 of \d+ address/m);
        const [page = '', command = ''] = first.output.trimEnd().split('\n').slice(-2);
        expect(page).toMatch(/^ {2}http:\/\/127\.0\.0\.1:\d+\/ui\/scans\/new$/);
        const [, token = ''] = /^ {2}(.*)bin\/portolan scan 192\.168\.1\.0\/24 --vuln$/.exec(command) ?? [];
        expect(token.startsWith(variable)).toBe(true);
        expect(first.output.includes('svc_')).toBe(variable !== '');
        const { origin, port } = new URL(page.trim());
        const words = ['scan', '127.0.0.1', '-p', port, '--format', 'json', '--server', origin];
        const secret = { SERVICE_API_TOKEN: token.split('=')[1]?.trim() ?? '' };
        const { results } = JSON.parse((await other.run(words, { env: secret })).stdout) as {
          results: { ports: { service: object }[] }[];
        };
        expect(results[0]?.ports[0]?.service).toMatchObject({
          product: 'Portolan',
          version: auth === 'true' ? null : expect.stringMatching(/^\d+\.\d+/),
        });
        expect(await first.stop('SIGINT')).toBe(0);
        expect((await other.run(['server', 'status'])).code).toBe(4);
      } finally {
        await first.stop('SIGKILL');
        other.remove();
      }
    },
  );
});

describe('server stop', () => {
  it('ends the server and waits for it', async () => {
    const other = new Home();
    const victim = new StartedServer(['--bind', '127.0.0.1:0'], other.env);
    await waitForServer(other);
    const ended = await other.run(['server', 'stop']);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain(`pid ${victim.child.pid}`);
    const { child } = victim;
    await expect.poll(() => [child.exitCode, child.signalCode]).toEqual([0, null]);
    other.remove();
  });
});
