import { parsePorts } from '../../domain/port.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { Graph, GraphNode } from '../../engine/graph.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { commonUdpPorts } from '../../knowledge/requests/udp-payloads.ts';

const udpScanner = 'udp_scanner';

type PortRequest = Pick<ScanRequest, 'ports' | 'options'>;

/** Whether the ports in the options of a node are UDP ports unless they say otherwise. */
export function scansUdp(
  { options }: Pick<ModuleDefinition, 'options'>,
  config: Readonly<Record<string, unknown>>,
): boolean {
  return options['protocol'] !== undefined && (config['protocol'] ?? options['protocol'].Default) === 'udp';
}

/** Whether every node of a graph that looks for open ports looks for UDP ports: then ports without a protocol are such. */
export function scansOnlyUdp({ nodes }: Graph, registry: Registry): boolean {
  const scanners = nodes.filter(({ moduleType }) => findsOpenPorts(registry.get(moduleType)));
  return scanners.length > 0 && scanners.every((node) => !looksForTcpPorts(node, registry));
}

/** UDP ports of a port list of a submission, written as a list; empty when it has none. */
export function udpPortsOf(list: string, { options }: Pick<ScanRequest, 'options'>): string {
  const first = options.scan_type === 'udp' ? 'udp' : 'tcp';
  return parsePorts(list, portCatalog, first).udp.join(',');
}

/**
 * The graph with a UDP scanner where the submission asks for one: `scan_type` udp puts it in the place of what looks
 * for TCP ports, UDP ports in `ports` put it beside that.
 */
export function withUdpScanner(graph: Graph, request: PortRequest, registry: Registry): Graph {
  const only = request.options.scan_type === 'udp';
  if (!only && (request.ports === null || udpPortsOf(request.ports, request) === '')) return graph;
  const isTcp = (node: GraphNode) => looksForTcpPorts(node, registry);
  const tcp = graph.nodes.filter(isTcp);
  const tcpIds = new Set(tcp.map(({ instanceId }) => instanceId));
  const known = graph.nodes.find((node) => findsOpenPorts(registry.get(node.moduleType)) && !isTcp(node));
  const [model] = tcp;
  if (!known && !model) return graph;
  const udp = known ?? scannerLike(model as GraphNode, graph);
  const others = graph.nodes.filter((node) => node !== known && !(only && isTcp(node)));
  const joined = others.map((node) => {
    if (!node.dependsOn.some((id) => tcpIds.has(id))) return node;
    const kept = only ? node.dependsOn.filter((id) => !tcpIds.has(id)) : node.dependsOn;
    return { ...node, dependsOn: [...new Set([...kept, udp.instanceId])] };
  });
  return { ...graph, nodes: [...joined, udp] };
}

function findsOpenPorts(definition: ModuleDefinition | undefined): boolean {
  return definition?.type === 'scanner' && definition.provides.includes('open_ports');
}

function looksForTcpPorts({ moduleType, config }: GraphNode, registry: Registry): boolean {
  const definition = registry.get(moduleType);
  return findsOpenPorts(definition) && !scansUdp(definition as ModuleDefinition, config);
}

/** A UDP scanner that waits for the same hosts as another scanner. */
function scannerLike(model: GraphNode, { nodes }: Graph): GraphNode {
  const taken = new Set(nodes.map(({ instanceId }) => instanceId));
  let instanceId = 'udp';
  while (taken.has(instanceId)) instanceId = `${instanceId}_`;
  const config = { ports: commonUdpPorts.join(',') };
  return { ...model, instanceId, moduleType: udpScanner, config, consumes: [], produces: [] };
}
