/**
 * What a command costs beside its work: `npm run bench:start [-- --against OTHER/bin/portolan] [-- --rounds N] [-- --write]`. Each round
 * runs every command once, beside the bare Node.js and nmap; medians, so that whatever else runs slows all of them alike.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    against: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(flags.rounds);

interface Run {
  /** Of the whole process. */
  ms: number;
  /** Of it and its children, in steps of 10 ms. */
  cpuMs: number;
  /** Without the scan itself, `started_at` to `completed_at`; for scans only. */
  besideMs?: number;
}

interface Row {
  name: string;
  words: string[];
  /** Workspace of a scan. */
  workspace?: string;
  /** Most of its time, or of its time beside the scan, as a multiple of what the empty program takes. */
  bar?: number;
}

const folder = mkdtempSync(join(tmpdir(), 'portolan-start-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' };

function rowsOf(name: string, launcher: string): Row[] {
  const workspace = join(folder, name.replace(/\W/g, '-'));
  const scan = ['scan', '127.0.0.1', '-p', 'quick', '--format', 'json', '--workspace-dir', workspace];
  return [
    { name: `${name} --version`, words: [launcher, '--version'], bar: 0.3 },
    { name: `${name} --help`, words: [launcher, '--help'], bar: 2 },
    { name: `${name} version`, words: [launcher, 'version'] },
    { name: `${name} scan 127.0.0.1 -p quick`, words: [launcher, ...scan], workspace, bar: 6 },
  ];
}

const peer = ['nmap', '-n', '-T5', '-F', '127.0.0.1'];
const hasNmap = spawnSync(peer[0] ?? '', ['--version']).status === 0;
if (!hasNmap) console.log('without nmap, which is not installed');
const rows: Row[] = [
  { name: 'Node.js 24 with an empty program', words: [process.execPath, '-e', '0'] },
  ...rowsOf('portolan', resolve(import.meta.dirname, '../bin/portolan')),
  ...(flags.against === undefined ? [] : rowsOf('before: portolan', resolve(flags.against))),
  ...(hasNmap ? [{ name: peer.join(' '), words: peer }] : []),
];

async function run({ name, words: [program = '', ...args], workspace }: Row): Promise<Run> {
  const cpuBefore = childrenCpuMs();
  const startedAt = performance.now();
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  const ms = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  const spent = { ms, cpuMs: childrenCpuMs() - cpuBefore };
  return workspace === undefined ? spent : { ...spent, besideMs: ms - lastScanMs(workspace) };
}

function lastScanMs(workspace: string): number {
  const scans = join(workspace, 'scans');
  const last = readdirSync(scans).sort().at(-1) ?? '';
  const status = JSON.parse(readFileSync(join(scans, last, 'status.json'), 'utf8')) as {
    started_at: string;
    completed_at: string;
  };
  // The next scan must not be mistaken for this one within the same second.
  rmSync(join(scans, last), { recursive: true });
  return Date.parse(status.completed_at) - Date.parse(status.started_at);
}

/** Processor time of all children that have ended, and of theirs (proc_pid_stat(5), fields 16 and 17). */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
}

const runs = new Map<Row, Run[]>(rows.map((row) => [row, []]));
// The first run of each fills caches: those of the disk, and that of compiled code.
for (const row of rows) await run(row);
for (let round = 0; round < rounds; round++) {
  for (const row of rows) runs.get(row)?.push(await run(row));
}
const cpuOf = (row: Row) => {
  const each = runs.get(row) ?? [];
  return each.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / each.length;
};
const timeOf = (row: Row) => median((runs.get(row) ?? []).map(({ ms }) => ms));
const besideOf = (row: Row) =>
  row.workspace === undefined ? null : median((runs.get(row) ?? []).map(({ besideMs = 0 }) => besideMs));
const [empty] = rows;
const emptyMs = empty ? timeOf(empty) : Number.NaN;
const emptyCpu = empty ? cpuOf(empty) : Number.NaN;
const lines = rows.map((row) => {
  const beside = besideOf(row);
  const ratio = (beside ?? timeOf(row)) / emptyMs;
  const cells = [
    row.name,
    timeOf(row).toFixed(0),
    beside?.toFixed(0) ?? '',
    ratio.toFixed(1),
    row.bar === undefined ? '' : `<= ${row.bar}`,
    cpuOf(row).toFixed(0),
    (cpuOf(row) / emptyCpu).toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
});
const table = [
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.versions.node}, ${rounds} rounds, load ${loadavg()[0]?.toFixed(0)}.`,
  '',
  '| command | time, ms | beside the scan, ms | as a multiple of the empty program | bar | CPU, ms | CPU, multiple |',
  '|---|---|---|---|---|---|---|',
  ...lines,
  '',
].join('\n');
console.log(`\n${table}`);
if (flags.write) {
  const file = join(import.meta.dirname, 'README.md');
  const marks = /(<!-- start: figures begin -->\n)[^]*?(<!-- start: figures end -->)/;
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marks, (_, begin: string, end: string) => `${begin}${table}${end}`),
  );
}
