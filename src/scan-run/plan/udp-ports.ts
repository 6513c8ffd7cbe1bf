import { parsePorts } from '../../domain/port.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { Graph, GraphNode } from '../../engine/graph/graph.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import type { Registry } from '../../engine/registry.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import { commonUdpPorts } from '../../knowledge/requests/udp-payloads.ts';

const udpScanner = 'udp_scanner';

type PortRequest = Pick<ScanRequest, 'ports' | 'options'>;

/** Whether ports without a protocol in the options of a node are UDP ports. */
export function scansUdp(
  { options }: Pick<ModuleDefinition, 'options'>,
  config: Readonly<Record<string, unknown>>,
): boolean {
  return options['protocol'] !== undefined && (config['protocol'] ?? options['protocol'].Default) === 'udp';
}

/** Whether every port scanner of a graph scans UDP: then ports without a protocol are UDP. */
export function scansOnlyUdp({ nodes }: Graph, registry: Registry): boolean {
  const scanners = nodes.filter(({ moduleType }) => findsOpenPorts(registry.get(moduleType)));
  return scanners.length > 0 && scanners.every((node) => !looksForTcpPorts(node, registry));
}

/** UDP ports of a port list of a submission, as a list; empty if it has none. */
export function udpPortsOf(list: string, { options }: Pick<ScanRequest, 'options'>): string {
  const first = options.scan_type === 'udp' ? 'udp' : 'tcp';
  return parsePorts(list, portCatalog, first).udp.join(',');
}

/**
 * The graph with a UDP scanner if the submission requires one: `scan_type` udp replaces the TCP scanner, UDP ports in
 * `ports` add a UDP scanner.
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
