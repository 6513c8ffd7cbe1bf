/**
 * Tiny scans of a server with an empty store: how many of ten ports it ends in a second, what each costs of processor time
 * in the server and its scan processes together, and how long a command waits that hands over a scan of one port.
 * Then a server with very many scans and jobs, on both stores: how long it takes to serve, how long `/livez` waits meanwhile,
 * while old records are deleted and while the retention looks at every scan, and what the first pages, the health
 * response and a tiny scan take beside a server whose store is empty. PostgreSQL is started by the bench.
 *
 *   npm run bench:many-scans [-- --scans 1000000] [-- --store sqlite|postgres] [-- --tiny]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { scanRequest } from '../src/domain/fixtures/scan-request.ts';
import { openStore, type Store } from '../src/store/open.ts';
import type { TableRow } from '../src/store/schema/table-rows.ts';
import { serverId } from '../src/workspace/server-id.ts';
import { openWorkspace } from '../src/workspace/workspace.ts';
import { freePort, startPostgres } from '../test/postgres.ts';
import { ServerProcess } from '../test/program.ts';

const { values: flags } = parseArgs({
  options: {
    scans: { type: 'string', default: '1000000' },
    store: { type: 'string' },
    tiny: { type: 'boolean', default: false },
  },
});
const scans = Number(flags.scans);

/** Rows of one statement: PostgreSQL ends one after 20 s. */
const rowsAtOnce = 50_000;
/** Seconds between two scans; a million of them are 115 days. */
const spacing = 10;
/** One scan and one job of so many failed. */
const failedShare = 20;
/** How long the server is watched after it serves: its first periodic tasks begin 3 s after the start. */
const watchMs = 15_000;
const requests = 20;
const tinyScans = 10;
/** `/livez` is asked this often, milliseconds. */
const probeMs = 5;

/** A kind of database, and how it says things that SQL has no common words for. */
interface Engine {
  name: string;
  /** The workspaces of one run; null when the store is a file of the workspace. */
  database: (() => Promise<string>) | null;
  numbers: (from: number, to: number) => string;
  /** ISO 8601 of the seconds since 1970 in an expression, and the beginning of a scan id. */
  time: (seconds: string) => string;
  idPrefix: (seconds: string) => string;
  hex: (number: string) => string;
}

const sqlite: Engine = {
  name: 'SQLite',
  database: null,
  numbers: (from, to) =>
    `(with recursive numbers(i) as (select ${from} union all select i + 1 from numbers where i < ${to - 1}) select i from numbers)`,
  time: (seconds) => `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${seconds}, 'unixepoch')`,
  idPrefix: (seconds) => `strftime('%Y%m%d-%H%M%S-', ${seconds}, 'unixepoch')`,
  hex: (number) => `printf('%06x', ${number})`,
};

const postgres: Omit<Engine, 'database'> = {
  name: 'PostgreSQL',
  numbers: (from, to) => `generate_series(${from}, ${to - 1}) as numbers(i)`,
  time: (seconds) => `to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`,
  idPrefix: (seconds) => `to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYYMMDD-HH24MISS-')`,
  hex: (number) => `lpad(to_hex(${number}), 6, '0')`,
};

function row(name: string, value: string, bar = ''): void {
  process.stdout.write(`${name.padEnd(52)}${value.padEnd(26)}${bar}\n`);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Puts in so many finished scans, their places in the queue, and as many finished jobs: copies of one model each. */
async function fill(store: Store, engine: Engine): Promise<void> {
  const model = scanRequest({ scan_id: '20200101-000000-000000', created_at: '2020-01-01T00:00:00.000Z' });
  const job = { job_id: 'job_ffffffffffff', type: 'scan', pool: 'default', priority: 5 } as const;
  await store.transaction(async (inside) => {
    await inside.scans.insert(model);
    await inside.scanQueue.insert({ scanId: model.scan_id, pool: 'default', owner: homeOf(store) }, 0);
    await inside.scans.update(model.scan_id, { status: 'completed' });
    await inside.scans.setSize(model.scan_id, 20_000);
    const params = { targets: model.targets };
    const dates = { created_at: model.created_at, next_run_at: null };
    await inside.clientJobs.insert({
      ...job,
      ...dates,
      schedule: null,
      name: null,
      created_by: null,
      params,
      zone: 'UTC',
    });
  });
  const newest = Math.floor(Date.now() / 1000) - 7200;
  const created = `(${newest} - i * ${spacing})`;
  const id = `${engine.idPrefix(created)} || ${engine.hex('i')}`;
  const either = (failed: string, other: string) =>
    `case when i % ${failedShare} = 0 then '${failed}' else '${other}' end`;
  const times = { created_at: engine.time(created), completed_at: engine.time(`(${created} + 5)`) };
  await copyRows(store, engine, 'scans', {
    scan_id: id,
    status: either('failed', 'completed'),
    started_at: times.created_at,
    ...times,
  });
  await copyRows(store, engine, 'scan_queue', {
    scan_id: id,
    state: either('failed', 'done'),
    position: `${scans} - i`,
    attempt: '1',
    created_at: times.created_at,
    finished_at: times.completed_at,
  });
  await copyRows(store, engine, 'client_jobs', {
    job_id: `'job_' || ${engine.hex('i')} || ${engine.hex('i')}`,
    status: either('failed', 'completed'),
    started_at: times.created_at,
    run_count: '1',
    ...times,
  });
  await store.clientJobs.cancel(job.job_id, new Date().toISOString());
  // What autovacuum does within a minute; before, PostgreSQL takes the rows for few and looks at each one that it counts.
  if (engine.database !== null) await store.execute('vacuum (analyze)', []);
  await store.scans.delete(model.scan_id);
}

function homeOf({ executor }: Store): string | null {
  return executor.split(':')[1] ?? null;
}

async function copyRows(
  store: Store,
  engine: Engine,
  table: string,
  changes: Record<string, string>,
): Promise<void> {
  const { rows } = await store.execute(`select * from ${table}`, []);
  const columns = Object.keys(rows[0] as TableRow);
  const values = columns.map((column) => changes[column] ?? `model.${column}`);
  for (let from = 0; from < scans; from += rowsAtOnce) {
    const numbers = engine.numbers(from, Math.min(scans, from + rowsAtOnce));
    const source = `(select * from ${table} order by created_at limit 1) as model, ${numbers}`;
    const text = `insert into ${table} (${columns}) select ${values} from ${source}`;
    await store.transaction((inside) => inside.execute(text, []));
  }
}

/** Asks `/livez` all the time, from before the server listens on. */
class Probe {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;
  #worstMs = 0;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}/livez`;
    this.#done = this.#run();
  }

  /** The longest wait since the last call, milliseconds. */
  takeWorst(): number {
    const worst = this.#worstMs;
    this.#worstMs = 0;
    return worst;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const startedAt = performance.now();
      if (await this.#isAnswered()) this.#worstMs = Math.max(this.#worstMs, performance.now() - startedAt);
      await sleep(probeMs);
    }
  }

  #isAnswered(): Promise<boolean> {
    return new Promise((resolve) => {
      const request = get(this.#url, { agent: this.#agent }, (response) => {
        response.resume();
        response.once('end', () => resolve(true));
        response.once('error', () => resolve(false));
      });
      request.once('error', () => resolve(false));
    });
  }
}

interface Server {
  process: ServerProcess;
  port: number;
}

/** Every cap is set and none takes a scan; the free space is out of reach, so that all sizes are added up. */
const retention = {
  SERVICE_WORKSPACE__RETENTION__ENABLED: 'true',
  SERVICE_WORKSPACE__RETENTION__MAX_AGE: '50y',
  SERVICE_WORKSPACE__RETENTION__MAX_SCANS: '10000000',
  SERVICE_WORKSPACE__RETENTION__MIN_FREE_SPACE: '900TB',
};

async function newServer(env: NodeJS.ProcessEnv): Promise<Server> {
  const port = await freePort();
  return { port, process: new ServerProcess({ args: ['--bind', `127.0.0.1:${port}`], env }) };
}

async function tinyScan({ process }: Server): Promise<number> {
  return await timed(async () => {
    const targets = ['127.0.0.1'];
    const id = await process.submit({ targets, ports: '9', profile: 'quick', options: { discover: false } });
    while ((await process.detail(id)).status !== 'completed') await sleep(5);
  });
}

/** One more scan that nobody measures starts what is started once. */
async function compareTinyScans(empty: Server, full: Server): Promise<void> {
  const times = new Map<Server, number[]>([
    [empty, []],
    [full, []],
  ]);
  for (let round = -1; round < tinyScans; round++)
    for (const [server, list] of times) {
      const ms = await tinyScan(server);
      if (round >= 0) list.push(ms);
    }
  const [one, other] = [median(times.get(empty) ?? []), median(times.get(full) ?? [])];
  const figures = `${other.toFixed(0)} ms / ${one.toFixed(0)} ms = ${(other / one).toFixed(2)}`;
  row('tiny scan, full / empty store', figures, '<= 1.2');
}

/** How many scans are submitted for the throughput, as many at a time as the server takes. */
const burst = 100;
const inFlight = 4;

/** Processor time of a process, of its children and of those that have ended, seconds; see proc_pid_stat(5). */
function cpuSeconds(pid: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = new Map(all.flatMap((name) => statOf(name)));
  const sum = (id: number): number => {
    const children = [...stats].filter(([, { parent }]) => parent === id).map(([child]) => sum(child));
    return (stats.get(id)?.ticks ?? 0) + children.reduce((a, b) => a + b, 0);
  };
  return sum(pid) / 100;
}

function statOf(name: string): [number, { parent: number; ticks: number }][] {
  try {
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const ticks = fields.slice(11, 15).reduce((all, field) => all + Number(field), 0);
    return [[Number(name), { parent: Number(fields[1]), ticks }]];
  } catch {
    return [];
  }
}

async function scanTenPorts(server: ServerProcess): Promise<void> {
  const submission = {
    targets: ['127.0.0.1'],
    ports: '9001-9010',
    profile: 'quick',
    options: { discover: false },
  };
  const id = await server.submit(submission);
  const response = await fetch(`${server.url}/api/v1/scans/${id}/events`, {
    headers: { accept: 'text/event-stream' },
  });
  // The stream ends with the scan.
  await response.text();
}

/** @returns scans per second. The processor time of a database is not in that of the server. */
async function measureTinyScans(env: NodeJS.ProcessEnv = {}): Promise<number> {
  const server = new ServerProcess({ env });
  try {
    await server.start();
    await scanTenPorts(server);
    const before = cpuSeconds(server.pid);
    const oneMs: number[] = [];
    for (let i = 0; i < tinyScans; i++) oneMs.push(await timed(() => scanTenPorts(server)));
    const cpu = (cpuSeconds(server.pid) - before) / tinyScans;
    row('scan of ten ports, one after another', `${median(oneMs).toFixed(0)} ms`);
    row('its processor time', `${cpu.toFixed(3)} s`, '<= 0.1 s');
    const beforeBurst = cpuSeconds(server.pid);
    let left = burst;
    const work = async () => {
      while (left-- > 0) await scanTenPorts(server);
    };
    const ms = await timed(() => Promise.all(Array.from({ length: inFlight }, work)));
    const perSecond = burst / (ms / 1000);
    row(`scans per second, ${inFlight} at a time`, perSecond.toFixed(1), '>= 20');
    row(
      'processor time of each',
      `${((cpuSeconds(server.pid) - beforeBurst) / burst).toFixed(3)} s`,
      '<= 0.1 s',
    );
    const commandMs: number[] = [];
    for (let i = 0; i < tinyScans; i++) commandMs.push(await timed(() => handOver(server)));
    row('command: scan of one port by the server', `${median(commandMs).toFixed(0)} ms`, '<= 250 ms');
    return perSecond;
  } finally {
    await server.dispose();
  }
}

async function compareTinyScansOnPostgres(embedded: number): Promise<void> {
  process.stdout.write(`\n${postgres.name}\n`);
  const database = await startPostgres();
  try {
    const perSecond = await measureTinyScans({ SERVICE_QUEUE__URL: await database.database() });
    row('scans per second / embedded', (perSecond / embedded).toFixed(2), '>= 0.7');
  } finally {
    await database.remove();
  }
}

/** `portolan scan`, which finds the server by its workspace. */
async function handOver({ workspace }: ServerProcess): Promise<void> {
  const words = ['scan', '127.0.0.1', '--ports', '9001', '--format', 'json', '--workspace-dir', workspace];
  const child = spawn(join(import.meta.dirname, '../bin/portolan'), words, {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}

async function measurePath({ process }: Server, name: string, path: string, bar = ''): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const ms = await timed(async () => {
      const { status } = await process.request(path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
    });
    times.push(ms);
  }
  const [first = Number.NaN] = times;
  row(name, `${first.toFixed(1)} ms, median ${median(times).toFixed(1)} ms`, bar);
}

async function startAndWatch(server: Server, what: string): Promise<Probe> {
  const probe = new Probe(server.port);
  const ms = await timed(() => server.process.start());
  row(`${what}: start to served`, `${(ms / 1000).toFixed(2)} s`, '<= 5 s');
  row(`${what}: worst /livez meanwhile`, `${probe.takeWorst().toFixed(0)} ms`, '<= 100 ms');
  await sleep(watchMs);
  row(
    `${what}: worst /livez of the first ${watchMs / 1000} s`,
    `${probe.takeWorst().toFixed(0)} ms`,
    '<= 100 ms',
  );
  return probe;
}

/** What the hourly run does, by request: the run after the start may be under way. */
async function applyRetention({ process }: Server): Promise<void> {
  while ((await process.request('/api/v1/workspace/gc', { method: 'POST' })).status === 409) await sleep(20);
}

async function measureStore(engine: Engine): Promise<void> {
  const store = engine.database === null ? {} : { SERVICE_QUEUE__URL: await engine.database() };
  const kept = { SERVICE_QUEUE__RETENTION: '2000w', ...retention, ...store };
  const full = await newServer(kept);
  const emptyStore = engine.database === null ? {} : { SERVICE_QUEUE__URL: await engine.database() };
  const empty = await newServer({ ...kept, ...emptyStore });
  try {
    await mkdir(full.process.workspace, { recursive: true });
    const workspace = await openWorkspace(full.process.workspace);
    const url = store.SERVICE_QUEUE__URL ?? null;
    const opened = await openStore(
      url ?? workspace.storeFile,
      url === null ? null : await serverId(workspace.dir),
    );
    const fillMs = await timed(() => fill(opened, engine));
    await opened.close();
    row('put in', `${(fillMs / 1000).toFixed(0)} s`);
    const probe = await startAndWatch(full, 'full store');
    const first = await full.process.request('/api/v1/scans');
    const { total } = (first.body as { data: { total: number } }).data;
    if (total !== scans) throw new Error(`${total} scans are listed`);
    await measurePath(full, 'scans, first page', '/api/v1/scans', '<= 50 ms');
    await measurePath(full, 'jobs, first page', '/api/v1/jobs', '<= 50 ms');
    await measurePath(full, 'health', '/api/v1/health', '<= 50 ms');
    await measurePath(full, 'scans, completed', '/api/v1/scans?status=completed');
    await measurePath(full, 'jobs, pending', '/api/v1/jobs?status=pending', '<= 50 ms');
    await measurePath(full, 'jobs, running', '/api/v1/jobs?status=running', '<= 50 ms');
    await measurePath(full, 'workspace info', '/api/v1/workspace/info');
    probe.takeWorst();
    const runMs = await timed(() => applyRetention(full));
    row('retention, all scans looked at', `${(runMs / 1000).toFixed(1)} s`);
    row('worst /livez meanwhile', `${probe.takeWorst().toFixed(0)} ms`, '<= 100 ms');
    for (const query of [
      'q=nowhere',
      'q=127',
      'tag=nowhere',
      'profile=nowhere',
      'sort=-findings',
      'sort=duration',
      `offset=${scans - 10}`,
    ]) {
      const ms = await timed(() => full.process.request(`/api/v1/scans?${query}`));
      row(`scans?${query}`, `${ms.toFixed(0)} ms`);
      row('worst /livez meanwhile', `${probe.takeWorst().toFixed(0)} ms`, '<= 100 ms');
    }
    await empty.process.start();
    await compareTinyScans(empty, full);
    await probe.stop();
    await full.process.stop();
    await measureCleanup(full, { ...retention, ...store });
  } finally {
    await full.process.dispose();
    await empty.process.dispose();
  }
}

/** The same store with the default of `queue.retention`: the records of all older jobs go. */
async function measureCleanup(full: Server, env: NodeJS.ProcessEnv): Promise<void> {
  full.process.env = env;
  const probe = await startAndWatch(full, 'old jobs go');
  await probe.stop();
  await full.process.stop();
}

row(`load ${loadavg()[0]?.toFixed(1)}`, '', 'bar');
const tinyPerSecond = await measureTinyScans();
if (flags.store !== 'sqlite') await compareTinyScansOnPostgres(tinyPerSecond);
if (flags.tiny) process.exit();
const wanted = (name: string) => flags.store === undefined || flags.store === name;
row(`${scans} scans and jobs; load ${loadavg()[0]?.toFixed(1)}`, '', 'bar');
if (wanted('sqlite')) {
  process.stdout.write(`\n${sqlite.name}\n`);
  await measureStore(sqlite);
}
if (wanted('postgres')) {
  process.stdout.write(`\n${postgres.name}\n`);
  const server = await startPostgres();
  try {
    await measureStore({ ...postgres, database: () => server.database() });
  } finally {
    await server.remove();
  }
}
