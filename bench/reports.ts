/**
 * Reports for people: `npm run bench:reports [-- --formats html,pdf] [-- --jobs render,growth,browser,api] [-- --write]`.
 *
 *   render   each preset as each format by `portolan workspace export`, the whole command in a process of its own
 *   growth   the same with 100, 1,000 and 5,000 hosts: memory must not grow with them
 *   browser  the HTML reports in Chromium: load, time of its main thread, sheets of paper
 *   api      latencies of a server while it renders a report of 20,000 findings
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import {
  type SyntheticScan,
  syntheticPresets,
  syntheticScan,
} from '../src/report/fixtures/synthetic-scan.ts';
import { browserFile, browserObstacle } from '../test/browser/chromium.ts';
import { ServerProcess } from '../test/program.ts';
import { recordScans } from '../test/recorded-scan.ts';

const { values: flags } = parseArgs({
  options: {
    formats: { type: 'string', default: 'html,pdf,markdown' },
    jobs: { type: 'string', default: 'render,growth,browser,api' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const formats = flags.formats.split(',');
const jobs = new Set(flags.jobs.split(','));
const rounds = Number(flags.rounds);

const launcher = resolve(import.meta.dirname, '../bin/portolan');
const folder = mkdtempSync(join(tmpdir(), 'portolan-reports-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Between two looks at the memory of a process, milliseconds. */
const lookMs = 10;

interface Cost {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  bytes: number;
}

/** A scan in a workspace of its own. */
interface Recorded {
  name: string;
  workspace: string;
  scanId: string;
  findings: number;
  hosts: number;
}

const lines: string[] = [];

function print(line = ''): void {
  lines.push(line);
  console.log(line);
}

async function recorded(name: string, scan: SyntheticScan): Promise<Recorded> {
  const workspace = join(folder, name);
  await recordScans(workspace, [scan]);
  const { live_hosts: hosts, vulnerabilities: findings } = scan.facts.summary;
  return { name, workspace, scanId: scan.facts.scan_id, findings, hosts };
}

function exportFile({ name }: Recorded, format: string): string {
  return join(folder, `${name}.${format === 'markdown' ? 'md' : format}`);
}

/** The cheapest round of several: whatever else runs only adds. */
async function costOf(scan: Recorded, format: string): Promise<Cost> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) costs.push(await exportOnce(scan, format));
  return costs.reduce((best, cost) => (cost.seconds < best.seconds ? cost : best));
}

async function exportOnce(scan: Recorded, format: string): Promise<Cost> {
  const file = exportFile(scan, format);
  const words = ['workspace', 'export', scan.scanId, '--format', format, '-o', file];
  const log = openSync(join(folder, 'errors.txt'), 'w');
  const cpuBefore = childrenCpuSeconds();
  const startedAt = performance.now();
  const child = spawn(launcher, [...words, '--workspace-dir', scan.workspace], {
    stdio: ['ignore', 'ignore', log],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const peakBytes = await peakOf(child, ended);
  const [code] = await ended;
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(log);
  if (code !== 0)
    throw new Error(
      `export as ${format} ended with ${code}: ${readFileSync(join(folder, 'errors.txt'), 'utf8')}`,
    );
  return { seconds, cpuSeconds: childrenCpuSeconds() - cpuBefore, peakBytes, bytes: statSync(file).size };
}

/** Most memory that a process had (proc_pid_status(5), VmHWM), until it ends. */
async function peakOf(child: ChildProcess, ended: Promise<unknown>): Promise<number> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  let peak = 0;
  while (!isOver) {
    peak = Math.max(peak, highWaterBytes(child.pid ?? 0));
    await sleep(lookMs);
  }
  return peak;
}

function highWaterBytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Processor time of all children that have ended, and of theirs (proc_pid_stat(5), fields 16 and 17). */
function childrenCpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

const megabytes = (bytes: number) =>
  bytes < 1e6 ? (bytes / 1e6).toFixed(2) : String(Math.round(bytes / 1e6));
const costCells = ({ seconds, cpuSeconds, peakBytes, bytes }: Cost) =>
  `${seconds.toFixed(2)} | ${cpuSeconds.toFixed(2)} | ${megabytes(peakBytes)} | ${megabytes(bytes)}`;

const ten = () => syntheticScan({ seed: 10, hosts: 5, findings: 10 });

const bars: Record<string, string> = {
  'html thousand': '5 s, 200 MB',
  'pdf thousand': '20 s, 400 MB',
  'html dense': '5 s, 200 MB',
  'pdf ten': '0.5 s',
};

async function render(): Promise<void> {
  print('| scan | hosts, findings | format | time, s | CPU, s | most memory, MB | file, MB | bar |');
  print('|---|---|---|---|---|---|---|---|');
  const scans = {
    empty: syntheticPresets.empty,
    ten,
    office: syntheticPresets.office,
    print127: syntheticPresets.print127,
  };
  const large = {
    hostile: syntheticPresets.hostile,
    thousand: syntheticPresets.thousand,
    dense: syntheticPresets.dense,
  };
  for (const [name, make] of Object.entries({ ...scans, ...large })) {
    const scan = await recorded(name, make());
    for (const format of formats) {
      const bar = bars[`${format} ${name}`] ?? '';
      const cells = costCells(await costOf(scan, format));
      print(`| ${name} | ${scan.hosts}, ${scan.findings} | ${format} | ${cells} | ${bar} |`);
    }
  }
}

async function growth(): Promise<void> {
  print('| hosts, findings | format | time, s | CPU, s | most memory, MB | file, MB |');
  print('|---|---|---|---|---|---|');
  for (const hosts of [100, 1000, 5000]) {
    const findings = hosts * 20;
    const options = {
      seed: hosts,
      hosts,
      servicesPerHost: 8,
      findings,
      kinds: 312,
      networks: Math.ceil(hosts / 100),
    };
    const scan = await recorded(`growth-${hosts}`, syntheticScan(options));
    for (const format of formats) {
      const { seconds, cpuSeconds, peakBytes, bytes } = await exportOnce(scan, format);
      print(
        `| ${hosts}, ${findings} | ${format} | ${costCells({ seconds, cpuSeconds, peakBytes, bytes })} |`,
      );
    }
    rmSync(scan.workspace, { recursive: true });
  }
}

/** The little of a page that is used here; the types of browsers are not part of this program. */
interface PageGlobals {
  document: {
    documentElement: { scrollHeight: number };
    querySelectorAll(selector: string): { length: number };
  };
}

async function browse(): Promise<void> {
  const obstacle = browserObstacle();
  if (obstacle !== null) return print(`Not measured in a browser: ${obstacle}`);
  print('| HTML of | load event, s | main thread, s | nodes | height, px | sheets of A4 | bar |');
  print('|---|---|---|---|---|---|---|');
  const browser = await chromium.launch({
    executablePath: browserFile,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const { office, print127, thousand, dense } = syntheticPresets;
    for (const [name, make] of Object.entries({ office, print127, thousand, dense })) {
      const scan = await recorded(`browser-${name}`, make());
      await exportOnce(scan, 'html');
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      const startedAt = performance.now();
      await page.goto(pathToFileURL(exportFile(scan, 'html')).href, { waitUntil: 'load', timeout: 120_000 });
      const seconds = (performance.now() - startedAt) / 1000;
      const { metrics } = await session.send('Performance.getMetrics');
      const busy = metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? Number.NaN;
      const { nodes, height } = await page.evaluate(() => {
        const { document } = globalThis as unknown as PageGlobals;
        return {
          nodes: document.querySelectorAll('*').length,
          height: document.documentElement.scrollHeight,
        };
      });
      const isSmall = name === 'office' || name === 'print127';
      const sheets = isSmall ? pagesOf(await page.pdf({ format: 'A4' })) : '';
      const bar = isSmall ? (name === 'print127' ? '8 sheets' : '') : '3 s';
      print(
        `| ${name} | ${seconds.toFixed(2)} | ${busy.toFixed(2)} | ${nodes} | ${height} | ${sheets} | ${bar} |`,
      );
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

function pagesOf(pdf: Buffer): number {
  return [...pdf.toString('latin1').matchAll(/\/Type\s{0,3}\/Page\b/g)].length;
}

/** Latencies of one client that asks again as soon as it has its response, until the work is done. */
async function latencies(url: string, work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    const response = await fetch(url);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
    times.push(performance.now() - startedAt);
    await sleep(2);
  }
  return times.sort((a, b) => a - b);
}

async function api(): Promise<void> {
  const server = new ServerProcess({ env: { SERVICE_LOG_LEVEL: 'warn' } });
  try {
    const scan = syntheticPresets.thousand();
    await recordScans(server.workspace, [scan]);
    await server.start();
    const { scan_id } = scan.facts;
    print('| while the server | path | requests | median, ms | p99, ms | slowest, ms | bar |');
    print('|---|---|---|---|---|---|---|');
    for (const path of ['/api/v1/health', `/api/v1/scans/${scan_id}`]) {
      const name = path.replace(scan_id, '{id}');
      const works: [string, () => Promise<unknown>][] = [['is idle', () => sleep(3000)]];
      for (const format of formats) {
        const exported = `${server.url}/api/v1/workspace/scans/${scan_id}/export?format=${format}`;
        works.push([`exports ${format}`, () => download(exported)]);
      }
      for (const [what, work] of works) {
        const times = await latencies(`${server.url}${path}`, work());
        const at = (part: number) => (times[Math.floor(part * (times.length - 1))] ?? Number.NaN).toFixed(1);
        print(`| ${what} | ${name} | ${times.length} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | 100 ms |`);
      }
    }
  } finally {
    await server.dispose();
  }
}

/** In a process of its own, so that its work does not delay the client. */
async function download(url: string): Promise<void> {
  const child = spawn(
    'curl',
    ['--silent', '--show-error', '--fail', '--output', join(folder, 'download'), url],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const errors = text(child.stderr);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${url}: ${await errors}`);
}

print(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.versions.node}, best of ${rounds} rounds.`,
);
const all: Record<string, () => Promise<void>> = { render, growth, browser: browse, api };
for (const [name, job] of Object.entries(all)) {
  if (!jobs.has(name)) continue;
  print();
  await job();
}
if (flags.write) {
  const file = join(import.meta.dirname, 'README.md');
  const marks = /(<!-- reports: figures begin -->\n)[^]*?(<!-- reports: figures end -->)/;
  const table = `${lines.join('\n')}\n`;
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marks, (_, begin: string, end: string) => `${begin}${table}${end}`),
  );
}
