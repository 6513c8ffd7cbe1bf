import type { DiscoveryProbe, DiscoveryProfile } from '../../domain/scan.ts';
import type { Graph, GraphNode } from '../../engine/graph/graph.ts';
import type { Registry } from '../../engine/registry.ts';

type Probe = Pick<GraphNode, 'moduleType' | 'config'>;

const wideTcp = '80,443,22,25,21,23,53,110,135,139,143,389,445,993,995,1433,3306,3389,5432,5900,8080,8443';

/** Discovery methods, overriding the graph. */
const probesOf: Record<DiscoveryProfile, Probe[]> = {
  fast: [{ moduleType: 'icmp_discovery', config: { timeout: '1s', retry: 0 } }],
  standard: [
    { moduleType: 'icmp_discovery', config: { timeout: '2s', retry: 2 } },
    { moduleType: 'tcp_probe_discovery', config: { ports: '80,443,22,25' } },
  ],
  deep: [
    { moduleType: 'icmp_discovery', config: { timeout: '2s', retry: 3 } },
    { moduleType: 'tcp_probe_discovery', config: { ports: wideTcp } },
  ],
  tcp: [{ moduleType: 'tcp_probe_discovery', config: { ports: wideTcp } }],
};

/** Replaces the discovery nodes of a graph. */
export function withDiscovery(graph: Graph, profile: DiscoveryProfile, registry: Registry): Graph {
  return replaceDiscovery(graph, registry, (taken) =>
    probesOf[profile].map((probe) => newNode(probe, taken)),
  );
}

/**
 * The graph with the discovery nodes of a profile, by module type: its options override those of the graph, unused
 * nodes are removed, and missing modules are added.
 */
export function withProbes(
  graph: Graph,
  probes: Readonly<Record<string, DiscoveryProbe>>,
  registry: Registry,
): Graph {
  return replaceDiscovery(graph, registry, (taken, old) => {
    const kept = old
      .filter(({ moduleType }) => probes[moduleType]?.enabled !== false)
      .map((node) => ({ ...node, config: { ...node.config, ...probes[node.moduleType]?.config } }));
    const there = new Set(kept.map(({ moduleType }) => moduleType));
    const missing = Object.entries(probes).filter(([type, { enabled }]) => enabled && !there.has(type));
    const ids = new Set([...taken, ...kept.map(({ instanceId }) => instanceId)]);
    return [...kept, ...missing.map(([moduleType, { config }]) => newNode({ moduleType, config }, ids))];
  });
}

/**
 * Nodes that depended on any of the old nodes depend on all of the new ones.
 * @param replace returns the new nodes, given the other names in the graph
 */
function replaceDiscovery(
  graph: Graph,
  registry: Registry,
  replace: (taken: ReadonlySet<string>, old: GraphNode[]) => GraphNode[],
): Graph {
  const isOld = ({ moduleType }: GraphNode) => registry.get(moduleType)?.type === 'discovery';
  const old = graph.nodes.filter(isOld);
  const oldIds = new Set(old.map(({ instanceId }) => instanceId));
  const others = graph.nodes.filter((node) => !isOld(node));
  const added = replace(new Set(others.map(({ instanceId }) => instanceId)), old);
  const ids = added.map(({ instanceId }) => instanceId);
  // A scanner that read the targets directly now waits for the requested discovery.
  const first = ({ dependsOn }: GraphNode) =>
    dependsOn.length === 0 || dependsOn.some((id) => oldIds.has(id));
  const joined = others.map((node) => ({
    ...node,
    dependsOn: [...node.dependsOn.filter((id) => !oldIds.has(id)), ...(first(node) ? ids : [])],
  }));
  return { ...graph, nodes: [...added, ...joined] };
}

function newNode({ moduleType, config }: Probe, taken: ReadonlySet<string>): GraphNode {
  let instanceId = moduleType;
  while (taken.has(instanceId)) instanceId = `${instanceId}_`;
  return {
    instanceId,
    moduleType,
    config,
    dependsOn: [],
    condition: null,
    consumes: [],
    produces: [],
    timeoutMs: null,
    retry: { attempts: 1, backoffMs: 0 },
    positionOf: () => ({ line: 1, column: 1 }),
  };
}
