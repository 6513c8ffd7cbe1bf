import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { appendFile, chown, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A database server of a test's own, on a loopback port, its data in a temporary folder. */
export interface TestPostgres {
  port: number;
  /** Makes an empty database. @returns its URL */
  database(): Promise<string>;
  /** Ends the server as an operator does (fast shutdown), or with SIGQUIT at once, as a crash does. */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Starts it again with the same data, on the same port, unless it runs. */
  start(): Promise<void>;
  /** A copy that follows it; from now on every commit waits until the copy has it, too. */
  standby(): Promise<Standby>;
  /** Ends it, and its standby, and removes their data. */
  remove(): Promise<void>;
}

/** A physical standby (https://www.postgresql.org/docs/15/warm-standby.html). */
interface Standby {
  port: number;
  /** It takes writes from now on. */
  promote(): Promise<void>;
}

/** Folder of the newest installed server (Debian's package `postgresql`), or null. */
function serverFolder(): string | null {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return null;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return (
    versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb'))) ??
    null
  );
}

/** Why the tests with a real database cannot run here; null when they can. With CI=true they must. */
export function postgresObstacle(): string | null {
  if (serverFolder() !== null) return null;
  const reason = 'needs PostgreSQL: npm run setup:test';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

/** A server that is not on loopback but in a network namespace. */
export interface PostgresLocation {
  /** What its command line begins with, as `ip netns exec NAME`. */
  prefix: string[];
  address: string;
  /** Whoever comes from there is let in, CIDR. */
  trusted: string;
  /** Runs a statement from where the server can be reached. */
  query(url: string, text: string): Promise<unknown>;
}

/** Starts a server. It refuses to run as root, which it then runs without, as the user that the package made. */
export async function startPostgres(
  settings: Record<string, string> = {},
  place?: PostgresLocation,
): Promise<TestPostgres> {
  const bin = serverFolder();
  if (bin === null) throw new Error('PostgreSQL is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'portolan-postgres-'));
  const user = process.getuid?.() === 0 ? await idsOf('postgres') : null;
  if (user) await chown(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  await makeCluster(bin, folder, data, user);
  const { address = '127.0.0.1', prefix = [], trusted, query = queryHere } = place ?? {};
  if (trusted) await appendFile(join(data, 'pg_hba.conf'), `host all all ${trusted} trust\n`);
  const options = { listen_addresses: address, unix_socket_directories: folder, ...settings };
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let port = await freePort();
  let server: ChildProcess | null = null;
  let databases = 0;
  const urlOf = (name: string) => `postgres://portolan@${address}:${port}/${name}`;

  const start = async () => {
    if (server !== null) return;
    const [command = '', ...args] = [
      ...prefix,
      ...asUser(prefix, user),
      join(bin, 'postgres'),
      '-D',
      data,
      '-c',
      `port=${port}`,
      ...flags,
    ];
    const child = spawn(command, args, {
      cwd: folder,
      stdio: 'ignore',
      ...(prefix.length === 0 ? user : {}),
    });
    server = child;
    for (const until = Date.now() + 60_000; ; await sleep(50)) {
      if (await isServerOf(data, query, urlOf('postgres'))) return;
      if (child.exitCode === null && Date.now() < until) continue;
      server = null;
      throw new Error('PostgreSQL did not start');
    }
  };
  const stop = async (signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT') => {
    const child = server;
    server = null;
    await ended(child, signal);
  };
  await start().catch(async () => {
    // Somebody else was faster with that port.
    port = await freePort();
    await start();
  });
  let standby: ChildProcess | null = null;
  return {
    port,
    start,
    stop,
    async standby() {
      const copy = join(folder, 'standby');
      const from = `host=127.0.0.1 port=${port} user=portolan application_name=standby`;
      const asPostgres = { cwd: folder, ...user };
      await run(join(bin, 'pg_basebackup'), ['-d', from, '-D', copy, '-R', '-c', 'fast'], asPostgres);
      const ownPort = await freePort();
      const own = ['-D', copy, '-c', `port=${ownPort}`, '-c', `unix_socket_directories=${folder}`];
      standby = spawn(join(bin, 'postgres'), own, { ...asPostgres, stdio: 'ignore' });
      await runStatements(urlOf('postgres'), [
        "alter system set synchronous_standby_names = 'standby'",
        'select pg_reload_conf()',
      ]);
      for (let state = ''; state !== 'sync'; await sleep(50)) state = await stateOfStandby(urlOf('postgres'));
      const promote = async () => {
        await run(join(bin, 'pg_ctl'), ['promote', '-w', '-D', copy], asPostgres);
      };
      return { port: ownPort, promote };
    },
    async database() {
      const name = `test_${++databases}`;
      await query(urlOf('postgres'), `create database ${name}`);
      return urlOf(name);
    },
    async remove() {
      await ended(standby, 'SIGQUIT');
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await gone;
}

/** How a server waits for its standby: `sync` once each commit does. */
async function stateOfStandby(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select sync_state from pg_stat_replication');
  await client.end();
  return (rows[0] as { sync_state: string } | undefined)?.sync_state ?? '';
}

/** Data of a server without databases of tests, made once per run of a tier. */
async function makeCluster(
  bin: string,
  folder: string,
  data: string,
  user: { uid: number; gid: number } | null,
): Promise<void> {
  const shared = process.env['PORTOLAN_TEST_FOLDER'];
  const made = shared && join(shared, 'postgres');
  if (made && existsSync(made)) return await copyCluster(made, data);
  const args = ['-D', data, '-U', 'portolan', '-A', 'trust', '--no-sync', '-E', 'UTF8'];
  await run(join(bin, 'initdb'), args, { cwd: folder, ...user });
  if (!made) return;
  const copy = `${made}.${basename(folder)}`;
  await copyCluster(data, copy);
  // Another process may have been faster.
  await rename(copy, made).catch(() => rm(copy, { recursive: true, force: true }));
}

async function copyCluster(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to]);
}

async function idsOf(user: string): Promise<{ uid: number; gid: number }> {
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((text) => text.startsWith(`${user}:`));
  const [, , uid, gid] = (line ?? '').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** A port of loopback that nobody has just now. */
export async function freePort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A namespace can only be entered by root, who then becomes another user. */
function asUser(prefix: string[], user: { uid: number; gid: number } | null): string[] {
  if (prefix.length === 0 || !user) return [];
  return ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
}

async function queryHere(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Whether the server at a URL is the one with this data, and not that of another test with the same port. */
async function isServerOf(data: string, query: PostgresLocation['query'], url: string): Promise<boolean> {
  const isOurs = `current_setting('data_directory') = '${data}'`;
  // Divides by zero if it is not.
  return await query(url, `select 1 / (${isOurs})::int`).then(
    () => true,
    () => false,
  );
}

/** Runs statements without the program. */
export async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The number that a statement gives. */
export async function numberFrom(url: string, statement: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ number: unknown }>(`select (${statement}) as number`);
    return Number(rows[0]?.number);
  } finally {
    await client.end();
  }
}
