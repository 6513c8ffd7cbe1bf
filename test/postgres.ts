import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { appendFile, chown, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { noteStart } from './starts.ts';

const run = promisify(execFile);

/** Environment variable with the socket on which the tests of a run ask for the server that they share. */
export const sharedServerVariable = 'PORTOLAN_TEST_POSTGRES';
/** Of the shared server: a database with the tables of a store and of the queue of its shards. */
export const storeTemplate = 'store_template';
/** Memory that must be free for data to lie there, bytes: the databases of a run, 9 MB each, take a quarter of it. */
const spareMemory = 6 * 2 ** 30;
let sharedPort: Promise<number> | null = null;
let databases = 0;

/**
 * A new database without tables on the server that all tests of a run share, which the first one starts. It is for tests that look
 * at nothing beyond their database; others start a server of their own. @returns its URL
 */
export async function emptyDatabase(): Promise<string> {
  return await sharedDatabase('template1');
}

/** The same with the tables of a store of this version, and of the queue of its shards. */
export async function storeDatabase(): Promise<string> {
  return await sharedDatabase(storeTemplate);
}

async function sharedDatabase(template: string): Promise<string> {
  sharedPort ??= askForSharedServer();
  const port = await sharedPort;
  const name = `test_${process.pid}_${++databases}`;
  // Copied as files: through the log, each page would be written twice.
  const create = `create database ${name} template ${template} strategy file_copy`;
  await queryHere(`postgres://portolan@127.0.0.1:${port}/postgres`, create);
  return `postgres://portolan@127.0.0.1:${port}/${name}`;
}

async function askForSharedServer(): Promise<number> {
  const place = process.env[sharedServerVariable];
  if (place === undefined) throw new Error('the configuration of this run lacks test/run-folder.ts');
  const answer = await text(connect(place));
  if (!/^\d+$/.test(answer)) throw new Error(`the PostgreSQL server of the tests did not start: ${answer}`);
  return Number(answer);
}

/** A database server on a loopback port, its data in a temporary folder. */
export interface TestPostgres {
  port: number;
  /** Makes an empty database. @returns its URL */
  database(name?: string): Promise<string>;
  /** Ends the server as an operator does (fast shutdown), with SIGQUIT at once, as a crash does, or only its first process. */
  stop(signal?: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
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

/**
 * Starts a server, for what happens to servers; what only needs a database takes one of the shared server. It refuses to run as
 * root, which it then runs without, as the user that the package made. It ends with this process at the latest.
 */
export async function startPostgres(
  settings: Record<string, string> = {},
  place?: PostgresLocation,
): Promise<TestPostgres> {
  const bin = serverFolder();
  if (bin === null) throw new Error('PostgreSQL is not installed');
  const isLasting = settings['fsync'] !== 'off';
  const folder = await mkdtemp(join(isLasting ? tmpdir() : await memoryFolder(), 'portolan-postgres-'));
  const user = process.getuid?.() === 0 ? await idsOf('postgres') : null;
  if (user) await chown(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const forget = endWithThisProcess(folder, user);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'portolan', '-A', 'trust', '--no-sync', '-E', 'UTF8'];
  await run(join(bin, 'initdb'), initdb, { cwd: folder, ...user });
  const { address = '127.0.0.1', prefix = [], trusted, query = queryHere } = place ?? {};
  if (trusted) await appendFile(join(data, 'pg_hba.conf'), `host all all ${trusted} trust\n`);
  const options = { listen_addresses: address, unix_socket_directories: folder, ...settings };
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let port = await freePort();
  let server: ChildProcess | null = null;
  let ownDatabases = 0;
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
  const stop = async (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT') => {
    const child = server;
    server = null;
    await ended(child, signal);
  };
  await start().catch(async () => {
    // Somebody else was faster with that port.
    port = await freePort();
    await start();
  });
  noteStart('cluster');
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
    async database(name = `test_${++ownDatabases}`) {
      await query(urlOf('postgres'), `create database ${name}`);
      return urlOf(name);
    },
    async remove() {
      await ended(standby, 'SIGQUIT');
      await stop('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
      forget();
    },
  };
}

/** A database is hundreds of files: a disk takes ten times as long as memory to make them. */
async function memoryFolder(): Promise<string> {
  const folder = '/dev/shm';
  const space = await statfs(folder).catch(() => null);
  const free = Math.min(process.availableMemory(), space === null ? 0 : space.bavail * space.bsize);
  return free > spareMemory ? folder : tmpdir();
}

/**
 * Ends the servers whose data are in a folder and removes it once this process has ended, however it ended: then the pipe of a
 * watcher closes, which is in a session of its own, where no signal for the run reaches it. @returns what ends the watcher
 */
function endWithThisProcess(folder: string, user: { uid: number; gid: number } | null): () => void {
  const script = `read -r _
    for file in "$1"/*/postmaster.pid; do [ -e "$file" ] && kill -QUIT "$(head -n 1 "$file")" && sleep 1; done
    rm -rf "$1"`;
  const watcher = spawn('sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
    ...user,
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return () => watcher.stdin.end();
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
