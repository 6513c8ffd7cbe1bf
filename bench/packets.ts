/**
 * Portolan's raw packets beside nmap, masscan, zmap and arp-scan, in a network of its own (bench/netlab.ts), in turns
 * within one run. Needs root, Linux and the Debian packages that `--setup` installs.
 *
 *   npm run bench:packets -- --setup
 *   npm run bench:packets -- --job A1,B1 --rounds 1
 *   npm run bench:packets -- --write         the tables go to bench/README.md as well
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endRunning } from './measure.ts';
import { everyPort, hundredPorts, type LabHost, Netlab, ranges, sink } from './netlab.ts';
import {
  arpScan,
  type Bench,
  type Contestant,
  closeBench,
  connectSweep,
  debianPackages,
  discovery,
  findModules,
  linkDiscovery,
  masscan,
  modulesOf,
  nmap,
  openBench,
  portolanScan,
  profileScan,
  type Run,
  rawSweep,
  sweep,
  typedScan,
  zmapToSink,
} from './scanners.ts';

const usage = `Usage: npm run bench:packets -- [--setup] [--job A1,B1] [--rounds N] [--without MODULES] [--write] [--list]

  --setup     install ${debianPackages.join(', ')} with apt-get first
  --job       only these jobs, separated by commas; --list names them
  --rounds    rounds of every job (3)
  --without   modules of Portolan that are not used, e.g. syn_scanner: sweeps then make connections
  --write     put the tables of this run into bench/README.md
`;

/** The figures of one program over all rounds. */
interface Row {
  name: string;
  seconds: number;
  lastPacketSeconds: number;
  firstPacketSeconds: number;
  scanSeconds: number | null;
  startSeconds: number | null;
  packets: number;
  probes: number;
  packetsPerSecond: number;
  cpuSeconds: number;
  megabytes: number;
  /** Of the worst round. */
  found: number;
  total: number;
  /** Reported in any round and not there. */
  wrong: number;
  /** Rounds that were cut off for taking too long, and that hung after their work. */
  timeouts: number;
  hangs: number;
}

interface Bar {
  measure: string;
  of(rows: Rows, total: number): number;
  atMost?: number;
  atLeast?: number;
}

interface Rows {
  ours: Row;
  /** The other programs in the order of the job. */
  peers: Row[];
}

interface Job {
  id: string;
  title: string;
  /** What is there to find: `host` or `host:port`; null where nothing answers. */
  truth: string[] | null;
  ours: Contestant;
  peers: Contestant[];
  bars: Bar[];
  /** Fewer rounds, where a peer takes minutes. */
  rounds?: number;
}

interface Outcome {
  job: Job;
  rows: Row[];
  bars: { measure: string; value: number; limit: string; met: boolean }[];
}

const unlimited = 5_000_000;
/** As fast as masscan goes; what answers still gets through. */
const fast = 1_000_000;
const hundred = hundredPorts.join(',');
const fullRange = ['-Pn', '-sS', '-T5', '-p', everyPort];
const wideSweep = ['-T5', '--min-rate', '20000', '--max-retries', '1', '--min-hostgroup', '1024'];
const thousandPorts = 1000;
const sinkHosts = 1024;
const inFirst16 = /^10\.88\.4\.(?:[1-9]|1[0-4])$/;

function jobsOf(bench: Bench): Job[] {
  const { hosts } = bench.lab;
  const sweeper = modulesOf(bench, sweep);
  return [
    typedJob('W1', hosts.refusing, null, 2.5),
    typedJob('W2', hosts.refusing, unlimited, 1.4),
    {
      id: 'A1',
      title: 'one host x 65,535, refuses',
      truth: openPairs(hosts.refusing),
      ours: ownSweep(sweeper, ranges.refusing, everyPort, fast),
      peers: [nmap([...fullRange, ranges.refusing])],
      bars: [...timeAgainst('nmap', 0.9), complete],
    },
    {
      id: 'A2',
      title: 'one host x 65,535, silent',
      truth: openPairs(hosts.silent),
      ours: ownSweep(sweeper, ranges.silent, everyPort, fast),
      peers: [masscan(['-p', everyPort, '--rate', '1000000', ranges.silent], 65_535)],
      bars: [...timeAgainst('masscan', 0.5), complete],
    },
    {
      id: 'A3',
      title: 'one host x 65,535, all open',
      truth: openPairs(hosts.allOpen),
      ours: ownSweep(sweeper, ranges.allOpen, everyPort, fast),
      peers: [nmap([...fullRange, ranges.allOpen])],
      bars: [],
    },
    {
      id: 'B1',
      title: '/22 on the own link x 100',
      truth: openPairs(hosts.near),
      ours: ownSweep(sweeper, ranges.near, hundred, fast),
      peers: [nmap(['-sS', ...wideSweep, '-p', hundred, ranges.near])],
      bars: [...timeAgainst('nmap', 0.6, 0.55), complete],
    },
    {
      id: 'B2',
      title: '/22 behind a gateway x 100',
      truth: openPairs(hosts.far),
      ours: ownSweep(sweeper, ranges.far, hundred, fast),
      peers: [
        masscan(['-p', hundred, '--rate', '100000', '--retries', '1', ranges.far], 204_800),
        nmap(['-sS', ...wideSweep, '-p', hundred, ranges.far]),
      ],
      bars: [...timeAgainst('masscan', 0.4, 0.12), complete],
    },
    {
      id: 'C',
      title: '/20 behind a gateway x 1',
      truth: openPairs(hosts.web, [80]),
      ours: ownSweep(sweeper, ranges.web, '80', fast),
      peers: [nmap(['-sS', ...wideSweep, '-p', '80', ranges.web])],
      bars: [...timeAgainst('nmap', 1, 1.1), complete],
    },
    ...discoveryJobs(bench),
    ...transmitJobs(),
    {
      id: 'S',
      title: '256 hosts x 1000',
      truth: openPairs(hosts.field),
      ours: ownSweep(sweeper, ranges.field, '1-1000', fast),
      peers: [
        nmap(['-Pn', '-sS', '-T5', '--min-rate', '100000', '-p', '1-1000', '10.88.128.1-255', '10.88.129.0']),
        masscan(['-p', '1-1000', '--rate', '100000', ranges.field], 256_000),
      ],
      bars: [
        ...timeAgainst('nmap', 0.6),
        {
          measure: 'packets / masscan',
          of: ({ ours, peers }) => ratio(ours, peers[1], 'packets'),
          atMost: 0.6,
        },
        complete,
      ],
    },
    {
      id: 'L',
      title: '256 hosts x 1000, 5 % lost each way',
      truth: openPairs(hosts.lossy),
      ours: ownRawSweep([ranges.lossy], '1-1000', fast, 4),
      peers: [
        masscan(['-p', '1-1000', '--rate', '150000', '--retries', '2', ranges.lossy], 768_000),
        // The whole range takes it minutes.
        {
          ...nmap(['-Pn', '-sS', '-T5', '-p', '1-1000', '10.88.130.1-16']),
          truth: openPairs(hosts.lossy.slice(0, 16)),
        },
      ],
      bars: [
        { measure: 'found', of: ({ ours }, total) => ours.found / total, atLeast: 0.9999 },
        {
          measure: 'probes / planned (0.95 x 0.95 answered: 1.108 at the least)',
          of: ({ ours }) => ours.probes / 256_000,
          atMost: 1.1,
        },
      ],
    },
    {
      id: 'P',
      title: '14 addresses x 100 with services, which all stay silent',
      truth: openPairs(hosts.near.filter(({ ip }) => inFirst16.test(ip))),
      ours: profileScan('standard', '10.88.4.1-10.88.4.14', hundred, 100_000),
      peers: [nmap(['-sS', '-sV', '-T5', '-p', hundred, '10.88.4.1-14'])],
      rounds: 1,
      bars: [...timeAgainst('nmap', 1), complete],
    },
    ...[1000, 10_000, 100_000].map(rateJob),
    {
      id: 'K',
      title: 'connections: 64 hosts x 1000',
      truth: openPairs(hosts.field.slice(0, 64)),
      ours: portolanScan(`portolan (${modulesOf(bench, connectSweep)})`, {
        targets: ['10.88.128.1-10.88.128.64'],
        graphs: connectSweep,
        rate: fast,
        args: ['--no-discover', '--ports', '1-1000'],
      }),
      peers: [nmap(['-Pn', '-sT', '-T5', '-p', '1-1000', '10.88.128.1-64'])],
      bars: [
        {
          measure: 'attempts/s / nmap -sT',
          of: ({ ours, peers }) => ratio(ours, peers[0], 'packetsPerSecond'),
          atLeast: 1.4,
        },
        {
          measure: 'speed of the scan / nmap -sT',
          of: ({ ours, peers }) => (peers[0]?.seconds ?? Number.NaN) / (ours.scanSeconds ?? Number.NaN),
        },
        {
          measure: 'command / nmap -sT',
          of: ({ ours, peers }) => ratio(ours, peers[0], 'seconds'),
          atMost: 1.35,
        },
        complete,
      ],
    },
  ];
}

/** All ports of one host, without a flag that says how fast. */
function typedJob(id: string, host: LabHost[], most: number | null, atMost: number): Job {
  const ceiling = most === null ? 'the default ceiling' : 'a raised ceiling';
  return {
    id,
    title: `one host x 65,535 as people type it, ${ceiling}`,
    truth: openPairs(host),
    ours: typedScan([ranges.refusing, '-p-', '--no-fingerprint'], most),
    peers: [nmap(['-sS', '-p-', ranges.refusing])],
    bars: [
      {
        measure: 'command / nmap',
        of: ({ ours, peers }) => ratio(ours, peers[0], 'seconds'),
        atMost,
      },
      complete,
    ],
  };
}

function discoveryJobs(bench: Bench): Job[] {
  const { hosts } = bench.lab;
  const onLink = `portolan (${modulesOf(bench, linkDiscovery)})`;
  const discover = (name: string, range: string, graphs: typeof discovery) =>
    portolanScan(name, { targets: [range], graphs, rate: fast });
  return [
    {
      id: 'D1',
      title: 'hosts of a /22 on the own link',
      truth: addressesOf(hosts.near),
      ours: discover(onLink, ranges.near, linkDiscovery),
      peers: [nmap(['-sn', ...wideSweep, ranges.near])],
      bars: [...timeAgainst('nmap', 1, 1.8), complete],
    },
    {
      id: 'D2',
      title: 'hosts of a /22 behind a gateway',
      truth: addressesOf(hosts.far),
      ours: discover(`portolan (${modulesOf(bench, discovery)})`, ranges.far, discovery),
      peers: [nmap(['-sn', ...wideSweep, ranges.far])],
      bars: [
        { measure: 'hosts', of: ({ ours }) => ours.found, atLeast: 300 },
        { measure: 'seconds of the scan', of: ({ ours }) => ours.scanSeconds ?? Number.NaN, atMost: 1 },
        { measure: 'command / nmap', of: ({ ours, peers }) => ratio(ours, peers[0], 'seconds'), atMost: 1.5 },
      ],
    },
    {
      id: 'D3',
      title: 'hosts of a /16 on the own link',
      truth: addressesOf(hosts.wide),
      ours: discover(onLink, ranges.wide, linkDiscovery),
      peers: [arpScan(ranges.wide)],
      bars: [...timeAgainst('arp-scan', 1, 0.9), complete],
    },
  ];
}

function transmitJobs(): Job[] {
  const packets = sinkHosts * thousandPorts;
  const perSecond = (least: number): Bar => ({
    measure: 'packets/s / masscan',
    of: ({ ours, peers }) => ratio(ours, peers[0], 'packetsPerSecond'),
    atLeast: least,
  });
  const blast = (targets: string[]) => ownRawSweep(targets, `1-${thousandPorts}`, unlimited, 0);
  const peer = () =>
    masscan(['-p', `1-${thousandPorts}`, '--rate', '10000000', `${sink.ip}/22`], packets, true);
  return [
    {
      id: 'T1',
      title: 'transmit to a sink, one sending thread',
      truth: null,
      // As much as one piece of a sweep has, which one thread sends.
      ours: blast([`${sink.ip}/24`]),
      peers: [peer(), zmapToSink(packets)],
      bars: [perSecond(1.6)],
    },
    {
      id: 'T2',
      title: 'transmit to a sink, two sending threads',
      truth: null,
      ours: blast([`${sink.ip}/22`]),
      peers: [peer()],
      bars: [perSecond(3)],
    },
  ];
}

/** Four seconds of packets to the sink. */
function rateJob(rate: number): Job {
  const ports = `1-${(rate * 4) / 250}`;
  return {
    id: `R${rate / 1000}`,
    title: `${rate} packets/s`,
    truth: null,
    ours: ownRawSweep([`${sink.ip}-10.96.0.249`], ports, rate, 0),
    peers: [masscan(['-p', ports, '--rate', String(rate), `${sink.ip}-10.96.0.249`], rate * 4, true)],
    bars: [
      {
        measure: 'error of the rate',
        of: ({ ours }) => Math.abs(ours.packetsPerSecond / rate - 1),
        atMost: 0.005,
      },
    ],
  };
}

function ownSweep(sweeper: string, target: string, ports: string, rate: number) {
  const args = ['--no-discover', '--ports', ports];
  return portolanScan(`portolan (${sweeper})`, { targets: [target], graphs: sweep, rate, args });
}

function ownRawSweep(targets: string[], ports: string, rate: number, retries: number) {
  const args = ['--no-discover', '--ports', ports, '--retries', String(retries)];
  const name = `${targets.length > 1 ? `${targets.length} x ` : ''}portolan (syn_scanner)`;
  return portolanScan(name, { targets, graphs: rawSweep, rate, args });
}

const complete: Bar = {
  measure: 'found',
  of: ({ ours }, total) => ours.found / total,
  atLeast: 1,
};

/**
 * The scan as its record has it, which is what it takes in a server; and the whole command, which starts Node.js and
 * reads the program first.
 */
function timeAgainst(peer: string, atMost: number, commandAtMost = atMost): Bar[] {
  const against = (ours: number | null, { peers }: Rows) =>
    (ours ?? Number.NaN) / (peers[0]?.seconds ?? Number.NaN);
  return [
    { measure: `scan / ${peer}`, of: (rows) => against(rows.ours.scanSeconds, rows), atMost },
    { measure: `command / ${peer}`, of: (rows) => against(rows.ours.seconds, rows), atMost: commandAtMost },
  ];
}

function ratio(ours: Row, peer: Row | undefined, figure: 'seconds' | 'packets' | 'packetsPerSecond'): number {
  return ours[figure] / (peer?.[figure] ?? Number.NaN);
}

function openPairs(hosts: LabHost[], only?: number[]): string[] {
  return hosts.flatMap(({ ip, open }) =>
    open.filter((port) => only?.includes(port) ?? true).map((port) => `${ip}:${port}`),
  );
}

function addressesOf(hosts: LabHost[]): string[] {
  return hosts.map(({ ip }) => ip);
}

/** All programs in turns, so that a noisy moment of the machine meets all of them. */
async function play(bench: Bench, job: Job, rounds: number): Promise<Outcome> {
  const contestants = [job.ours, ...job.peers];
  const runs: Run[][] = contestants.map(() => []);
  const failures: (string | null)[] = contestants.map(() => null);
  for (let round = 0; round < Math.min(rounds, job.rounds ?? rounds); round++) {
    for (const [i, contestant] of contestants.entries()) {
      if (failures[i]) continue;
      try {
        runs[i]?.push(await contestant.run(bench));
      } catch (error) {
        failures[i] = (error as Error).message;
        process.stderr.write(`${job.id}: ${failures[i]}\n`);
      }
    }
  }
  const rows = contestants.map(({ name, truth }, i) =>
    summed(name, failures[i] ? [] : (runs[i] ?? []), truth ?? job.truth ?? []),
  );
  const [ours, ...peers] = rows as [Row, ...Row[]];
  const bars = job.bars.map((bar) => judged(bar, { ours, peers }, job.truth?.length ?? 0));
  return { job, rows, bars };
}

function judged(bar: Bar, rows: Rows, total: number) {
  const value = bar.of(rows, total);
  const met = value <= (bar.atMost ?? Number.POSITIVE_INFINITY) && value >= (bar.atLeast ?? 0);
  return { measure: bar.measure, value, limit: limitOf(bar), met };
}

function limitOf({ atMost, atLeast }: Bar): string {
  if (atMost !== undefined) return `<= ${atMost}`;
  return atLeast === undefined ? '' : `>= ${atLeast}`;
}

/** Medians; completeness of the worst round. What a host or a port is told by the shape of the truth. */
function summed(name: string, runs: Run[], truth: string[]): Row {
  const there = new Set(truth);
  const isPair = truth[0]?.includes(':') ?? false;
  const hits = runs.map(({ found }) => [...there].filter((one) => found.has(one)).length);
  const wrong = runs.map(
    ({ found }) => [...found].filter((one) => one.includes(':') === isPair && !there.has(one)).length,
  );
  const middle = (of: (run: Run) => number) => median(runs.map(of));
  const middleOrNull = (of: (run: Run) => number | null) => {
    const values = runs.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  return {
    name,
    seconds: middle(({ seconds }) => seconds),
    lastPacketSeconds: middle(({ lastPacketSeconds }) => lastPacketSeconds),
    firstPacketSeconds: middle(({ firstPacketSeconds }) => firstPacketSeconds),
    scanSeconds: middleOrNull(({ scanSeconds }) => scanSeconds),
    startSeconds: middleOrNull(({ startSeconds }) => startSeconds),
    packets: middle(({ packets }) => packets),
    probes: middle(({ probes }) => probes),
    packetsPerSecond: middle(({ packetsPerSecond }) => packetsPerSecond),
    cpuSeconds: middle(({ cpuSeconds }) => cpuSeconds),
    megabytes: middle(({ residentBytes }) => residentBytes / 1e6),
    found: runs.length === 0 ? Number.NaN : Math.min(...hits),
    total: truth.length,
    wrong: Math.max(0, ...wrong),
    timeouts: runs.filter(({ ended }) => ended === 'timeout').length,
    hangs: runs.filter(({ ended }) => ended === 'quiet').length,
  };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const tableHead = `| job | program | time, s | scan, s | last packet, s | packets | packets/s | CPU, s | MB | found / true |
|---|---|---|---|---|---|---|---|---|---|
`;
const barHead = `| job | measure | figure | bar | |
|---|---|---|---|---|
`;

const phaseHead = `| job | start of the command, s | to the first packet | to the last packet | to the end of the scan | to the end of the command | all, s |
|---|---|---|---|---|---|---|
`;

/** Where the time of our own command goes; medians of each part, so that they need not add up. */
function phaseLine({ job, rows: [ours] }: Outcome): string {
  if (!ours || ours.startSeconds === null || ours.scanSeconds === null) return '';
  const { startSeconds, firstPacketSeconds, lastPacketSeconds, scanSeconds, seconds } = ours;
  const scanEnd = startSeconds + scanSeconds;
  const parts = [
    startSeconds,
    firstPacketSeconds - startSeconds,
    lastPacketSeconds - firstPacketSeconds,
    scanEnd - lastPacketSeconds,
    seconds - scanEnd,
    seconds,
  ];
  return `| ${job.id} | ${parts.map((part) => part.toFixed(2)).join(' | ')} |\n`;
}

/** The empty program in the same run, milliseconds: what any command of Node.js costs on this machine now. */
function emptyProgramMs(): number {
  const times = Array.from({ length: 9 }, () => {
    const startedAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - startedAt;
  });
  return median(times);
}

function rowLines({ job, rows }: Outcome): string {
  return rows
    .map((row, i) => `| ${i === 0 ? `**${job.id}** ${job.title}` : ''} | ${cells(row)} |\n`)
    .join('');
}

function cells(row: Row): string {
  if (Number.isNaN(row.seconds)) return `${row.name} | failed | | | | | | |`;
  const completeness = row.total === 0 ? '' : `${whole(row.found)} / ${whole(row.total)}`;
  const wrong = row.wrong > 0 ? `, ${row.wrong} wrong` : '';
  const cut = row.timeouts > 0 ? ` (cut off ${row.timeouts} x)` : '';
  const hung = row.hangs > 0 ? ` (hung ${row.hangs} x)` : '';
  return [
    row.name,
    `${row.seconds.toFixed(2)}${cut}${hung}`,
    row.scanSeconds?.toFixed(2) ?? '',
    row.lastPacketSeconds.toFixed(2),
    whole(row.packets),
    whole(row.packetsPerSecond),
    row.cpuSeconds.toFixed(2),
    row.megabytes.toFixed(0),
    `${completeness}${wrong}`,
  ].join(' | ');
}

function barLines({ job, bars }: Outcome): string {
  return bars
    .map(({ measure, value, limit, met }) => {
      const verdict = limit === '' ? '' : met ? 'met' : '**missed**';
      return `| ${job.id} | ${measure} | ${figure(value)} | ${limit} | ${verdict} |\n`;
    })
    .join('');
}

function figure(value: number): string {
  if (Number.isNaN(value)) return 'none';
  if (Number.isInteger(value)) return whole(value);
  return value < 0.1 || Math.abs(value - 1) < 0.01 ? value.toFixed(5) : value.toFixed(3);
}

function whole(value: number): string {
  return Number.isNaN(value) ? '' : Math.round(value).toLocaleString('en-US');
}

const beginMark = '<!-- packets: figures begin -->';
const endMark = '<!-- packets: figures end -->';

/** Replaces the figures between the marks in bench/README.md. */
function writeReadme(text: string): void {
  const file = join(import.meta.dirname, 'README.md');
  const before = readFileSync(file, 'utf8');
  const begin = before.indexOf(beginMark);
  const end = before.indexOf(endMark);
  if (begin < 0 || end < begin) throw new Error(`bench/README.md lacks ${beginMark} or ${endMark}`);
  writeFileSync(file, `${before.slice(0, begin + beginMark.length)}\n${text}${before.slice(end)}`);
}

function conditions(rounds: number): string {
  const versions = execFileSync('dpkg-query', ['-W', '-f', '${Package} ${Version}, ', ...peerPackages], {
    encoding: 'utf8',
  });
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} processors, Linux ${release()}, Node ${process.versions.node}`;
  return `${date}, ${machine}; ${versions}${rounds === 1 ? 'one round' : `${rounds} rounds, medians`}.\n\n`;
}

const peerPackages = ['nmap', 'masscan', 'zmap', 'arp-scan'];

function requireTools(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('needs Linux and root');
  const missing = [...peerPackages, 'nft', 'ip', 'ethtool', 'sysctl'].filter(
    (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
  );
  if (missing.length > 0)
    throw new Error(
      `missing: ${missing.join(', ')}; install them with --setup, or: apt-get install ${debianPackages.join(' ')}`,
    );
}

function setUp(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const args = ['install', '-y', '--no-install-recommends', ...debianPackages];
  const { status } = spawnSync('apt-get', args, { stdio: 'inherit', env, timeout: 300_000 });
  if (status !== 0) throw new Error(`apt-get failed with ${status}; try apt-get update`);
}

/** The first run compiles, the others read what it kept. */
async function warmUp(bench: Bench): Promise<void> {
  const args = ['--no-discover', '--ports', '1-10'];
  for (const graphs of [sweep, connectSweep])
    await portolanScan('warm-up', { targets: [ranges.refusing], graphs, rate: 1000, args }).run(bench);
}

async function runJobs(bench: Bench, ids: string[] | undefined, rounds: number): Promise<Outcome[]> {
  const jobs = jobsOf(bench);
  const unknown = ids?.filter((id) => !jobs.some((job) => job.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`no such job: ${unknown.join(', ')}`);
  await warmUp(bench).catch((error: Error) => process.stderr.write(`${error.message}\n`));
  const outcomes: Outcome[] = [];
  process.stdout.write(tableHead);
  for (const job of jobs.filter(({ id }) => ids?.includes(id) ?? true)) {
    const outcome = await play(bench, job, rounds);
    process.stdout.write(rowLines(outcome));
    outcomes.push(outcome);
  }
  return outcomes;
}

const { values } = parseArgs({
  options: {
    setup: { type: 'boolean', default: false },
    job: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    without: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
if (values.help || !Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
  process.stderr.write(usage);
  process.exit(values.help ? 0 : 2);
}
if (values.setup) setUp();
requireTools();
const lab = new Netlab();
const bench = openBench(lab);
const cleanUp = () => {
  endRunning();
  lab.down();
  closeBench(bench);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}
try {
  findModules(bench, values.without.split(','));
  if (values.list) {
    for (const { id, title } of jobsOf(bench)) process.stdout.write(`${id.padEnd(6)}${title}\n`);
  } else {
    await lab.up();
    const outcomes = await runJobs(bench, values.job?.split(','), rounds);
    const phases = `\nWhere the time of portolan goes (the empty program: ${emptyProgramMs().toFixed(0)} ms):\n\n${phaseHead}${outcomes.map(phaseLine).join('')}`;
    const bars = `\n${barHead}${outcomes.map(barLines).join('')}${phases}`;
    process.stdout.write(bars);
    if (values.write) {
      writeReadme(`${conditions(rounds)}${tableHead}${outcomes.map(rowLines).join('')}${bars}`);
    }
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  cleanUp();
}
