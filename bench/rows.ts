/**
 * A million rows from a scan process into the record of a server: through PostgreSQL, as a worker stores them and the server of the
 * scan gathers them, beside the same rows in a record on the own disk, in turns within one run. Each part is a process of its own, with
 * the heap flags that it has in production. PostgreSQL is started by the bench, with its defaults.
 *
 *   npm run bench:rows [-- --rows 1000000] [-- --rounds 3] [-- --rate 20000]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scanRequest } from '../src/domain/fixtures/scan-request.ts';
import type { ResultRow } from '../src/domain/result.ts';
import { newScanId } from '../src/domain/scan.ts';
import type { LeasedShard } from '../src/domain/shard.ts';
import { GatheredRows } from '../src/server/shards/gathered-rows.ts';
import { openStore } from '../src/store/open.ts';
import { ShardResults } from '../src/worker/shard-results.ts';
import { ShardUpload } from '../src/worker/shard-upload.ts';
import { recordFiles } from '../src/workspace/record/record-files.ts';
import { openRecord } from '../src/workspace/record/record-writer.ts';
import { ScanFolder } from '../src/workspace/scan-folder.ts';
import { startPostgres, type TestPostgres } from '../test/postgres.ts';

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    /** Rows per second that the scan finds; 0 = as fast as they can be written. */
    rate: { type: 'string', default: '0' },
    /** Folder for a CPU profile of each part. */
    profiles: { type: 'string' },
    part: { type: 'string' },
    input: { type: 'string', default: '{}' },
  },
});
const count = Number(flags.rows);
const rounds = Number(flags.rounds);
const rate = Number(flags.rate);
const shares = [0.1, 0.5, 1];
/** Rows at a time of a scan with a rate. */
const burst = 500;
/** Poll interval of a server for the shards of a scan, milliseconds (src/server/shards/sharded-scan.ts). */
const lookMs = 250;
const leaseMs = 3_600_000;

type PartName = 'scan' | 'worker' | 'server';

interface PartInput {
  dir: string;
  /** Whether the scan is a shard of a worker. */
  isShard?: boolean;
  /** None in a scan without workers. */
  url?: string;
  held?: LeasedShard;
}

/** What a part tells the bench. */
type FromPart =
  | { type: 'ready' }
  | { type: 'rows'; share: number; rssMb: number }
  | { type: 'done'; cpuSeconds: number; peakMb: number };

interface Measured {
  seconds: number;
  /** From the last row that the scan wrote. */
  behindSeconds: number;
  parts: Part[];
  /** Of the rows and their number, as they are in the last record. */
  digest: string;
}

/** `bin/portolan` and `src/worker/serving-process.ts`; a worker has the defaults. */
const heapFlags: Record<PartName, string[]> = {
  scan: ['--max-semi-space-size=4', '--min-semi-space-size=4', '--optimize-for-size'],
  server: ['--max-semi-space-size=2', '--min-semi-space-size=2', '--heap-growing-percent=20'],
  worker: [],
};

/** The row at a position: a host and nine of its ports in turns. Texts differ as those of real services do. */
function rowAt(at: number): ResultRow {
  // 10.0.0.0 is the address of the network, which no scan probes.
  const number = Math.floor(at / 10) + 1;
  const host = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const timestamp = new Date(1_790_000_000_000 + Math.floor(at / 20)).toISOString();
  // Knuth's multiplicative hash: as good as chance here, and the same in each run.
  const chance = Math.imul(at + 1, 2_654_435_761) >>> 0;
  if (at % 10 === 0) {
    const latency_ms = (chance % 9000) / 1000;
    return { type: 'host', timestamp, host, hostnames: [`h${number}.example.net`], state: 'up', latency_ms };
  }
  const version = `1.${chance % 27}.${chance % 7}`;
  const etag = chance.toString(16).padStart(8, '0');
  return {
    type: 'port',
    timestamp,
    host,
    port: 8000 + (at % 10),
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    service: { name: 'http', product: 'nginx', vendor: 'f5', version, cpe: null, confidence: 0.9 },
    banner: `HTTP/1.1 200 OK\r\nServer: nginx/${version}\r\nETag: "${etag}"\r\nContent-Length: ${chance % 5000}\r\n`,
    banner_b64: null,
    truncated: false,
    tls: null,
    fingerprints: [],
    attributes: {},
  };
}

/** Within a part: resolves with the next message of this type. */
function told(type: string): Promise<void> {
  return new Promise((resolve) => {
    const listen = (message: unknown) => {
      if (message !== type) return;
      process.off('message', listen);
      resolve();
    };
    process.on('message', listen);
  });
}

function tell(message: FromPart): void {
  process.send?.(message);
}

/** Reports the memory of a part when it has got so far. */
class Meter {
  #next = 0;

  at(rows: number): void {
    for (let share = shares[this.#next]; share !== undefined; share = shares[this.#next]) {
      if (rows < share * count) return;
      this.#next += 1;
      tell({ type: 'rows', share, rssMb: process.memoryUsage.rss() / 1_048_576 });
    }
  }
}

async function scanPart({ dir, isShard = false }: PartInput): Promise<void> {
  // As in a worker (src/scan-run/run-scan.ts).
  const record = await openRecord(new ScanFolder(dir), { isDurable: !isShard });
  const meter = new Meter();
  await started();
  const startedAt = performance.now();
  for (let at = 0; at < count; at++) {
    const full = record.append(rowAt(at));
    if (full) await full;
    meter.at(at + 1);
    if (rate === 0 || at % burst !== 0) continue;
    const early = (at * 1000) / rate - (performance.now() - startedAt);
    if (early > 0) await sleep(early);
  }
  await record.seal();
  await record.close();
}

async function workerPart({ dir, url = '', held }: PartInput): Promise<void> {
  const store = await openStore(url);
  const results = ShardResults.ofShard(store, held as LeasedShard);
  const meter = new Meter();
  const putRows = results.putRows.bind(results);
  results.putRows = async (first, lines) => {
    const stored = await putRows(first, lines);
    meter.at(stored);
    return stored;
  };
  const ended = told('ended');
  await started();
  const upload = new ShardUpload({
    folder: new ScanFolder(dir),
    results,
    sent: 0,
    onTrouble: (error) => console.error(error),
  });
  await ended;
  if (!(await upload.finish(new AbortController().signal))) throw new Error('the shard was lost');
  await store.close();
}

async function serverPart({ dir, url = '', held }: PartInput): Promise<void> {
  const scanId = held?.scanId ?? '';
  const store = await openStore(url);
  const meter = new Meter();
  // As src/server/shards/sharded-scan.ts.
  const record = await openRecord(new ScanFolder(dir), {
    onSealed: (sealed) => meter.at(sealed),
    isDurable: false,
  });
  const rows = new GatheredRows({ store, scanId, sink: record, skip: 0, onInvalid: console.error });
  const over = new AbortController();
  void told('ended').then(() => over.abort());
  await started();
  for (let isLast = false; !isLast; ) {
    isLast = over.signal.aborted;
    await rows.take(await store.shards.ofScan(scanId));
    if (!isLast) await sleep(lookMs, undefined, { signal: over.signal }).catch(() => undefined);
  }
  await record.close();
  await store.close();
}

const works: Record<string, (input: PartInput) => Promise<void>> = {
  scan: scanPart,
  worker: workerPart,
  server: serverPart,
};

let cpuBefore = process.cpuUsage();

async function started(): Promise<void> {
  const go = told('go');
  tell({ type: 'ready' });
  await go;
  cpuBefore = process.cpuUsage();
}

async function runPart(name: string): Promise<void> {
  await works[name]?.(JSON.parse(flags.input) as PartInput);
  const { user, system } = process.cpuUsage(cpuBefore);
  const peakMb = process.resourceUsage().maxRSS / 1024;
  tell({ type: 'done', cpuSeconds: (user + system) / 1_000_000, peakMb });
  process.disconnect();
}

/** A part as the bench sees it. */
class Part {
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  /** Resident memory when a share of the rows was done, MB. */
  readonly rssMb = new Map<number, number>();
  cpuSeconds = 0;
  peakMb = 0;
  readonly name: PartName;
  readonly #child: ChildProcess;

  constructor(name: PartName, input: PartInput) {
    this.name = name;
    const args = [
      '--part',
      name,
      '--input',
      JSON.stringify(input),
      '--rows',
      flags.rows,
      '--rate',
      flags.rate,
    ];
    const profile = flags.profiles ? ['--cpu-prof', `--cpu-prof-dir=${flags.profiles}/${name}`] : [];
    const arenas = heapFlags[name].length > 0 ? { MALLOC_ARENA_MAX: '1' } : {};
    const child = fork(fileURLToPath(import.meta.url), args, {
      execArgv: [...heapFlags[name], ...profile],
      env: { ...process.env, ...arenas },
    });
    this.#child = child;
    const ready = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.done = done.promise;
    child.on('message', (message: FromPart) => {
      if (message.type === 'ready') ready.resolve();
      if (message.type === 'rows') this.rssMb.set(message.share, message.rssMb);
      if (message.type !== 'done') return;
      this.cpuSeconds = message.cpuSeconds;
      this.peakMb = message.peakMb;
      done.resolve();
    });
    child.once('exit', (code) => {
      const error = new Error(`${name} exited with ${code}`);
      ready.reject(error);
      done.reject(error);
    });
    done.promise.catch(() => undefined);
  }

  tell(message: 'go' | 'ended'): void {
    this.#child.send(message);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(timer);
  }
}

async function local(dir: string): Promise<Measured> {
  await mkdir(dir);
  const scan = new Part('scan', { dir });
  await scan.ready;
  const startedAt = performance.now();
  scan.tell('go');
  await scan.done;
  const seconds = (performance.now() - startedAt) / 1000;
  await scan.end();
  return { seconds, behindSeconds: 0, parts: [scan], digest: await digestOf(dir) };
}

async function throughStore(dir: string, postgres: TestPostgres): Promise<Measured> {
  const url = await postgres.database();
  const held = await claimedShard(url);
  const [ofShard, ofScan] = [join(dir, 'shard'), join(dir, 'scan')];
  await mkdir(ofShard, { recursive: true });
  await mkdir(ofScan);
  const scan = new Part('scan', { dir: ofShard, isShard: true });
  const worker = new Part('worker', { dir: ofShard, url, held });
  const server = new Part('server', { dir: ofScan, url, held });
  const parts = [scan, worker, server];
  await Promise.all(parts.map(({ ready }) => ready));
  const startedAt = performance.now();
  for (const part of parts) part.tell('go');
  await scan.done;
  const scannedAt = performance.now();
  worker.tell('ended');
  await worker.done;
  // As the news that a shard has ended.
  server.tell('ended');
  await server.done;
  const endedAt = performance.now();
  await Promise.all(parts.map((part) => part.end()));
  const [before, digest] = [await digestOf(ofShard), await digestOf(ofScan)];
  if (before !== digest) throw new Error(`the shard has ${before}, the scan ${digest}`);
  return {
    seconds: (endedAt - startedAt) / 1000,
    behindSeconds: (endedAt - scannedAt) / 1000,
    parts,
    digest,
  };
}

/** The only shard of a new scan, in the hands of a worker. */
async function claimedShard(url: string): Promise<LeasedShard> {
  const scanId = newScanId(new Date(), randomBytes);
  const addresses = ['10.0.0.0/8'];
  const store = await openStore(url);
  try {
    await store.scans.insert(
      scanRequest({ scan_id: scanId, created_at: new Date().toISOString(), targets: addresses }),
    );
    await store.shardJobs.insert(
      scanId,
      'default',
      { addresses, hostnames: {} },
      { line: 'bench', ids: [scanId] },
    );
    const now = Date.now();
    const times = { now, leaseUntil: now + leaseMs };
    const claimed = await store.shardJobs.claim(
      { scanId, shard: 0 },
      { id: scanId, retry: 0 },
      'bench',
      times,
    );
    if (claimed === null) throw new Error('the shard was not free');
    return { scanId, shard: 0, attempt: claimed.attempt };
  } finally {
    await store.close();
  }
}

/** Number of rows of a record, and a digest of all its bytes. */
async function digestOf(dir: string): Promise<string> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const piece of createReadStream(recordFiles(dir).data) as AsyncIterable<Buffer>) {
    hash.update(piece);
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, end + 1)) lines += 1;
  }
  return `${lines} rows, ${hash.digest('hex').slice(0, 16)}`;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function printRound(name: string, { seconds, behindSeconds, parts, digest }: Measured): void {
  const memory = parts.map(({ name: part, rssMb, peakMb, cpuSeconds }) => {
    const steps = shares.map((share) => (rssMb.get(share) ?? Number.NaN).toFixed(0)).join(' ');
    return `${part}: ${steps} (peak ${peakMb.toFixed(0)}) MB, CPU ${cpuSeconds.toFixed(1)} s`;
  });
  console.log(
    `${name}: ${seconds.toFixed(2)} s, ${Math.round(count / seconds)} rows/s, ${behindSeconds.toFixed(2)} s behind; ` +
      `${digest}; ${memory.join('; ')}`,
  );
}

function printTable(locals: Measured[], stored: Measured[]): void {
  const ratios = stored.map(({ seconds }, at) => seconds / (locals[at]?.seconds ?? Number.NaN));
  const [a, b] = [locals, stored].map((all) => median(all.map(({ seconds }) => seconds))) as [number, number];
  console.log('\n| | a: local | b: through the store | b / a | bar |\n|---|---|---|---|---|');
  console.log(
    `| seconds | ${a.toFixed(2)} | ${b.toFixed(2)} | ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}) | <= 1.3 |`,
  );
  console.log(`| rows/s | ${Math.round(count / a)} | ${Math.round(count / b)} | | |`);
  const behind = median(stored.map(({ behindSeconds }) => behindSeconds));
  console.log(`| seconds behind the scan at its end | | ${behind.toFixed(2)} | | |`);
  console.log('\n| part | MB at 10 %, 50 %, 100 % | peak MB | CPU seconds |\n|---|---|---|---|');
  for (const [at, name] of ['scan without workers', 'scan', 'worker', 'server'].entries()) {
    const same = at === 0 ? locals.map(({ parts }) => parts[0]) : stored.map(({ parts }) => parts[at - 1]);
    const of = (value: (part: Part) => number) =>
      median(same.map((part) => (part ? value(part) : Number.NaN)));
    const steps = shares.map((share) => of(({ rssMb }) => rssMb.get(share) ?? Number.NaN).toFixed(0));
    console.log(
      `| ${name} | ${steps.join(', ')} | ${of(({ peakMb }) => peakMb).toFixed(0)} | ${of(({ cpuSeconds }) => cpuSeconds).toFixed(1)} |`,
    );
  }
}

async function bench(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-rows-'));
  const postgres = await startPostgres();
  const [locals, stored]: [Measured[], Measured[]] = [[], []];
  console.log(
    `${count} rows, ${rate || 'all'} a second, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`,
  );
  try {
    for (let round = 0; round < rounds; round++) {
      const folder = join(dir, `round-${round}`);
      await mkdir(folder);
      const a = await local(join(folder, 'local'));
      printRound('local', a);
      const b = await throughStore(join(folder, 'stored'), postgres);
      printRound('through the store', b);
      if (a.digest !== b.digest) throw new Error('the records differ');
      locals.push(a);
      stored.push(b);
      await rm(folder, { recursive: true });
    }
    printTable(locals, stored);
  } finally {
    await postgres.remove();
    await rm(dir, { recursive: true, force: true });
  }
}

await (flags.part ? runPart(flags.part) : bench());
