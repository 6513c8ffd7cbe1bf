/** The scanners that the packet bench compares: how each is called at its best, and how its output is read. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../test/program.ts';
import { type Measurement, type MeasureOptions, measure } from './measure.ts';
import { gateway, hundredPorts, type Netlab, own, sink } from './netlab.ts';

/** Where a run keeps its files, and what this build of Portolan can do. */
export interface Bench {
  lab: Netlab;
  folder: string;
  /** Names of the modules of this build that may be used. */
  modules: Set<string>;
  /** Runs so far, for names of folders. */
  runs: number;
}

export interface Run extends Measurement {
  /** `host` or `host:port`, each once. */
  found: ReadonlySet<string>;
  /** From the start to the end of the scan as its record has it; null for other programs. */
  scanSeconds: number | null;
  /** From the start of the command to that of its scan; null for other programs, and for several processes at once. */
  startSeconds: number | null;
}

/** One program in one job. */
export interface Contestant {
  name: string;
  /** What it can find when it does a part of the job only. */
  truth?: string[];
  run(bench: Bench): Promise<Run>;
}

/** Longest run of any program; one that needs more has lost. */
const runLimitMs = 120_000;

const portolan = join(root, 'bin/portolan');

export const debianPackages = [
  'nmap',
  'masscan',
  'zmap',
  'arp-scan',
  'nftables',
  'iproute2',
  'ethtool',
  'procps',
];

export function openBench(lab: Netlab): Bench {
  return { lab, folder: mkdtempSync(join(tmpdir(), 'portolan-bench-')), modules: new Set(), runs: 0 };
}

/** Finds out what this build has; a build that does not run has nothing, and the others run alone. @param without modules that count as missing */
export function findModules(bench: Bench, without: string[]): void {
  const { status, stdout, stderr } = spawnSync(portolan, ['module', 'list', '--format', 'json'], {
    encoding: 'utf8',
    env: environment(bench.folder),
    timeout: 30_000,
  });
  if (status !== 0) process.stderr.write(`portolan module list: ${stderr.slice(0, 300)}\n`);
  for (const [, name = ''] of stdout.matchAll(/"name":\s*"([a-z_]+)"/g)) bench.modules.add(name);
  for (const name of without) bench.modules.delete(name);
}

export function closeBench(bench: Bench): void {
  rmSync(bench.folder, { recursive: true, force: true });
}

/** Nothing of the user's settings, and a home of its own for the cache of compiled code. */
function environment(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    SERVICE_SCANNER__MAX_RATE: '10000000',
  };
}

function settings(bench: Bench): MeasureOptions {
  return { timeoutMs: runLimitMs, cwd: bench.folder, env: environment(bench.folder) };
}

/** A node of a graph without its name. */
interface GraphNode {
  module: string;
  config?: Record<string, unknown>;
}

interface OwnScan {
  /** One list for every process that scans at the same time. */
  targets: string[];
  /** Modules that run side by side; the first alternative that this build has altogether. */
  graphs: GraphNode[][];
  rate: number;
  args?: string[];
}

/** Raw packets or nothing: a row must not show connections under their name. One host may get the whole rate. */
const rawNode: GraphNode = { module: 'syn_scanner', config: { fallback: false, host_rate: 0 } };

/** A builtin profile with all that it does. */
export function profileScan(profile: string, target: string, ports: string, rate: number): Contestant {
  const args = ['--ports', ports];
  return scanBy(`portolan --profile ${profile}`, ['--profile', profile], { targets: [target], rate, args });
}

/** Portolan's sweeps of ports: raw packets where this build has them, else connections, enough for silent hosts. */
export const sweep: GraphNode[][] = [
  [rawNode],
  [{ module: 'connect_scanner', config: { concurrency: 3000, timeout: '500ms' } }],
];

/** For what a sweep by connections says nothing about. */
export const rawSweep: GraphNode[][] = [[rawNode]];

/** Against hosts that answer more connections at a time are slower. */
export const connectSweep: GraphNode[][] = [
  [{ module: 'connect_scanner', config: { concurrency: 200, timeout: '2s' } }],
];

/** The links of the lab have no delay: what has not answered by now is not there. */
const quick = { timeout: '80ms', retry: 1 };
const pings: GraphNode[] = [
  { module: 'icmp_discovery', config: quick },
  { module: 'tcp_probe_discovery', config: { ...quick, method: 'syn', ports: 'top-20' } },
];
export const discovery: GraphNode[][] = [pings];
export const linkDiscovery: GraphNode[][] = [[{ module: 'arp_discovery', config: quick }], pings];

export function portolanScan(name: string, scan: OwnScan): Contestant {
  return {
    name,
    async run(bench) {
      const graph = scan.graphs.find((nodes) => nodes.every(({ module }) => bench.modules.has(module)));
      if (!graph) throw new Error(`this build has none of the modules of ${name}`);
      return await scanBy(name, ['--dag', writeGraph(bench, graph)], scan).run(bench);
    },
  };
}

/** One process for each list of targets, side by side. */
function scanBy(name: string, graph: string[], scan: Omit<OwnScan, 'graphs'>): Contestant {
  return {
    name,
    async run(bench) {
      const workspaces = scan.targets.map(() => join(bench.folder, `workspace-${bench.runs++}`));
      const options = [...graph, '--rate', String(scan.rate), '--format', 'json', '--quiet'];
      const commands = scan.targets.map((targets, i) => {
        const place = ['--workspace-dir', workspaces[i] as string];
        return [portolan, 'scan', targets, ...options, ...place, ...(scan.args ?? [])];
      });
      return await measureOwn(bench, name, commands, workspaces);
    },
  };
}

/** @param workspaces those of the commands; they are removed */
async function measureOwn(
  bench: Bench,
  name: string,
  commands: string[][],
  workspaces: string[],
  env = environment(bench.folder),
): Promise<Run> {
  const measured = await measure(bench.lab, commands, { ...settings(bench), env });
  const scans = workspaces.map(recordedScan);
  const scanSeconds = Math.max(...scans.map(({ seconds }) => seconds));
  const startSeconds = scans.length === 1 ? ((scans[0]?.startedAt ?? 0) - measured.startedAt) / 1000 : null;
  for (const workspace of workspaces) rmSync(workspace, { recursive: true, force: true });
  requireSuccess(name, measured, measured.exitCode === 0);
  return { ...measured, scanSeconds, startSeconds, found: new Set(measured.outputs.flatMap(ownFindings)) };
}

/**
 * A command as people type it, at the default rate, which follows the responses.
 * @param most `scanner.max_rate`; null = the default
 */
export function typedScan(words: string[], most: number | null): Contestant {
  const name = `portolan scan ${words.join(' ')}${most === null ? '' : `, up to ${most}/s`}`;
  return {
    name,
    async run(bench) {
      const workspace = join(bench.folder, `workspace-${bench.runs++}`);
      const command = [
        portolan,
        'scan',
        ...words,
        '--format',
        'json',
        '--quiet',
        '--workspace-dir',
        workspace,
      ];
      const { SERVICE_SCANNER__MAX_RATE: _, ...env } = environment(bench.folder);
      if (most !== null) env['SERVICE_SCANNER__MAX_RATE'] = String(most);
      return await measureOwn(bench, name, [command], [workspace], env);
    },
  };
}

/** Names in the rows say which modules ran. */
export function modulesOf(bench: Bench, graphs: GraphNode[][]): string {
  const graph = graphs.find((nodes) => nodes.every(({ module }) => bench.modules.has(module)));
  return graph?.map(({ module }) => module).join(' + ') ?? 'no module of this build';
}

function writeGraph(bench: Bench, graph: GraphNode[]): string {
  const file = join(bench.folder, 'graph.json');
  const nodes = graph.map(({ module, config }, i) => ({
    instance_id: `node${i}`,
    module_type: module,
    config: config ?? {},
  }));
  const depends_on = nodes.map(({ instance_id }) => instance_id);
  const report = { instance_id: 'report', module_type: 'json_reporter', depends_on };
  writeFileSync(
    file,
    JSON.stringify({ name: 'bench', description: 'One kind of probe alone', nodes: [...nodes, report] }),
  );
  return file;
}

/** `started_at` of the one scan in a workspace, epoch milliseconds, and the seconds to its `completed_at`. */
function recordedScan(workspace: string): { startedAt: number; seconds: number } {
  try {
    const [id = ''] = readdirSync(join(workspace, 'scans'));
    const status = JSON.parse(readFileSync(join(workspace, 'scans', id, 'status.json'), 'utf8')) as {
      started_at: string;
      completed_at: string;
    };
    const startedAt = Date.parse(status.started_at);
    return { startedAt, seconds: (Date.parse(status.completed_at) - startedAt) / 1000 };
  } catch {
    return { startedAt: Number.NaN, seconds: Number.NaN };
  }
}

function ownFindings(output: string): string[] {
  if (output === '') return [];
  const { results } = JSON.parse(output) as {
    results: { host: string; state: string; ports: { port: number; state: string }[] }[];
  };
  return results.flatMap(({ host, state, ports }) => [
    ...(state === 'up' ? [host] : []),
    ...ports.filter((port) => port.state === 'open').map(({ port }) => `${host}:${port}`),
  ]);
}

export function nmap(args: string[]): Contestant {
  return {
    name: `nmap ${shortened(args)}`,
    async run(bench) {
      const file = join(bench.folder, 'nmap.gnmap');
      const command = ['nmap', '-n', ...args, '-oG', file];
      const measured = await measure(bench.lab, [command], settings(bench));
      requireSuccess('nmap', measured, measured.exitCode === 0);
      return {
        ...measured,
        scanSeconds: null,
        startSeconds: null,
        found: nmapFindings(readFileSync(file, 'utf8')),
      };
    },
  };
}

/** Reads `-oG`. */
function nmapFindings(output: string): Set<string> {
  const found = new Set<string>();
  for (const [, host = '', rest = ''] of output.matchAll(/^Host: (\S+) \(.*?\)\t(.*)$/gm)) {
    if (rest.startsWith('Status: Up')) found.add(host);
    for (const [, port] of rest.matchAll(/(\d+)\/open\/tcp/g)) found.add(`${host}:${port}`);
  }
  return found;
}

/**
 * masscan 1.3.2 mostly hangs after its work: it is ended two seconds after its last packet. It prints what it finds at
 * once, so nothing is lost.
 * @param onSink towards the interface that swallows everything
 */
export function masscan(args: string[], plannedPackets: number, onSink = false): Contestant {
  const link = onSink
    ? ['-e', sink.interface, '--router-mac', sink.mac, '--source-ip', sink.source]
    : ['-e', own.interface, '--router-mac', gateway.mac, '--source-ip', own.source];
  return {
    name: `masscan ${shortened(args)}`,
    async run(bench) {
      const measured = await measure(bench.lab, [['masscan', ...link, '--wait', '1', ...args]], {
        ...settings(bench),
        quiet: { afterPackets: plannedPackets * 0.9, ms: 2000 },
      });
      requireSuccess('masscan', measured, measured.packets > 0);
      const lines = [...measured.outputs.join('').matchAll(/open port (\d+)\/tcp on (\S+)/g)];
      const found = new Set(lines.map(([, port, host]) => `${host}:${port}`));
      return { ...measured, scanSeconds: null, startSeconds: null, found };
    },
  };
}

/** zmap sends to one port; its list of forbidden networks has the private ones, so it gets an empty one. */
export function zmapToSink(packets: number): Contestant {
  const args = ['-p', '80', '-n', String(packets), '-T', '1', '-B', '10G'];
  const link = ['-i', sink.interface, '-G', sink.mac, '-S', sink.source];
  const rest = ['-b', '/dev/null', '-c', '1', '-q', '-o', '/dev/null', `${sink.ip}/12`];
  return {
    name: `zmap ${shortened(args)}`,
    async run(bench) {
      const command = ['zmap', ...args, ...link, ...rest];
      const measured = await measure(bench.lab, [command], settings(bench));
      requireSuccess('zmap', measured, measured.exitCode === 0);
      return { ...measured, scanSeconds: null, startSeconds: null, found: new Set() };
    },
  };
}

export function arpScan(range: string): Contestant {
  const args = ['-B', '100M', '-r', '2', '-t', '200', range];
  return {
    name: `arp-scan ${shortened(args)}`,
    async run(bench) {
      const command = ['arp-scan', '-I', own.wideInterface, '-q', '-x', '-N', ...args];
      const measured = await measure(bench.lab, [command], settings(bench));
      requireSuccess('arp-scan', measured, measured.exitCode === 0);
      const lines = [...measured.outputs.join('').matchAll(/^(\d+\.\d+\.\d+\.\d+)\s/gm)];
      return {
        ...measured,
        scanSeconds: null,
        startSeconds: null,
        found: new Set(lines.map(([, host = '']) => host)),
      };
    },
  };
}

/** A run that took too long stands with its figures; one that failed at once would look fast. */
function requireSuccess(name: string, measured: Measurement, succeeded: boolean): void {
  if (succeeded || measured.ended === 'timeout') return;
  const said = measured.errors
    .replaceAll(/^ +at .*$/gm, '')
    .trim()
    .slice(-300);
  throw new Error(`${name} failed with ${measured.exitCode}: ${said}`);
}

function shortened(args: string[]): string {
  return args.join(' ').replace(hundredPorts.join(','), 'top-100');
}
