import type { Config } from '../../config/schema.ts';
import { ceilingOf, type PacketRate, startRate } from '../../domain/packet-rate.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { countNamed } from '../../domain/targets/target.ts';
import type { PlannedNode } from '../../engine/graph/plan.ts';
import { areThisMachine } from '../../net/local-addresses.ts';
import { rawObstacle } from '../../net/packets/linux/rights.ts';
import type { DecidedRequest } from '../../scan-run/plan/decide-request.ts';
import { type ModuleCatalog, planScan, unavailable } from '../../scan-run/plan/plan-scan.ts';
import { plannedPorts } from '../../scan-run/plan/planned-ports.ts';
import type { Store } from '../../store/open.ts';
import { estimateScan, type ScanConditions } from './estimate-scan.ts';
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
  rate: PacketRate;
  /** An upper bound: with discovery silent hosts are not swept, and responses save retries. */
  packets_estimate: number;
  /** Time for these packets at the rate and concurrency of the scan, if no probe gets a response. */
  duration_estimate_seconds: number;
  /** What the upper bounds assume, and what limits the speed; in words. */
  duration_estimate_basis: string;
  packets_probable: number;
  /** As the newest run of the same request took, else computed from the plan. */
  duration_probable: ProbableDuration;
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
  const hosts = countOf(inside.size + countNamed(targets));
  const ports = plannedPorts(plan);
  const connects = areThisMachine(inside) || rawObstacle() !== null;
  const { worst, probable } = estimateScan(plan, {
    hosts,
    ...spanOfRate(request.rate, config.scanner.max_rate),
    connects,
  });
  const earlier = store && (await probableDuration(store, request));
  return {
    graph: plan.name,
    profile: request.profile,
    vuln: request.vuln,
    targets: request.targets,
    ...lines,
    addresses,
    hostnames: targets.hostnames.length + targets.namedNetworks.length,
    excluded: countOf(targets.addresses.size - inside.size),
    ports: { tcp: ports.tcp.size, udp: ports.udp.size },
    rate: request.rate,
    packets_estimate: worst.packets,
    duration_estimate_seconds: worst.seconds,
    duration_estimate_basis: worst.basis,
    packets_probable: probable.packets,
    duration_probable: earlier ?? { seconds: probable.seconds, basis: probable.basis, scan_id: null },
    nodes: plan.nodes.map(previewNode),
    warnings: [...scopeWarnings(outside.size), ...unavailable(plan, request)],
  };
}

/** An adaptive rate stays where it starts as long as nothing responds. */
function spanOfRate(rate: PacketRate, most: number): Pick<ScanConditions, 'rate' | 'silentRate'> {
  const highest = ceilingOf(rate, most);
  return { rate: highest, silentRate: rate === 'auto' ? Math.min(startRate, highest) : highest };
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

function countOf(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
