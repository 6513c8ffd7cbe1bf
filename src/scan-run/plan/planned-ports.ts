import type { Protocol } from '../../domain/host.ts';
import { parsePorts, portRanges } from '../../domain/port.ts';
import type { Plan, PlannedNode } from '../../engine/graph/plan.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { scansUdp } from './udp-ports.ts';

/** Ports that a scan probes on a host, by protocol. */
export type PlannedPorts = Record<Protocol, ReadonlySet<number>>;

/** The ports of all nodes of a plan that look for open ports. */
export function plannedPorts(plan: Plan): PlannedPorts {
  const selections = plan.nodes.filter(findsPorts).map(portsOfNode);
  const distinct = (protocol: Protocol) => new Set(selections.flatMap((ports) => ports[protocol]));
  return { tcp: distinct('tcp'), udp: distinct('udp') };
}

/** The same as ranges; protocols without ports are absent. */
export function plannedRanges(plan: Plan): Partial<Record<Protocol, string>> {
  const ranges = Object.entries(plannedPorts(plan)).map(([protocol, ports]) => [
    protocol,
    portRanges([...ports].sort((a, b) => a - b)),
  ]);
  return Object.fromEntries(ranges.filter(([, text]) => text !== ''));
}

/** Whether a node runs and chooses its own ports; nodes that follow open ports do not. */
export function findsPorts({ definition, skipped, inputs }: PlannedNode): boolean {
  if (definition.type !== 'scanner' || skipped !== null) return false;
  return definition.provides.includes('open_ports') || !inputs.some(({ key }) => key === 'open_ports');
}

/** Ports of one node, without excluded ones, ascending. */
export function portsOfNode(node: PlannedNode): Record<Protocol, number[]> {
  const planned = readPorts(node, 'ports');
  const excluded = readPorts(node, 'exclude_ports');
  const rest = (protocol: Protocol) => {
    const left = new Set(excluded[protocol]);
    return planned[protocol].filter((port) => !left.has(port));
  };
  const udp = scansUdp(node.definition, node.config);
  return { tcp: udp ? [] : rest('tcp'), udp: udp ? rest('udp') : [] };
}

function readPorts(node: PlannedNode, option: string): Record<Protocol, number[]> {
  const text = optionOf(node, option);
  if (typeof text !== 'string' || text.trim() === '') return { tcp: [], udp: [] };
  return parsePorts(text, portCatalog, scansUdp(node.definition, node.config) ? 'udp' : 'tcp');
}

/** Value of an option of a node, or its default. */
export function optionOf(node: PlannedNode, name: string): unknown {
  return node.config[name] ?? node.definition.options[name]?.Default;
}
