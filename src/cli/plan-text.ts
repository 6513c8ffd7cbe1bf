import type { Config } from '../config/schema.ts';
import { parsePorts } from '../domain/port.ts';
import type { ScanRequest } from '../domain/scan.ts';
import { compileScope } from '../domain/scope.ts';
import { parseTargets } from '../domain/target.ts';
import type { Plan } from '../engine/plan.ts';
import { portCatalogue } from '../knowledge/ports.ts';
import { renderColumns } from './columns.ts';
import { jsonText } from './printable.ts';

/** What a scan would do. Packets are an upper bound: silent hosts are not swept when discovery is on. */
interface PlanFacts {
  graph: string;
  targets: string[];
  addresses: number;
  hostnames: number;
  ports: { tcp: number; udp: number };
  rate: number;
  max_packets: number;
  nodes: { instance_id: string; module_type: string; depends_on: string[]; skipped: string | null }[];
}

/** The plan of a scan for `--dry-run`; names are not resolved, so each counts as one address. */
export function describePlan(request: ScanRequest, plan: Plan, config: Config, json: boolean): string {
  const facts = factsOf(request, plan, config);
  return json ? jsonText(facts) : planText(facts);
}

function factsOf(request: ScanRequest, plan: Plan, config: Config): PlanFacts {
  const asked = parseTargets(request.targets);
  const excluded = parseTargets([...request.exclude, ...config.scanner.blocklist]);
  const inside = compileScope(config.scanner.scope).split(asked.addresses.minus(excluded.covered)).inside;
  const addresses = Number(inside.size);
  const hosts = addresses + asked.hostnames.length;
  const ports = portsOf(plan);
  return {
    graph: plan.name,
    targets: request.targets,
    addresses,
    hostnames: asked.hostnames.length,
    ports,
    rate: request.rate,
    max_packets: hosts * plan.nodes.reduce((sum, node) => sum + packetsPerHost(node), 0),
    nodes: plan.nodes.map(({ instanceId, definition, dependsOn, skipped }) => ({
      instance_id: instanceId,
      module_type: definition.name,
      depends_on: dependsOn,
      skipped,
    })),
  };
}

/** Ports of all scanners that run. */
function portsOf(plan: Plan): { tcp: number; udp: number } {
  const specs = plan.nodes.filter(isScanner).map((node) => optionOf(node, 'ports'));
  const selections = specs
    .filter((spec) => typeof spec === 'string')
    .map((spec) => parsePorts(spec, portCatalogue));
  const distinct = (lists: number[][]) => new Set(lists.flat()).size;
  return {
    tcp: distinct(selections.map((selection) => selection.tcp)),
    udp: distinct(selections.map((selection) => selection.udp)),
  };
}

function isScanner(node: Plan['nodes'][number]): boolean {
  return (
    node.definition.type === 'scanner' &&
    node.skipped === null &&
    node.definition.provides.includes('open_ports')
  );
}

/** Probes that a discovery or scanner node sends to one host at most: every port, every retry. */
function packetsPerHost(node: Plan['nodes'][number]): number {
  const probing = node.skipped === null && (node.definition.type === 'discovery' || isScanner(node));
  if (!probing) return 0;
  const spec = optionOf(node, 'ports');
  const selection = typeof spec === 'string' ? parsePorts(spec, portCatalogue) : null;
  const probes = selection ? selection.tcp.length + selection.udp.length : 1;
  const retries = Number(optionOf(node, 'retries') ?? optionOf(node, 'retry') ?? 0);
  return probes * (1 + (Number.isFinite(retries) ? retries : 0));
}

function optionOf(node: Plan['nodes'][number], name: string): unknown {
  return node.config[name] ?? node.definition.options[name]?.Default;
}

function planText(facts: PlanFacts): string {
  const names = facts.hostnames > 0 ? ` and ${facts.hostnames} host names (not resolved yet)` : '';
  const seconds = Math.ceil(facts.max_packets / facts.rate);
  const rows = facts.nodes.map((node) => [
    node.instance_id,
    node.module_type,
    node.depends_on.join(', ') || '-',
    node.skipped === null ? 'runs' : `skipped: ${node.skipped}`,
  ]);
  return `graph      ${facts.graph}
addresses  ${facts.addresses}${names}
ports      ${facts.ports.tcp} tcp, ${facts.ports.udp} udp for each host
rate       ${facts.rate} packets per second
packets    ${facts.max_packets} at most for discovery and ports (${seconds} s at this rate)

${renderColumns(['NODE', 'MODULE', 'DEPENDS ON', 'STATE'], rows)}
Nothing was sent.
`;
}
