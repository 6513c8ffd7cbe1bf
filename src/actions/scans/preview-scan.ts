import type { Config } from '../../config/schema.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import type { Plan, PlannedNode } from '../../engine/graph/plan.ts';
import { leastConcurrency } from '../../net/adaptive/concurrency.ts';
import type { DecidedRequest } from '../../scan-run/plan/decide-request.ts';
import { type ModuleCatalog, planScan, unavailable } from '../../scan-run/plan/plan-scan.ts';
import { findsPorts, optionOf, plannedPorts, portsOfNode } from '../../scan-run/plan/planned-ports.ts';
import type { Store } from '../../store/open.ts';
import { type PreviewTarget, previewTargets } from './preview-targets.ts';
import { type ProbableDuration, probableDuration } from './probable-duration.ts';

/** What a scan would do. */
export interface ScanPreview {
  graph: string;
  profile: string;
  vuln: boolean;
  targets: string[];
  /** Targets with their addresses, then what is left out of them and why; at most 200 lines. */
  target_list: PreviewTarget[];
  /** Further lines. */
  target_list_left: number;
  /** Addresses to scan after exclusions and scope; without unresolved host names. */
  addresses: number;
  hostnames: number;
  /** Addresses removed by exclusions, the blocklist and the scope. */
  excluded: number;
  /** Distinct ports per host. */
  ports: { tcp: number; udp: number };
  /** Packets per second. */
  rate: number;
  /** An upper bound: with discovery silent hosts are not swept, and responses save retries. */
  packets_estimate: number;
  /** Time for these packets at the rate and concurrency of the scan, if no probe gets a response. */
  duration_estimate_seconds: number;
  /** Null without an earlier run, and where nothing is stored. */
  duration_probable: ProbableDuration | null;
  nodes: PreviewNode[];
  warnings: ScanWarning[];
}

export interface PreviewNode {
  instance_id: string;
  module_type: string;
  depends_on: string[];
  /** Why it is skipped, or null. */
  skipped: string | null;
  /** Every option with a value, as in a graph file. */
  options: Record<string, unknown>;
}

/**
 * Plans a scan: sends nothing, stores nothing, resolves no names.
 * @param store with earlier scans
 * @throws PortolanError `invalid_request` for a graph that is not installed or invalid
 */
export async function previewScan(
  { request, ...submitted }: DecidedRequest,
  config: Config,
  catalogue: ModuleCatalog,
  store: Pick<Store, 'scans'> | null,
): Promise<ScanPreview> {
  const plan = await planScan(request, config, catalogue);
  const { targets } = submitted;
  const { inside, outside, ...lines } = previewTargets(submitted, config.scanner);
  const addresses = countOf(inside.size);
  const hosts = addresses + targets.hostnames.length;
  const ports = plannedPorts(plan);
  return {
    graph: plan.name,
    profile: request.profile,
    vuln: request.vuln,
    targets: request.targets,
    ...lines,
    addresses,
    hostnames: targets.hostnames.length,
    excluded: countOf(targets.addresses.size - inside.size),
    ports: { tcp: ports.tcp.size, udp: ports.udp.size },
    rate: request.rate,
    packets_estimate: countOf(BigInt(hosts) * BigInt(packetsPerHost(plan))),
    duration_estimate_seconds: durationOf(plan, hosts, request.rate),
    duration_probable: store && (await probableDuration(store, request)),
    nodes: plan.nodes.map(previewNode),
    warnings: [...scopeWarnings(outside.size), ...unavailable(plan, request)],
  };
}

function scopeWarnings(outside: bigint): ScanWarning[] {
  if (outside === 0n) return [];
  const message = `${outside} addresses are outside the scope (scanner.scope) and will be skipped`;
  return [{ code: 'out_of_scope', message }];
}

function previewNode({ instanceId, definition, dependsOn, skipped, config }: PlannedNode): PreviewNode {
  const defaults = Object.entries(definition.options).flatMap(([name, { Default }]) =>
    Default === undefined ? [] : [[name, Default] as const],
  );
  return {
    instance_id: instanceId,
    module_type: definition.name,
    depends_on: dependsOn,
    skipped,
    options: { ...Object.fromEntries(defaults), ...config },
  };
}

/** Maximum number of probes of a discovery or scanner node per host: every port, every retry. */
function packetsOfNode(node: PlannedNode): number {
  const discovers = node.definition.type === 'discovery' && node.skipped === null;
  if (!discovers && !findsPorts(node)) return 0;
  const { tcp, udp } = portsOfNode(node);
  const probes = 'ports' in node.definition.options ? tcp.length + udp.length : 1;
  return probes * (1 + numberOf(optionOf(node, 'retries') ?? optionOf(node, 'retry')));
}

function packetsPerHost(plan: Plan): number {
  return plan.nodes.reduce((sum, node) => sum + packetsOfNode(node), 0);
}

/** The slower of the packets of a node at the rate, and its timeouts without responses. */
function durationOf(plan: Plan, hosts: number, rate: number): number {
  const seconds = plan.nodes.map((node) => {
    const packets = packetsOfNode(node) * hosts;
    const nodeRate = Math.min(rate, numberOf(optionOf(node, 'rate')) || rate);
    const waits = (packets * secondsOf(optionOf(node, 'timeout'))) / laneCount(node);
    return Math.max(packets / nodeRate, waits);
  });
  return Math.ceil(
    Math.min(
      seconds.reduce((sum, part) => sum + part, 0),
      Number.MAX_SAFE_INTEGER,
    ),
  );
}

/** Concurrent probes, at least; discovery is limited only by the rate. */
function laneCount(node: PlannedNode): number {
  const concurrency = optionOf(node, 'concurrency');
  return concurrency === 0 ? leastConcurrency : numberOf(concurrency) || Number.POSITIVE_INFINITY;
}

function secondsOf(duration: unknown): number {
  return typeof duration === 'string' ? (parseDuration(duration) ?? 0) / 1000 : 0;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function countOf(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
