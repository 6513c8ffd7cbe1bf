/**
 * The Web UI in one Chromium: `npm run bench:ui [-- --small] [-- --hosts 60000] [-- --write]`.
 *
 *   first load   what it transfers, and when the first page can be used; without a cache, five times
 *   large scan   its tables with 1,000,000 records: scrolling, filters, memory of tab and server
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type SyntheticScan, syntheticPresets } from '../src/report/fixtures/synthetic-scan.ts';
import type { ReportFacts } from '../src/report/report-facts.ts';
import { browserFile, browserObstacle } from '../test/browser/chromium.ts';
import { UiService } from '../test/browser/ui/ui-service.ts';
import { residentBytes, root } from '../test/program.ts';
import { buildUi } from '../ui/build-ui.ts';
import { BenchResults } from './bench-results.ts';
import { largeScan } from './large-scan.ts';

const { values: flags } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    hosts: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const hosts = Number(flags.hosts ?? (flags.small ? 2000 : 60_000));
const loads = 5;
const scrollRuns = 3;
/** In each of them. */
const jumps = 60;
const wheels = 120;
/** Each filter, the first time included. */
const filterRuns = 4;
/** A browser tidies up when nothing happens, milliseconds. */
const restMs = 30_000;
/** The index of a million records is built at the first request, milliseconds. */
const longestWaitMs = 600_000;

const results = new BenchResults('ui');
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** In the page: long tasks, and when a heading is there for the first time. */
const watchPage = `
  globalThis.bench = { tasks: [], headingAt: null };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  (function look() {
    if (document.querySelector('h1') === null) requestAnimationFrame(look);
    else bench.headingAt = performance.now();
  })();
`;

interface LongTask {
  startTime: number;
  duration: number;
}

async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' });
  context.setDefaultTimeout(longestWaitMs);
  await context.addInitScript(watchPage);
  return context;
}

/** Waits until an expression is true. */
async function until(page: Page, expression: string): Promise<void> {
  const giveUpAt = performance.now() + longestWaitMs;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > giveUpAt) throw new Error(`it never holds: ${expression}`);
    await sleep(20);
  }
}

/** Milliseconds until the heading is there and no long task follows for a second. */
async function interactiveMs(page: Page): Promise<number> {
  await until(page, 'bench.headingAt !== null');
  for (;;) {
    const { headingAt, tasks, now } = (await page.evaluate('({ ...bench, now: performance.now() })')) as {
      headingAt: number;
      tasks: LongTask[];
      now: number;
    };
    const ends = tasks.map(({ startTime, duration }) => startTime + duration);
    const at = Math.max(headingAt, ...ends);
    if (now - at > 1000) return at;
    await sleep(200);
  }
}

/** The server of the measurement that runs. */
let running: UiService | null = null;

async function withServer(scan: SyntheticScan, use: (service: UiService) => Promise<void>): Promise<void> {
  running = await UiService.start({ recorded: [scan] });
  await use(running);
  await running.dispose();
}

async function firstLoad(browser: Browser, service: UiService): Promise<void> {
  const times: number[] = [];
  let files: string[] = [];
  for (let load = 0; load < loads; load++) {
    const context = await newContext(browser);
    const page = await context.newPage();
    files = [];
    page.on('response', (response) => files.push(new URL(response.url()).pathname));
    await page.goto(service.page('/'));
    times.push(await interactiveMs(page));
    await context.close();
  }
  printFirstLoad(times, files);
}

function printFirstLoad(times: number[], files: string[]): void {
  const assets = files
    .filter((path) => /\/assets\/.*\.(?:js|css)$/.test(path))
    .map((path) => path.replace(/.*\//, ''));
  const page = readFileSync(join(root, 'dist/ui/index.html'), 'utf8');
  const first = assets.filter((name) => page.includes(name));
  const bytes = (names: string[]) => names.reduce((sum, name) => sum + gzipBytes(name), 0);
  const kilobytes = (names: string[]) => `${(bytes(names) / 1000).toFixed(0)} kB`;
  results.print('| first load, nothing cached | measured | bar |');
  results.print('|---|---|---|');
  results.print(`| scripts and styles before the first page, gzip | ${kilobytes(first)} | 200 kB |`);
  results.print(
    `| all scripts and styles of the dashboard, gzip | ${kilobytes(assets)} in ${assets.length} files | |`,
  );
  const all = times.map((ms) => ms.toFixed(0)).join(', ');
  results.print(
    `| can be used after, median of ${times.length} | **${median(times).toFixed(0)} ms** (${all}) | 1000 ms |`,
  );
  results.print();
}

function gzipBytes(name: string): number {
  const file = join(root, 'dist/ui/assets', name);
  return existsSync(`${file}.gz`) ? statSync(`${file}.gz`).size : gzipSync(readFileSync(file)).length;
}

async function largeTables(browser: Browser, service: UiService, facts: ReportFacts): Promise<void> {
  const { scan_id: scanId, summary } = facts;
  const { live_hosts, open_ports, vulnerabilities } = summary;
  for (let read = 0; read < 20; read++) await service.call('GET', '/api/v1/scans');
  await sleep(3000);
  const before = residentBytes(service.pid);
  const most = watchMemory(service.pid);
  const page = await (await newContext(browser)).newPage();
  const openedAt = performance.now();
  await page.goto(service.page(`/scans/${scanId}/services`));
  await untilRows(page);
  const openedSeconds = ((performance.now() - openedAt) / 1000).toFixed(1);
  await untilIndexed(service, scanId);
  const builtSeconds = ((performance.now() - openedAt) / 1000).toFixed(1);
  await untilRows(page);
  const whileBuilt = most();
  const records = (live_hosts + open_ports + vulnerabilities).toLocaleString('en');
  results.print(`${records} records, ${open_ports.toLocaleString('en')} of them in the table of services.`);
  results.print(`Its first rows came after ${openedSeconds} s; the index was built after ${builtSeconds} s.`);
  results.print();
  results.print('| large scan | measured | bar |');
  results.print('|---|---|---|');
  await filters(page, texts, ', before its index stands', 1000);
  await scrolling(page);
  await scrollingTraced(browser, page);
  await filters(page, fields, '', 300);
  await untilSearchable(service, scanId);
  await filters(page, texts, '', 300);
  await tabMemory(browser, page);
  await sleep(3000);
  const after = residentBytes(service.pid);
  const sizes = [before, whileBuilt, most(), after].map(megabytes).join(', ');
  results.print(
    `| memory of the server: before, most while the index was built, most, at the end | ${sizes} | |`,
  );
  results.print(`| the same at the end against before | **+ ${megabytes(after - before)}** | + 100 MB |`);
}

/** @returns a function that states the most so far, bytes */
function watchMemory(pid: number): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 200);
  timer.unref();
  return () => most;
}

async function untilRows(page: Page): Promise<void> {
  await page.locator('[role=grid]:not([aria-busy]) [data-row="0"]:not([aria-busy])').waitFor();
}

const fields = ['product:nginx', 'port:443 severity:>=high', 'host:10.20.3.0/24'];
const texts = ['"session 15838"', 'server'];

/** Puts each filter into the bar, Enter, until its first rows are drawn; takes it back by the browser's button. */
async function filters(page: Page, chosen: string[], when: string, barMs: number): Promise<void> {
  for (const text of chosen) {
    const runs: FilterRun[] = [];
    for (let run = 0; run < filterRuns; run++) runs.push(await runFilter(page, text));
    const firstAndMedian = (value: (run: FilterRun) => number) => {
      const [first = Number.NaN, ...further] = runs.map(value);
      return `${first.toFixed(0)}, ${median(further).toFixed(0)}`;
    };
    const parts = [firstAndMedian((run) => run.sentMs), firstAndMedian((run) => run.receivedMs)];
    results.print(
      `| filter \`${text}\` to first rows${when}: first, median of ${runs.length - 1} more (request sent; received) | ${firstAndMedian((run) => run.drawnMs)} ms (${parts.join('; ')}) | ${barMs} ms |`,
    );
  }
}

/** Milliseconds after the key. */
interface FilterRun {
  sentMs: number;
  receivedMs: number;
  drawnMs: number;
}

async function runFilter(page: Page, text: string): Promise<FilterRun> {
  await page.locator('[data-filter]').fill(text);
  // The values that complete it are not part of the filter.
  await sleep(500);
  // The browser stores 250 requests and no more.
  await page.evaluate('performance.clearResourceTimings()');
  await page.evaluate(watchFilter);
  await page.keyboard.press('Enter');
  const run = (await page.evaluate('bench.filtered')) as FilterRun;
  await page.evaluate('bench.before = document.querySelector("[role=grid]").getAttribute("aria-rowcount")');
  await page.goBack();
  await until(page, 'document.querySelector("[role=grid]")?.getAttribute("aria-rowcount") !== bench.before');
  await untilRows(page);
  return run;
}

/** From the key to the frame after the one in which rows of another number are there. */
const watchFilter = `
  bench.filtered = new Promise((resolve) => {
    const grid = () => document.querySelector('[role=grid]');
    const before = grid().getAttribute('aria-rowcount');
    const isThere = () =>
      grid() !== null && grid().getAttribute('aria-rowcount') !== before && !grid().hasAttribute('aria-busy') &&
      grid().querySelector('[data-row="0"]:not([aria-busy])') !== null;
    addEventListener('keydown', () => {
      const startedAt = performance.now();
      const drawn = () => {
        const drawnMs = performance.now() - startedAt;
        const request = performance
          .getEntriesByType('resource')
          .findLast(({ name, startTime }) => startTime >= startedAt && name.includes('/records?'));
        const { startTime = NaN, responseEnd = NaN } = request ?? {};
        resolve({ drawnMs, sentMs: startTime - startedAt, receivedMs: responseEnd - startedAt });
      };
      const look = () => requestAnimationFrame(isThere() ? drawn : look);
      look();
    }, { capture: true, once: true });
  });
  0
`;

/** Jumps over the whole table, and turns of the wheel in it. */
async function scrolling(page: Page): Promise<void> {
  const runs: { long: number; longest: number; mostRows: number }[] = [];
  for (let run = 0; run < scrollRuns; run++) {
    await page.evaluate('bench.tasks.length = 0');
    const mostRows = await scroll(page, run);
    await sleep(500);
    const tasks = (await page.evaluate('bench.tasks')) as LongTask[];
    const durations = tasks.map(({ duration }) => duration);
    runs.push({ long: durations.length, longest: Math.max(0, ...durations), mostRows });
  }
  const each = runs.map(({ longest }) => (longest === 0 ? 'none' : longest.toFixed(0))).join(', ');
  const longest = Math.max(...runs.map((run) => run.longest));
  results.print(
    `| longest task while scrolling, ${scrollRuns} runs of ${jumps} jumps and ${wheels} turns of the wheel; each run | **${longest === 0 ? 'none above 50' : longest.toFixed(0)} ms** (${each}) | 100 ms |`,
  );
  results.print(
    `| tasks above 50 ms in these runs; most rows in the page | ${runs.map(({ long }) => long).join(', ')}; ${Math.max(...runs.map((run) => run.mostRows))} | |`,
  );
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  args?: { name?: string };
  /** Processor time, microseconds. */
  tdur?: number;
}

/** The same once more with a trace: what a task takes by itself, whatever else runs on the machine. */
async function scrollingTraced(browser: Browser, page: Page): Promise<void> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await scroll(page, 0);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const main = new Set(
    traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map((event) => threadOf(event)),
  );
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && main.has(threadOf(event)));
  const longest = tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
  results.print(
    `| processor time of the longest task in one more run, of ${tasks.length.toLocaleString('en')} tasks | ${longest.toFixed(0)} ms | |`,
  );
}

/** @returns most rows that were in the page */
async function scroll(page: Page, run: number): Promise<number> {
  let most = 0;
  for (let jump = 0; jump < jumps; jump++) {
    const place = ((jump * 37 + run * 11) % jumps) / jumps;
    await page.evaluate(
      `(() => { ${findScroller} scroller.scrollTop = scroller.scrollHeight * ${place}; })()`,
    );
    most = Math.max(most, await page.locator('[data-row]').count());
  }
  await page.getByRole('grid').hover();
  for (let turn = 0; turn < wheels; turn++) await page.mouse.wheel(0, 240);
  most = Math.max(most, await page.locator('[data-row]').count());
  await page.evaluate(`(() => { ${findScroller} scroller.scrollTop = 0; })()`);
  await untilRows(page);
  return most;
}

const findScroller = `
  let scroller = document.querySelector('[role=grid]');
  while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement;
  scroller ??= document.scrollingElement;
`;

/** Waits until a page of records no longer comes from a part of them. */
async function untilIndexed(service: UiService, scanId: string): Promise<void> {
  const path = `/api/v1/scans/${scanId}/records?type=port&limit=1`;
  const giveUpAt = performance.now() + longestWaitMs;
  for (;;) {
    const { index_share: share } = await service.call<{ index_share?: number }>('GET', path);
    if (share === undefined) return;
    if (performance.now() > giveUpAt) throw new Error('the index is not built');
    await sleep(1000);
  }
}

/** Waits until a rare text is found quickly several times in a row: then its index stands. */
async function untilSearchable(service: UiService, scanId: string): Promise<void> {
  const giveUpAt = performance.now() + longestWaitMs;
  for (let fast = 0; fast < 3; ) {
    const q = encodeURIComponent(`"session ${fast + 10_007} "`);
    const startedAt = performance.now();
    await service.call('GET', `/api/v1/scans/${scanId}/records?type=port&limit=1&q=${q}`);
    fast = performance.now() - startedAt < 100 ? fast + 1 : 0;
    if (performance.now() > giveUpAt) throw new Error('the search for text does not become fast');
    await sleep(flags.small ? 500 : 3000);
  }
}

/** Of the process of the page: at once, after some rest, and after what nobody uses any more is collected. */
async function tabMemory(browser: Browser, page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const system = await browser.newBrowserCDPSession();
  const look = async (when: string) => {
    const { metrics } = await session.send('Performance.getMetrics');
    const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
    const { processInfo } = await system.send('SystemInfo.getProcessInfo');
    const tabs = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => memoryOf(id));
    // The others are the worker and a spare one.
    const tab = tabs.toSorted((a, b) => b.own - a.own)[0] ?? { resident: Number.NaN, own: Number.NaN };
    const { resident, own } = tab;
    results.print(
      `| memory of the tab ${when}: its own, with what it shares with other processes, JavaScript heap | **${megabytes(own)}**, ${megabytes(resident)}, ${megabytes(heap)} | 300 MB |`,
    );
  };
  await look('after all of this');
  await sleep(restMs);
  await look(`${restMs / 1000} s later`);
  await session.send('HeapProfiler.collectGarbage');
  await sleep(1000);
  await look('after a garbage collection');
}

/** Resident memory of a process, and the part of it that it shares with no other, bytes (proc_pid_smaps(5)). */
function memoryOf(pid: number): { resident: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { resident: bytes('Rss'), own: bytes('Private_Clean') + bytes('Private_Dirty') };
}

const obstacle = browserObstacle();
if (obstacle !== null) throw new Error(obstacle);
await buildUi();
// Its own sandbox cannot be built by root.
const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: browserFile, args: [...sandbox, '--disable-gpu'] });
const end = async () => {
  await running?.dispose();
  await browser.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(1)));
try {
  results.printOrigin('one Chromium, 1280 pixels wide');
  await withServer(syntheticPresets.office(), (service) => firstLoad(browser, service));
  const scan = largeScan(hosts);
  await withServer(scan, (service) => largeTables(browser, service, scan.facts));
  if (flags.write) results.write();
} finally {
  await end();
}
