import type { DiscoveryProbe, DiscoveryProfile } from '../../domain/scan.ts';
import type { Graph, GraphNode } from '../../engine/graph.ts';
import type { Registry } from '../../engine/registry.ts';

type Probe = Pick<GraphNode, 'moduleType' | 'config'>;

const wideTcp = '80,443,22,25,21,23,53,110,135,139,143,389,445,993,995,1433,3306,3389,5432,5900,8080,8443';

/** How live hosts are found, whatever the graph says. */
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

/** The graph with other discovery nodes. */
export function withDiscovery(graph: Graph, profile: DiscoveryProfile, registry: Registry): Graph {
  return replaceDiscovery(graph, registry, (taken) =>
    probesOf[profile].map((probe) => newNode(probe, taken)),
  );
}

/**
 * The graph with discovery nodes as a profile wants them, by module type: options laid over those of the graph, nodes
 * that are not used left out, and a node more for each module that the graph does without.
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
 * What came after any of the old nodes comes after all of the new ones.
 * @param replace gives the new nodes; it is told which names the rest of the graph has
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
  // A scanner that took the targets as they are now waits for discovery, which was asked for.
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
