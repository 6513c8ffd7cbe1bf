/**
 * Readers of one running scan: `npm run bench:ui-clients [-- --small] [-- --rounds 2] [-- --rate 1000] [-- --beside] [-- --apart] [-- --write]`.
 *
 * The browser gets the processor time that server and scan leave (SCHED_IDLE): it stands for other machines. With `--beside` it
 * competes for it. The clients always do: they only count, and clients that read late make the server read the record once for each.
 * `--rate` is that of the scan, packets per second: where the processors do not bear it, readers can only cost it speed.
 * With `--apart` the processes of the scan have the first processor for themselves, and all others share the next ones: what the
 * readers cost the scan beside the processor time that they take.
 *
 * 65,536 addresses of loopback (127.1.0.0/16) are scanned in turns without readers, and with 50 tabs of one browser and 50
 * clients with an event stream each. Beside both a process of its own reads the API 20 times a second.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { UiService } from '../test/browser/ui/ui-service.ts';
import { childrenOf, residentBytes } from '../test/program.ts';
import { buildUi } from '../ui/build-ui.ts';
import { BenchResults } from './bench-results.ts';
import type { EventClientsOrder, EventClientsReport } from './event-clients.ts';
import type { ScanSample, SteadyOrder, SteadyReport } from './steady-requests.ts';
import { BenchBrowser, type SchedulerPolicy, type Tab, type Tasks } from './ui-browser.ts';

const { values: flags } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    tabs: { type: 'string' },
    clients: { type: 'string' },
    rate: { type: 'string' },
    beside: { type: 'boolean', default: false },
    apart: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
/** Of the browser. */
const policy: SchedulerPolicy = flags.beside ? 'other' : 'idle';

const usual = flags.small
  ? { network: '127.1.0.0/19', rate: 1000, tabs: 8, clients: 8, rounds: 1, lookMs: 3000 }
  : { network: '127.1.0.0/16', rate: 3000, tabs: 50, clients: 50, rounds: 2, lookMs: 8000 };
const size = {
  ...usual,
  tabs: Number(flags.tabs ?? usual.tabs),
  clients: Number(flags.clients ?? usual.clients),
  rate: Number(flags.rate ?? usual.rate),
  rounds: Number(flags.rounds ?? usual.rounds),
};

const perSecond = 20;
const p99BarMs = 100;
const listening = 50;
/** A scan takes no longer; else the bench fails, milliseconds. */
const longestScanMs = 900_000;
/** Streams that a token may have: those of the browser are counted by what is left of them. */
const streamsPerToken = 4;
/** Pages of a scan, one tab each in turn. */
const shownPages = ['', '/hosts', '/services', '/events', '/stages'];

const results = new BenchResults('ui-clients');

/** The scan, and all others, as taskset(1) lists processors. */
const processors = { scan: '0', others: `1-${Math.max(1, availableParallelism() - 1)}` };

/** All threads of a process, and what it starts from now on, run on these only. */
function pin(pid: number, list: string): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(pid)], { stdio: 'ignore' });
}

/** What one scan showed. */
interface Round {
  /** Tried ports per second between a tenth and nine tenths of them. */
  triedPerSecond: number;
  seconds: number;
  p50: number;
  p99: number;
  slowest: number;
  /** 99th percentile by name of the request, ms. */
  p99ByName: Map<string, number>;
  /** Requests above the bar, in runs of such: when they were due, seconds, and how many. */
  late: string[];
  requests: number;
  failed: number;
  /** Of the process that reads. */
  ownDelayMs: number;
  /** Processor time of the server without the scan, and of the process of the scan, seconds. */
  serverSeconds: number;
  scanSeconds: number;
  serverMegabytes: number;
}

/** What the readers showed. */
interface Readers {
  streams: number;
  front: { page: string; busy: number }[];
  hidden: number[];
  hiddenTabs: number;
  browserBusy: number;
  clients: EventClientsReport;
}

class Bench {
  readonly #service: UiService;
  readonly #token: string;
  readonly #clientTokens: string[];
  readonly #port: number;
  #processes: ChildProcess[] = [];
  #browser: BenchBrowser | null = null;

  constructor(service: UiService, port: number, token: string, clientTokens: string[]) {
    this.#service = service;
    this.#port = port;
    this.#token = token;
    this.#clientTokens = clientTokens;
  }

  /** One scan from its first to its last packet. */
  async round(browserToken: string | null): Promise<{ round: Round; readers: Readers | null }> {
    const scanId = await this.#submitPaused();
    const browser = browserToken === null ? null : await BenchBrowser.launch(browserToken, policy);
    this.#browser = browser;
    try {
      const tabs = browser ? await this.#openTabs(browser, scanId) : [];
      const clients = browser ? await this.#openClients(scanId) : null;
      const steady = this.#fork('steady-requests.ts', this.#steadyOrder(scanId));
      const scan = this.#watch();
      await this.#service.call('POST', `/api/v1/scans/${scanId}/resume`);
      const looked = browser ? await this.#look(browser, tabs) : null;
      const streams = browserToken === null ? 0 : await this.#streamsOf(browserToken);
      await this.#untilOver(scanId);
      const busy = scan();
      const round = { ...roundOf(await reportOf<SteadyReport>(steady)), ...busy };
      const report = clients && (await reportOf<EventClientsReport>(clients));
      return { round, readers: looked && report && { ...looked, streams, clients: report } };
    } finally {
      await this.end();
    }
  }

  /** Ends what the round has started, but not the server. */
  async end(): Promise<void> {
    for (const child of this.#processes.splice(0)) child.kill('SIGKILL');
    await this.#browser?.close();
    this.#browser = null;
  }

  /** Readers are there before the first packet. */
  async #submitPaused(): Promise<string> {
    const { scan_id: scanId } = await this.#service.call<{ scan_id: string }>('POST', '/api/v1/scans', {
      targets: [size.network],
      ports: `${this.#port},${this.#port + 1}`,
      rate: size.rate,
      name: 'Loopback',
    });
    for (;;) {
      const { status } = await this.#service.call<{ status: string }>('GET', `/api/v1/scans/${scanId}`);
      if (status === 'running') break;
      await sleep(50);
    }
    await this.#service.call('POST', `/api/v1/scans/${scanId}/pause`);
    await sleep(2000);
    return scanId;
  }

  async #openTabs(browser: BenchBrowser, scanId: string): Promise<Tab[]> {
    const tabs: Tab[] = [];
    for (let number = 0; number < size.tabs; number++) {
      const page = `/scans/${scanId}${shownPages[number % shownPages.length]}`;
      const tab = await browser.open(this.#service.page(page));
      tabs.push(tab);
      await tab.untilShown('[aria-label="Parts of this scan"]');
    }
    await sleep(2000);
    return tabs;
  }

  async #openClients(scanId: string): Promise<ChildProcess> {
    const url = `${this.#service.url}/api/v1/events?scan=${scanId}`;
    const order: EventClientsOrder = { url, tokens: this.#clientTokens.slice(0, size.clients) };
    const child = this.#fork('event-clients.ts', order);
    for (let tries = 0; tries < 100; tries++) {
      await sleep(100);
      const { open, rejected } = await reportOf<EventClientsReport>(child);
      if (rejected > 0) throw new Error(`${rejected} clients were rejected`);
      if (open === size.clients) return child;
    }
    throw new Error('the clients got no stream');
  }

  #steadyOrder(scanId: string): SteadyOrder {
    const scan = `/api/v1/scans/${scanId}`;
    const paths = [
      { name: 'list of scans', path: '/api/v1/scans?limit=50' },
      { name: 'scan', path: scan },
      { name: 'page of records', path: `${scan}/records?type=host&limit=50&sort=address` },
      { name: 'facets', path: `${scan}/facets` },
    ];
    return { base: this.#service.url, token: this.#token, paths, perSecond, scanId };
  }

  #fork(file: string, order: EventClientsOrder | SteadyOrder): ChildProcess {
    const child = fork(join(import.meta.dirname, file), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#processes.push(child);
    child.send(order);
    return child;
  }

  /** @returns a function that ends it */
  #watch(): () => Pick<Round, 'serverSeconds' | 'scanSeconds' | 'serverMegabytes'> {
    const { pid } = this.#service;
    const scans = childrenOf(pid);
    if (flags.apart) for (const scan of scans) pin(scan, processors.scan);
    const seconds = (pids: number[]) => pids.reduce((sum, each) => sum + processorSecondsOf(each), 0);
    const before = { server: seconds([pid]), scan: seconds(scans) };
    let last = before;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, residentBytes(pid));
      // Of a process that has ended nothing is known.
      if (seconds(scans) >= last.scan) last = { server: seconds([pid]), scan: seconds(scans) };
    }, 200);
    return () => {
      clearInterval(timer);
      return {
        serverSeconds: last.server - before.server,
        scanSeconds: last.scan - before.scan,
        serverMegabytes: most / 1e6,
      };
    };
  }

  /** The first tabs come to the front in turn; the others are hidden all the time. */
  async #look(browser: BenchBrowser, tabs: Tab[]): Promise<Omit<Readers, 'streams' | 'clients'>> {
    const shown = tabs.slice(0, shownPages.length);
    await shown[0]?.show();
    // What a page does at first is not what it does while it is open.
    await sleep(3000);
    const others = tabs.slice(shownPages.length);
    const startedAt = performance.now();
    const cpuBefore = await browser.processorSeconds();
    const before = await Promise.all(others.map((tab) => tab.tasks()));
    const front: Readers['front'] = [];
    for (const [index, tab] of shown.entries()) {
      await tab.show();
      await sleep(1000);
      const from = await tab.tasks();
      await sleep(size.lookMs);
      front.push({ page: shownPages[index] ?? '', busy: busyShare(from, await tab.tasks()) });
    }
    const after = await Promise.all(others.map((tab) => tab.tasks()));
    const wall = (performance.now() - startedAt) / 1000;
    const browserBusy = ((await browser.processorSeconds()) - cpuBefore) / wall;
    const hidden = await Promise.all(others.map((tab) => tab.evaluate<boolean>('document.hidden')));
    return {
      front,
      hidden: after.map((to, index) => busyShare(before[index] ?? to, to)),
      hiddenTabs: hidden.filter(Boolean).length,
      browserBusy,
    };
  }

  /** Streams that a token has: it may open those that are left. */
  async #streamsOf(token: string): Promise<number> {
    const leave = new AbortController();
    let opened = 0;
    try {
      for (; opened <= streamsPerToken; opened++) {
        const headers = { authorization: `Bearer ${token}` };
        const { status } = await fetch(`${this.#service.url}/api/v1/events`, {
          headers,
          signal: leave.signal,
        });
        if (status === 429) break;
        if (status !== 200) throw new Error(`the event stream responds with ${status}`);
      }
      return streamsPerToken - opened;
    } finally {
      leave.abort();
    }
  }

  async #untilOver(scanId: string): Promise<void> {
    const giveUpAt = performance.now() + longestScanMs;
    while (performance.now() < giveUpAt) {
      const scan = await this.#service.call<{ status: string }>('GET', `/api/v1/scans/${scanId}`);
      if (scan.status === 'completed') return;
      if (scan.status === 'failed') throw new Error(JSON.stringify(scan));
      await sleep(500);
    }
    throw new Error('the scan does not end');
  }
}

/** Share of the time in which a main thread was busy. */
function busyShare(from: Tasks, to: Tasks): number {
  return (to.busy - from.busy) / (to.at - from.at);
}

/** Processor time of a process so far, seconds (proc_pid_stat(5), fields 14 and 15); 0 when it has ended. */
function processorSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

async function reportOf<T>(child: ChildProcess): Promise<T> {
  child.send('report');
  const [report] = (await once(child, 'message')) as [T];
  return report;
}

function roundOf({
  readings,
  samples,
  ownDelayMs,
}: SteadyReport): Omit<Round, 'serverSeconds' | 'scanSeconds' | 'serverMegabytes'> {
  const times = readings.map(({ ms }) => ms);
  const at = (share: number) => percentile(times, share);
  const byName = Map.groupBy(readings, ({ name }) => name);
  const p99ByName = [...byName].map(([name, all]): [string, number] => [
    name,
    percentile(
      all.map(({ ms }) => ms),
      0.99,
    ),
  ]);
  const running = samples.filter(({ status }) => status === 'running');
  return {
    triedPerSecond: rateOf(running),
    seconds: ((running.at(-1)?.at ?? 0) - (running[0]?.at ?? 0)) / 1000,
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
    p99ByName: new Map(p99ByName),
    late: runsOfLate(readings),
    requests: readings.length,
    failed: readings.filter(({ status }) => status !== 200).length,
    ownDelayMs: ownDelayMs.p99,
  };
}

/** Requests above the bar with less than a second between them. */
function runsOfLate(readings: SteadyReport['readings']): string[] {
  const late = readings.filter(({ ms }) => ms > p99BarMs).toSorted((a, b) => a.dueMs - b.dueMs);
  const runs: { from: number; to: number; count: number }[] = [];
  for (const { dueMs } of late) {
    const last = runs.at(-1);
    if (last && dueMs - last.to < 1000) Object.assign(last, { to: dueMs, count: last.count + 1 });
    else runs.push({ from: dueMs, to: dueMs, count: 1 });
  }
  return runs.map(
    ({ from, to, count }) => `${(from / 1000).toFixed(1)}-${(to / 1000).toFixed(1)} s: ${count}`,
  );
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Between a tenth and nine tenths, so that start and end do not count. */
function rateOf(samples: ScanSample[]): number {
  const all = Math.max(...samples.map(({ tried }) => tried));
  const from = samples.find(({ tried }) => tried >= all / 10);
  const to = samples.findLast(({ tried }) => tried <= (all * 9) / 10);
  if (!from || !to || to.at <= from.at) return Number.NaN;
  return ((to.tried - from.tried) * 1000) / (to.at - from.at);
}

/** @returns the port on which each of some addresses of the network responds */
async function listen(): Promise<{ servers: Server[]; port: number }> {
  const servers: Server[] = [];
  let port = 0;
  for (let number = 0; number < listening; number++) {
    const host = `127.1.${(number * 5) % 16}.${1 + ((number * 37) % 254)}`;
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((done) => server.listen(port, host, done));
    port = (server.address() as { port: number }).port;
    servers.push(server);
  }
  return { servers, port };
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function printRound(name: string, round: Round): void {
  const { triedPerSecond, seconds, p50, p99, slowest, requests, failed } = round;
  const cells = [
    name,
    triedPerSecond.toFixed(0),
    seconds.toFixed(1),
    `${p50.toFixed(1)}, **${p99.toFixed(1)}**, ${slowest.toFixed(0)}`,
    `${requests}, ${failed}`,
    round.ownDelayMs.toFixed(0),
    `${round.serverSeconds.toFixed(1)}, ${round.scanSeconds.toFixed(1)}`,
    round.serverMegabytes.toFixed(0),
  ];
  results.print(`| ${cells.join(' | ')} |`);
}

function printReaders(rounds: Readers[], without: Round[], withReaders: Round[]): void {
  const [before, after] = [without, withReaders].map((all) => mean(all.map((one) => one.triedPerSecond)));
  results.print();
  results.print('| | measured | bar |');
  results.print('|---|---|---|');
  results.print(
    `| scan with readers against without | ${percent((after ?? 0) / (before ?? 1) - 1)} | loses <= 5 % |`,
  );
  results.print(
    `| p99 of the API with readers | ${Math.max(...withReaders.map(({ p99 }) => p99)).toFixed(1)} ms | <= ${p99BarMs} ms |`,
  );
  for (const [number, { p99ByName, late }] of withReaders.entries()) {
    results.print(`| above ${p99BarMs} ms, round ${number + 1}, when due | ${late.join('; ') || 'none'} | |`);
    const names = [...p99ByName].map(([name, ms]) => `${name} ${ms.toFixed(0)}`);
    results.print(`| p99 by request, round ${number + 1}, ms | ${names.join(', ')} | |`);
  }
  for (const [index, page] of shownPages.entries()) {
    const shares = rounds.map(({ front }) => percent(front[index]?.busy ?? Number.NaN));
    results.print(
      `| main thread of the tab in front, ${page.slice(1) || 'overview'} | ${shares.join(', ')} | <= 20 % |`,
    );
  }
  for (const { hidden, hiddenTabs, streams, browserBusy, clients } of rounds) {
    if (hidden.length > 0)
      results.print(
        `| main threads of ${hiddenTabs} hidden tabs: mean, most | ${percent(mean(hidden))}, ${percent(Math.max(...hidden))} | <= 20 % |`,
      );
    results.print(`| event streams of the browser | ${streams} | 1 |`);
    results.print(
      `| processor time of all processes of the browser | ${percent(browserBusy)} of one processor | |`,
    );
    const { events, bytes, rejected } = clients;
    results.print(
      `| events of the ${size.clients} clients, MB, rejected | ${events.toLocaleString('en')}, ${(bytes / 1e6).toFixed(0)}, ${rejected} | 0 rejected |`,
    );
  }
}

await buildUi();
if (flags.apart) pin(process.pid, processors.others);
const { servers, port } = await listen();
const service = await UiService.start({
  auth: true,
  env: { SERVICE_SERVER__STREAMS__PER_TOKEN: String(streamsPerToken), SERVICE_SERVER__STREAMS__TOTAL: '200' },
});
let bench: Bench | null = null;
const end = async () => {
  await bench?.end();
  await service.dispose();
  for (const listener of servers) listener.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(1)));
try {
  const token = await service.token('scan:read');
  const clientTokens: string[] = [];
  for (let client = 0; client < size.clients; client++) clientTokens.push(await service.token('scan:read'));
  bench = new Bench(service, port, token, clientTokens);
  results.printOrigin(
    `${size.network}, two ports, rate ${size.rate}; ${size.tabs} tabs, ${size.clients} clients, browser ${policy}${flags.apart ? ', scan apart' : ''}`,
  );
  results.print(
    '| | ports tried/s | scan, s | API: median, p99, slowest, ms | requests, failed | delay of their process, p99, ms | processor time of server, scan process, s | memory of both, MB |',
  );
  results.print('|---|---|---|---|---|---|---|---|');
  const without: Round[] = [];
  const withReaders: Round[] = [];
  const readers: Readers[] = [];
  for (let number = 1; number <= size.rounds; number++) {
    const alone = await bench.round(null);
    without.push(alone.round);
    printRound(`${number}, without readers`, alone.round);
    const read = await bench.round(await service.token('scan:read'));
    withReaders.push(read.round);
    printRound(`${number}, with readers`, read.round);
    if (read.readers) readers.push(read.readers);
  }
  printReaders(readers, without, withReaders);
  if (flags.write) results.write();
} finally {
  await end();
}
