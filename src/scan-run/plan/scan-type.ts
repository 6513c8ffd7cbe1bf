import type { ScanRequest } from '../../domain/scan.ts';
import type { Graph, GraphNode } from '../../engine/graph/graph.ts';

/** Options that only raw packets support. */
const rawOptions = ['interface', 'source_ip', 'host_rate', 'fallback'];

/**
 * The graph with the TCP scanner and TCP discovery that `scan_type` requires: `connect` never sends raw packets,
 * `syn` nothing else. Without it, and with `auto`, the graph decides.
 */
export function withScanType(graph: Graph, { options }: Pick<ScanRequest, 'options'>): Graph {
  const { scan_type: type } = options;
  if (type !== 'syn' && type !== 'connect') return graph;
  const wanted = `${type}_scanner`;
  const nodes = graph.nodes.map((node) => {
    if (node.moduleType === 'tcp_probe_discovery') return probedBy(type, node);
    if (node.moduleType !== 'syn_scanner' && node.moduleType !== 'connect_scanner') return node;
    const own = Object.entries(node.config).filter(([name]) => type === 'syn' || !rawOptions.includes(name));
    const config = { ...Object.fromEntries(own), ...(type === 'syn' && { fallback: false }) };
    return { ...node, moduleType: wanted, config };
  });
  return { ...graph, nodes };
}

/** Discovery uses the same method as the port scan, unless the graph sets one. */
function probedBy(type: string, node: GraphNode): GraphNode {
  const { method = 'auto' } = node.config;
  return method === 'auto' ? { ...node, config: { ...node.config, method: type } } : node;
}
