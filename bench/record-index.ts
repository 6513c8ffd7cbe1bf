/**
 * Queries on the records of one large scan: `npm run bench:index [-- --hosts 60000] [-- --write]`.
 *
 *   server   a real server with the scan: latencies over HTTP, its resident memory with the thread of the indexes
 *   loop     the same requests within one process whose event loop is watched, while the index is built too
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { IndexedScan } from '../src/actions/record-index/index-requests.ts';
import { RecordIndexes } from '../src/actions/record-index/record-indexes.ts';
import { recordIn } from '../src/workspace/record/folder-record.ts';
import { openWorkspace } from '../src/workspace/workspace.ts';
import { residentBytes, ServerProcess } from '../test/program.ts';
import { recordScans } from '../test/recorded-scan.ts';
import { BenchResults } from './bench-results.ts';
import { largeScan } from './large-scan.ts';

const { values: flags } = parseArgs({
  options: {
    hosts: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '5' },
    /** A workspace with such a scan, which is moved. */
    recorded: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const hosts = Number(flags.hosts);
const rounds = Number(flags.rounds);
const results = new BenchResults('index');

interface Request {
  name: string;
  path: string;
  bar: number;
}

const requests: Request[] = [
  { name: 'hosts, first page', path: 'records?type=host&limit=50', bar: 300 },
  { name: 'ports of one product', path: 'records?type=port&q=product:nginx&limit=50', bar: 300 },
  {
    name: 'hosts with a high finding on 443',
    path: 'records?type=host&q=port:443 severity:>=high',
    bar: 300,
  },
  { name: 'hosts of a network', path: 'records?type=host&q=host:10.20.3.0/24', bar: 300 },
  { name: 'findings by severity, EPSS', path: 'records?type=vulnerability&sort=-severity,-epss', bar: 300 },
  { name: 'ports by product, version', path: 'records?type=port&sort=product,-version&limit=100', bar: 300 },
  {
    name: 'ports by product, page 5000',
    path: 'records?type=port&sort=product&limit=100&offset=500000',
    bar: 300,
  },
  { name: 'hosts by number of findings', path: 'records?type=host&sort=-findings', bar: 300 },
  { name: 'all records of a query', path: 'records?q=severity:critical', bar: 300 },
  { name: 'facets of everything', path: 'facets', bar: 300 },
  { name: 'facets of a query', path: 'facets?q=severity:>=high port:443,8443', bar: 300 },
  { name: 'fix list', path: 'fixes', bar: 300 },
  { name: 'free text, rare', path: 'records?type=port&q="session 15838"', bar: 1000 },
  { name: 'free text, common', path: 'records?type=port&q=server', bar: 1000 },
];

/** Of times in /proc. */
const ticksPerSecond = 100;

/** Processor time of a process and its threads so far. */
function processorTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
const encoded = (path: string) => path.replace(/q=([^&]*)/, (_, q: string) => `q=${encodeURIComponent(q)}`);

/** Milliseconds of one request, its first response included. */
async function timed(base: string, path: string): Promise<{ ms: number; body: string; status: number }> {
  const startedAt = performance.now();
  const response = await fetch(`${base}/${encoded(path)}`);
  const body = await response.text();
  return { ms: performance.now() - startedAt, body, status: response.status };
}

/** Seconds to the first page, and until the index stands. */
async function untilBuilt(base: string): Promise<{ page: number; all: number }> {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  let page = 0;
  for (;;) {
    const { status, body } = await timed(base, 'records?type=host&limit=50');
    if (status !== 200 && status !== 504) throw new Error(`${status}: ${body}`);
    if (status === 200) page ||= seconds();
    const { data } = JSON.parse(body) as { data?: { index_share?: number } };
    if (status === 200 && data?.index_share === undefined) return { page, all: seconds() };
    await sleep(500);
  }
}

async function measureServer(server: ServerProcess, scanId: string): Promise<void> {
  await server.start();
  const base = `${server.url}/api/v1/scans/${scanId}`;
  for (let at = 0; at < 20; at++) await timed(base, 'records?limit=50');
  await sleep(2000);
  const before = residentBytes(server.pid);
  let highest = 0;
  const watch = setInterval(() => {
    highest = Math.max(highest, residentBytes(server.pid));
  }, 100);
  const ticks = processorTicks(server.pid);
  const processorSeconds = () => (processorTicks(server.pid) - ticks) / ticksPerSecond;
  const built = await untilBuilt(base);
  const whileBuilt = highest;
  results.print(
    `The index was built in ${built.all.toFixed(1)} s, ${processorSeconds().toFixed(0)} s of processor time; the first page ` +
      `came after ${built.page.toFixed(1)} s; ${sizeOfIndex(server.workspace)}.`,
  );
  results.print();
  const early = await measureRequests(
    base,
    requests.filter(({ name }) => name.startsWith('free text')),
  );
  await untilSearchable(base);
  highest = 0;
  results.print('| request | first, ms | median of further, ms | records in total | bar, ms |');
  results.print('|---|---|---|---|---|');
  for (const [name, line] of early) results.print(`| ${name}, before its index stands ${line}`);
  for (const request of requests) {
    const bar = request.name.startsWith('free text') ? 300 : request.bar;
    for (const [name, line] of await measureRequests(base, [{ ...request, bar }]))
      results.print(`| ${name} ${line}`);
  }
  clearInterval(watch);
  const after = residentBytes(server.pid);
  results.print();
  results.print(
    `Resident memory of the server: ${megabytes(before)} MB before, ${megabytes(whileBuilt)} MB at most while the index ` +
      `was built, ${megabytes(highest)} MB at most during the requests, ${megabytes(after)} MB after them ` +
      `(+ ${megabytes(after - before)} MB; bar + 100 MB).`,
  );
}

async function measureRequests(base: string, chosen: readonly Request[]): Promise<[string, string][]> {
  const measured: [string, string][] = [];
  for (const { name, path, bar } of chosen) {
    const first = await timed(base, path);
    if (first.status !== 200) throw new Error(`${path}: ${first.body}`);
    const further: number[] = [];
    for (let round = 0; round < rounds; round++) further.push((await timed(base, path)).ms);
    const { data } = JSON.parse(first.body) as { data: { total?: number } };
    measured.push([
      name,
      `| ${first.ms.toFixed(0)} | ${median(further).toFixed(0)} | ${data.total?.toLocaleString('en') ?? ''} | ${bar} |`,
    ]);
  }
  return measured;
}

/** Waits until a rare text is found quickly several times in a row: then its index stands. */
async function untilSearchable(base: string): Promise<void> {
  const startedAt = performance.now();
  for (let fast = 0; fast < 3; ) {
    await sleep(3000);
    const { ms } = await timed(base, `records?type=port&limit=1&q="session ${fast + 10_007} "`);
    fast = ms < 100 ? fast + 1 : 0;
    if (performance.now() - startedAt > 300_000) throw new Error('the search for text does not become fast');
  }
  results.print(`The index of texts stood ${((performance.now() - startedAt) / 1000).toFixed(0)} s later.`);
  results.print();
}

function sizeOfIndex(workspace: string): string {
  const folder = join(workspace, 'cache', 'index');
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return `${megabytes(bytes)} MB on disk`;
}

async function measureLoop(dir: string, scanId: string): Promise<void> {
  const workspace = await openWorkspace(dir);
  rmSync(workspace.indexDir, { recursive: true, force: true });
  const indexes = new RecordIndexes(workspace);
  const scan = indexes.scan(scanId, recordIn(workspace.scan(scanId)));
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const stretches = new ProcessorStretches();
  await untilIndexed(indexes, scan);
  for (let round = 0; round < 20; round++) {
    await indexes.request(scan, {
      kind: 'rows',
      query: null,
      type: 'host',
      keys: [],
      offset: round,
      limit: 1000,
      after: null,
    });
    await indexes.request(scan, {
      kind: 'facets',
      query: null,
      fields: ['severity', 'product', 'host'],
      limit: 20,
    });
  }
  histogram.disable();
  const own = stretches.end();
  await indexes.close();
  results.print(
    `Event loop beside the thread, while it builds the index and responds with pages of 1,000 rows: ` +
      `${(histogram.max / 1e6).toFixed(1)} ms at most, p99 ${(histogram.percentile(99) / 1e6).toFixed(1)} ms; ` +
      `longest stretch of processor time ${own.toFixed(1)} ms (bar 20 ms).`,
  );
}

/** As a client: a request waits for the build, which then does not rest. */
async function untilIndexed(indexes: RecordIndexes, scan: IndexedScan): Promise<void> {
  await indexes.request(scan, { kind: 'fixes', query: null, offset: 0, limit: 1 }, undefined, 3_600_000);
}

/** The most processor time that the event loop of this thread spent between two turns, whatever else runs here. */
class ProcessorStretches {
  #before = process.threadCpuUsage();
  #longest = 0;
  readonly #timer = setInterval(() => this.#take(), 1);

  #take(): void {
    const { user, system } = process.threadCpuUsage(this.#before);
    this.#longest = Math.max(this.#longest, (user + system) / 1000);
    this.#before = process.threadCpuUsage();
  }

  /** @returns milliseconds */
  end(): number {
    clearInterval(this.#timer);
    return this.#longest;
  }
}

const scan = largeScan(hosts);
const server = new ServerProcess();
try {
  const startedAt = performance.now();
  if (flags.recorded) {
    rmSync(server.workspace, { recursive: true });
    renameSync(flags.recorded, server.workspace);
    rmSync(join(server.workspace, 'cache', 'index'), { recursive: true, force: true });
  } else await recordScans(server.workspace, [scan]);
  const { live_hosts, open_ports, vulnerabilities } = scan.facts.summary;
  const rows = (live_hosts + open_ports + vulnerabilities).toLocaleString('en');
  results.printOrigin(`${rows} records`);
  console.log(`recorded in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  await measureServer(server, scan.facts.scan_id);
  await server.stop();
  await measureLoop(server.workspace, scan.facts.scan_id);
  if (flags.write) results.write();
} finally {
  await server.dispose();
}
