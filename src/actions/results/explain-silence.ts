import type { Config } from '../../config/schema.ts';
import type { Protocol } from '../../domain/host.ts';
import { parsePorts } from '../../domain/port.ts';
import { namedReason } from '../../domain/port-reasons.ts';
import type { HostRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { Plan, PlannedNode } from '../../engine/graph/plan.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { type ModuleCatalog, planScan } from '../../scan-run/plan/plan-scan.ts';
import { findsPorts, optionOf, portsOfNode } from '../../scan-run/plan/planned-ports.ts';
import type { PortEndpoint } from './explain-port.ts';
import type { Blindness, PlannedCoverage } from './scan-coverage.ts';

/** Probes of one kind that a scan sends to each host. */
export interface PlannedProbes {
  kind: 'icmp' | 'arp' | 'tcp' | 'udp' | 'other';
  ports: number[];
  /** How often a probe without response is sent. */
  times: number;
  /** How long each waits, as written. */
  timeout: string;
}

/** What a scan sent to find out about hosts and their ports. */
export interface ProbePlan {
  discovery: PlannedProbes[];
  ports: PlannedProbes[];
}

/** Null if the graph of the scan is no longer installed. */
export async function probePlan(
  request: ScanRequest,
  config: Config,
  catalog: ModuleCatalog,
): Promise<ProbePlan | null> {
  const plan = await planScan(request, config, catalog).catch(() => null);
  return plan && probesOf(plan);
}

/** Of the nodes that run. */
export function probesOf({ nodes }: Plan): ProbePlan {
  const running = nodes.filter(({ skipped }) => skipped === null);
  return {
    discovery: running.filter(({ definition }) => definition.type === 'discovery').map(discoveryOf),
    ports: running.filter(findsPorts).flatMap(sweepsOf),
  };
}

const kinds: Record<string, PlannedProbes['kind']> = {
  icmp_discovery: 'icmp',
  arp_discovery: 'arp',
  tcp_probe_discovery: 'tcp',
};

function discoveryOf(node: PlannedNode): PlannedProbes {
  const kind = kinds[node.definition.name] ?? 'other';
  const ports = kind === 'tcp' ? parsePorts(String(optionOf(node, 'ports')), portCatalog).tcp : [];
  return { kind, ports: [...ports], ...effortOf(node, 'retry') };
}

function sweepsOf(node: PlannedNode): PlannedProbes[] {
  const planned = portsOfNode(node);
  return (['tcp', 'udp'] as const)
    .filter((protocol) => planned[protocol].length > 0)
    .map((kind) => ({ kind, ports: planned[kind], ...effortOf(node, 'retries') }));
}

function effortOf(node: PlannedNode, retries: string): Pick<PlannedProbes, 'times' | 'timeout'> {
  return {
    times: Number(optionOf(node, retries) ?? 0) + 1,
    timeout: String(optionOf(node, 'timeout') ?? ''),
  };
}

/** Why a record has nothing about a host or a port. */
export type Silence =
  /** The scan did not send anything there, or not everything. */
  | { state: 'not_tried'; reason: Blindness }
  /** Its probes found nothing. `errors`: ICMP errors that came about a host that did not respond. */
  | { state: 'down' | 'filtered' | 'closed' | 'closed_or_filtered'; errors?: string[] };

/** @param host the host of the endpoint, if the record has it */
export function silenceOf(
  host: HostRow | null,
  place: PortEndpoint,
  coverage: Pick<PlannedCoverage, 'blindToHost' | 'blindToPort'>,
): Silence {
  if (host === null) {
    const reason = coverage.blindToHost(null, place.host);
    return reason === null ? { state: 'down' } : { state: 'not_tried', reason };
  }
  const protocol: Protocol = place.protocol ?? 'tcp';
  const reason = place.port === null ? null : coverage.blindToPort(host, place.port, protocol);
  if (reason !== null) return { state: 'not_tried', reason };
  const named = place.port === null ? null : namedReason(host.port_reasons, protocol, place.port);
  if (named) return { state: named.state === 'closed' ? 'closed' : 'filtered' };
  const { closed = 0, filtered = 0 } = host.port_counts ?? {};
  if (filtered === 0) return { state: 'closed' };
  return { state: closed === 0 ? 'filtered' : 'closed_or_filtered' };
}
