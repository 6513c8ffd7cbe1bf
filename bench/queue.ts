/**
 * Both queues: how many jobs a second go through (put in, claimed, completed), beside plain rows that are inserted and
 * updated by their key in the same store in turns within one run; then the answers of a real server with 1000 jobs in
 * its queue. PostgreSQL is started by the bench, with its defaults.
 *
 *   npm run bench:queue
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scanRequest } from '../src/domain/fixtures/scan-request.ts';
import { newScanId } from '../src/domain/scan.ts';
import type { JobQueue } from '../src/queue/queue.ts';
import { ScanQueue } from '../src/queue/scan-queue.ts';
import { openStore, type Store } from '../src/store/open.ts';
import { startPostgres } from '../test/postgres.ts';
import { ServerProcess } from '../test/program.ts';
import { openEngines, type QueueOrder, type QueueWork, runBare, runShards } from './queue-process.ts';

const rounds = 5;
const jobsOfRound = 300;
const workers = 4;
const queued = 1000;
const asked = 50;
const leaseMs = 30_000;
/** Between two looks at the statements of a database, milliseconds. */
const sampleMs = 10;

interface Engine {
  name: string;
  store: Store;
  queue: JobQueue;
  /** Jobs a second. */
  bar: number;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

function row(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(58)}${value}\n`);
}

/** Things done per second. */
async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1000) / (performance.now() - startedAt);
}

async function insertScans(store: Store): Promise<string[]> {
  // Made at once, two of them may be the same.
  const ids = new Set<string>();
  while (ids.size < jobsOfRound) ids.add(newScanId(new Date(), randomBytes));
  await store.transaction(async (inside) => {
    for (const scan_id of ids) await inside.scans.insert(requestOf(scan_id));
  });
  return [...ids];
}

function requestOf(scan_id: string) {
  return scanRequest({ scan_id, created_at: new Date().toISOString(), targets: ['10.0.0.0/24'] });
}

/** One worker after the other, each with one commit for the row and one for its change. */
async function plainRows(store: Store): Promise<void> {
  for (let i = 0; i < jobsOfRound; i++) {
    const id = randomBytes(8).toString('hex');
    await store.tokens.insert({
      id,
      name: 'bench',
      digest: randomBytes(32).toString('hex'),
      previous_digest: null,
      previous_until: null,
      scopes: [],
      tenant: null,
      created_at: new Date().toISOString(),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    await store.tokens.update(id, { last_used_at: new Date().toISOString() });
  }
}

async function dispatch({ store, queue }: Engine, ids: string[], atOnce: number): Promise<void> {
  for (const id of ids)
    await store.transaction((inside) => queue.enqueue(inside, { scanId: id, pool: 'default' }));
  const work = async (worker: string) => {
    for (;;) {
      const claim = await queue.claim(worker);
      if (claim === null) return;
      if (!(await queue.complete(claim.scanId, claim.attempt))) throw new Error('the claim was lost');
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, number) => work(`w${number}`)));
}

async function submitWhole({ store, queue }: Engine): Promise<void> {
  for (let i = 0; i < jobsOfRound; i++) {
    const request = requestOf(newScanId(new Date(), randomBytes));
    await store.transaction(async (inside) => {
      await inside.scans.insert(request);
      await queue.enqueue(inside, { scanId: request.scan_id, pool: 'default' });
    });
  }
  for (let claim = await queue.claim('w'); claim; claim = await queue.claim('w'))
    await queue.complete(claim.scanId, claim.attempt);
}

async function throughput(engine: Engine): Promise<void> {
  await tellMachine();
  const { name, store, bar } = engine;
  const rates = { plain: [] as number[], one: [] as number[], four: [] as number[], whole: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const first = await insertScans(store);
    const second = await insertScans(store);
    const plain = await rateOf(jobsOfRound, () => plainRows(store));
    const one = await rateOf(jobsOfRound, () => dispatch(engine, first, 1));
    const four = await rateOf(jobsOfRound, () => dispatch(engine, second, workers));
    const whole = await rateOf(jobsOfRound, () => submitWhole(engine));
    // The first round compiles and fills caches; PostgreSQL's autovacuum would do this within a minute.
    if (round === 0) {
      if (name === 'PostgreSQL') await store.execute('analyze', []);
      continue;
    }
    rates.plain.push(plain);
    rates.one.push(one);
    rates.four.push(four);
    rates.whole.push(whole);
  }
  const plain = median(rates.plain);
  const told = (values: number[]) =>
    `${Math.round(median(values))}/s  ratio ${(median(values) / plain).toFixed(2)}`;
  row(`${name}: plain rows, inserted and updated`, `${Math.round(plain)}/s`);
  row(`${name}: put in, claimed, completed by one worker`, `${told(rates.one)}  (bar ${bar}/s)`);
  row(`${name}: the same by ${workers} workers at once`, told(rates.four));
  row(`${name}: the same with the rows of the scan`, told(rates.whole));
}

/**
 * Shards that are laid out, claimed and finished, beside as many jobs of bare pg-boss that are sent, fetched and completed in the
 * same database, in turns.
 */
async function shardsBesidePgBoss(store: Store, url: string): Promise<void> {
  const { line, boss, close } = await openEngines(store, url);
  for (const atOnce of [1, workers]) {
    const rates = { bare: [] as number[], shards: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      const ids = await insertScans(store);
      const order = { scanIds: ids, atOnce };
      const ofBare = await rateOf(jobsOfRound, () => runBare(boss, order));
      const ofShards = await rateOf(jobsOfRound, () => runShards(line, order));
      if (round === 0) continue;
      rates.bare.push(ofBare);
      rates.shards.push(ofShards);
    }
    const [ofBare, ofShards] = [median(rates.bare), median(rates.shards)];
    row(`PostgreSQL: bare pg-boss, ${atOnce} at once`, `${Math.round(ofBare)}/s`);
    row(
      `PostgreSQL: shards, ${atOnce} at once`,
      `${Math.round(ofShards)}/s  ratio ${(ofShards / ofBare).toFixed(2)}  (bar 0.6)`,
    );
  }
  await close();
}

/** The same by one process and by two, and what those of shards wait for in the database. */
async function severalProcesses(store: Store, url: string): Promise<void> {
  const children = [await startProcess(url), await startProcess(url)];
  const both = { 'one process': children.slice(0, 1), 'two processes': children };
  const rates = new Map<string, number[]>();
  const waits = new Map<string, number>();
  for (let round = 0; round <= rounds; round++)
    for (const work of ['bare pg-boss', 'shards'] as const)
      for (const [name, several] of Object.entries(both)) {
        const isWatched = round > 0 && work === 'shards' && several.length > 1;
        const watched = isWatched ? watchWaits(store, waits) : null;
        const rate = await rateOfProcesses(store, several, work);
        await watched?.end();
        const what = `${work}, ${name} with ${workers} at once`;
        if (round > 0) rates.set(what, [...(rates.get(what) ?? []), rate]);
      }
  for (const child of children) child.disconnect();
  for (const [what, all] of rates) row(`PostgreSQL: ${what}`, `${Math.round(median(all))}/s`);
  const seen = [...waits.values()].reduce((sum, count) => sum + count, 0);
  for (const [event, count] of [...waits].toSorted(([, one], [, other]) => other - one))
    row(`PostgreSQL: statements of the two with shards: ${event}`, `${((100 * count) / seen).toFixed(1)} %`);
}

async function rateOfProcesses(store: Store, several: ChildProcess[], work: QueueWork): Promise<number> {
  const orders = new Map<ChildProcess, string[]>();
  for (const child of several) orders.set(child, await insertScans(store));
  const all = jobsOfRound * several.length;
  return await rateOf(all, async () => {
    const counts = [...orders].map(([child, scanIds]) => ordered(child, { work, scanIds, atOnce: workers }));
    const done = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    if (done !== all) throw new Error(`${done} of ${all} were done`);
  });
}

async function startProcess(url: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'queue-process.ts'), [url]);
  await once(child, 'message');
  return child;
}

async function ordered(child: ChildProcess, order: QueueOrder): Promise<number> {
  const done = once(child, 'message');
  child.send(order);
  const [count] = (await done) as [number];
  return count;
}

/** Counts what statements of others wait for, or that they run, until it is ended. */
function watchWaits(store: Store, waits: Map<string, number>): { end(): Promise<void> } {
  let ended = false;
  const watch = async () => {
    while (!ended) {
      const { rows } = await store.execute(
        `select coalesce(wait_event_type || ': ' || wait_event, 'running') as event from pg_stat_activity
          where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
        [],
      );
      for (const { event } of rows as { event: string }[]) waits.set(event, (waits.get(event) ?? 0) + 1);
      await sleep(sampleMs);
    }
  };
  const watching = watch();
  return {
    async end() {
      ended = true;
      await watching;
    },
  };
}

/** Milliseconds of each answer. */
async function timed(times: number, ask: (index: number) => Promise<{ status: number }>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now();
    const { status } = await ask(index);
    taken.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`answered ${status}`);
  }
  return taken;
}

async function answers(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const limits = { SERVICE_QUEUE__MAX_JOBS: String(queued + 10), SERVICE_SERVER__API__RATE_LIMIT: '0' };
  await tellMachine();
  const server = new ServerProcess({
    env: { SERVICE_LOG_LEVEL: 'warn', SERVICE_SERVER__WORKERS: '1', ...limits, ...env },
  });
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  try {
    await server.start();
    // The only worker is busy, and leaves the processors alone.
    await server.submit({
      targets: ['127.77.0.0/24'],
      ports: '1-100',
      rate: 1,
      options: { discover: false },
    });
    const ids: string[] = [];
    const submitted = await rateOf(queued, async () => {
      for (let i = 0; i < queued; i++) {
        const body = JSON.stringify({ type: 'scan', params: { targets: ['127.0.0.1'] }, name: `job ${i}` });
        const { status, body: answer } = await server.request('/api/v1/jobs', { ...post, body });
        if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
        ids.push((answer as { data: { job_id: string } }).data.job_id);
      }
    });
    row(`${name}: ${queued} jobs submitted one after the other`, `${Math.round(submitted)}/s`);
    const paths = {
      'list of 50 jobs': '/api/v1/jobs?limit=50',
      'list of 50 scans that wait': '/api/v1/scans?status=pending&limit=50',
      health: '/api/v1/health',
    };
    const report = (what: string, taken: number[]) => {
      const sorted = taken.toSorted((a, b) => a - b);
      const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
      row(
        `${name}, ${queued} queued: ${what}: median, 95 %, slowest`,
        `${median(taken).toFixed(1)}  ${p95.toFixed(1)}  ${(sorted.at(-1) ?? 0).toFixed(1)} ms  (bar 50 ms)`,
      );
    };
    for (const [what, path] of Object.entries(paths))
      report(what, await timed(asked, () => server.request(path)));
    const cancel = (index: number) =>
      server.request(`/api/v1/jobs/${ids[queued - 1 - index]}/cancel`, { method: 'POST' });
    report('cancel', await timed(asked, cancel));
  } finally {
    await server.dispose();
  }
}

/** What the disk takes to keep 4 KiB, milliseconds. Every commit waits for it. */
async function syncMs(folder: string): Promise<number> {
  const file = await open(join(folder, 'sync'), 'w');
  const taken: number[] = [];
  for (let i = 0; i < 50; i++) {
    const startedAt = performance.now();
    await file.write(Buffer.alloc(4096), 0, 4096, 0);
    await file.datasync();
    taken.push(performance.now() - startedAt);
  }
  await file.close();
  return median(taken);
}

async function tellMachine(): Promise<void> {
  const load = (loadavg()[0] ?? 0).toFixed(1);
  row('(the disk keeps 4 KiB in; load of the machine)', `${(await syncMs(dir)).toFixed(2)} ms; ${load}`);
}

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-queue-'));
const postgres = await startPostgres();
try {
  const file = await openStore(join(dir, 'service.db'));
  await throughput({ name: 'SQLite', store: file, queue: new ScanQueue(file, { leaseMs }), bar: 500 });
  await file.close();

  const url = await postgres.database();
  const database = await openStore(url);
  const queue = new ScanQueue(database, { leaseMs, home: 'bench' });
  await throughput({ name: 'PostgreSQL', store: database, queue, bar: 200 });
  await shardsBesidePgBoss(database, url);
  await severalProcesses(database, url);
  await database.close();

  await answers('SQLite', {});
  await answers('PostgreSQL', { SERVICE_QUEUE__URL: await postgres.database() });
} finally {
  await postgres.remove();
  await rm(dir, { recursive: true, force: true });
}
