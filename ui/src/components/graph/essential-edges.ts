interface Line {
  from: string;
  to: string;
  problem?: boolean;
}

/**
 * The edges without those that say nothing new because others lead to the same node: a → c beside a → b → c. What can
 * be reached from where stays the same.
 */
export function essentialEdges<E extends Line>(edges: readonly E[]): E[] {
  const kept = new Set(edges);
  for (const edge of edges) {
    if (edge.problem === true) continue;
    kept.delete(edge);
    if (!isReachable(edge, kept)) kept.add(edge);
  }
  return edges.filter((edge) => kept.has(edge));
}

function isReachable<E extends Line>({ from, to }: E, edges: ReadonlySet<E>): boolean {
  const next = Map.groupBy(
    [...edges].filter(({ problem }) => problem !== true),
    (edge) => edge.from,
  );
  const open = [from];
  const seen = new Set(open);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const edge of next.get(id) ?? []) {
      if (edge.to === to) return true;
      if (!seen.has(edge.to)) open.push(edge.to);
      seen.add(edge.to);
    }
  }
  return false;
}
