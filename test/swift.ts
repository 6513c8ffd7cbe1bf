import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AwsV4Signer } from 'aws4fetch';

const run = promisify(execFile);
/** The one that Debian's packages are for. */
const python = '/usr/bin/python3';
const program = join(import.meta.dirname, 'swift-daemon.py');
const [accessKey, secretKey] = ['test:tester', 'testing'];
const storage = ['account-server', 'container-server', 'object-server'];

/** Why the tests with a real S3-compatible service cannot run here; null when they can. With CI=true they must. */
export function swiftObstacle(): string | null {
  if (hasSwift()) return null;
  const reason = 'needs OpenStack Swift: npm run setup:test';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

function hasSwift(): boolean {
  if (!existsSync(python) || !existsSync('/usr/bin/memcached')) return false;
  try {
    execFileSync(python, ['-c', 'import swift.common.middleware.s3api.s3api'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** OpenStack Swift with its S3 API on a loopback port, its data in a temporary folder. */
export interface TestSwift {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  /** Makes a bucket. */
  bucket(name: string): Promise<void>;
  /** Names of the objects of a bucket that begin so, sorted; up to a thousand. */
  names(bucket: string, prefix: string): Promise<string[]>;
  /** Ends the front door; what is stored stays. */
  stop(): Promise<void>;
  /** Opens it again, on the same port. */
  start(): Promise<void>;
  /** Ends all of it and removes its data. */
  remove(): Promise<void>;
}

export async function startSwift(): Promise<TestSwift> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-swift-'));
  const ports = await freePorts(5);
  const daemons = new Map<string, ChildProcess>();
  const serve = (name: string) =>
    daemons.set(name, spawn(python, [program, folder, 'serve', name], { stdio: 'ignore' }));
  const remove = async () => {
    for (const daemon of daemons.values()) await ended(daemon);
    await rm(folder, { recursive: true, force: true });
  };
  const [proxyPort = 0, cachePort = 0] = ports.slice(3);
  const endpoint = `http://127.0.0.1:${proxyPort}`;
  const start = async () => {
    serve('proxy-server');
    for (const port of ports.slice(0, 4)) await untilOpen(port, daemons);
  };
  const { username } = userInfo();
  const cache = ['-l', '127.0.0.1', '-p', String(cachePort), '-U', '0', '-m', '8', '-u', username];
  try {
    await mkdir(join(folder, 'data', 'disk'), { recursive: true });
    await writeSettings(folder, ports);
    await run(python, [program, folder, 'rings', ...ports.slice(0, 3).map(String)]);
    daemons.set('memcached', spawn('/usr/bin/memcached', cache, { stdio: 'ignore' }));
    for (const name of storage) serve(name);
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  const send = async (method: string, path: string): Promise<string> => {
    const keys = { accessKeyId: accessKey, secretAccessKey: secretKey };
    const place = { method, url: `${endpoint}/${path}`, region: 'us-east-1', service: 's3' };
    const { url, headers } = await new AwsV4Signer({ ...place, ...keys }).sign();
    const response = await fetch(url, { method, headers });
    if (response.status !== 200) throw new Error(`Swift answers ${response.status} to ${method} ${path}`);
    return await response.text();
  };
  return {
    endpoint,
    accessKey,
    secretKey,
    start,
    bucket: async (name) => void (await send('PUT', name)),
    names: async (name, prefix) => {
      const list = await send('GET', `${name}?list-type=2&prefix=${encodeURIComponent(prefix)}`);
      return [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key).sort();
    },
    stop: async () => await ended(daemons.get('proxy-server')),
    remove,
  };
}

async function writeSettings(folder: string, ports: readonly number[]): Promise<void> {
  const { username } = userInfo();
  const shared = (port: number) => `
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${username}
swift_dir = ${folder}
devices = ${join(folder, 'data')}
mount_check = false
workers = 0
log_level = CRITICAL
log_address = ${join(folder, 'no-log')}
recon_cache_path = ${folder}`;
  await writeFile(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n',
  );
  for (const [index, name] of storage.entries()) {
    const kind = name.split('-')[0];
    await writeFile(
      join(folder, `${name}.conf`),
      `[DEFAULT]${shared(ports[index] ?? 0)}
[pipeline:main]
pipeline = ${name}
[app:${name}]
use = egg:swift#${kind}
`,
    );
  }
  await writeFile(
    join(folder, 'proxy-server.conf'),
    `[DEFAULT]${shared(ports[3] ?? 0)}
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${ports[4]}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
allow_multipart_uploads = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
`,
  );
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer((socket) => socket.destroy()));
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as { port: number }).port);
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

async function untilOpen(port: number, daemons: ReadonlyMap<string, ChildProcess>): Promise<void> {
  for (const until = Date.now() + 30_000; ; await sleep(100)) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) }).catch(
      () => null,
    );
    if (answer) {
      await answer.arrayBuffer();
      return;
    }
    const gone = [...daemons].find(([, daemon]) => daemon.exitCode !== null);
    if (gone) throw new Error(`${gone[0]} of Swift ended with ${gone[1].exitCode}`);
    if (Date.now() > until) throw new Error('Swift did not start');
  }
}

async function ended(daemon: ChildProcess | undefined): Promise<void> {
  if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
  daemon.kill('SIGKILL');
  await gone;
}
