import type { GraphEdge, GraphNode } from '../../components/graph/graph-props.ts';
import { count } from '../../format/numbers.ts';
import type { Scan, Stage } from './use-scan.ts';

/** The stages of a scan as a picture: what went in and came out of each, and what waits for what. */
export function stageGraph({ stages, progress }: Pick<Scan, 'stages' | 'progress'>): {
  nodes: GraphNode[];
  edges: GraphEdge[];
} {
  const known = new Set(stages.map(({ instance_id }) => instance_id));
  const nodes = stages.map(
    (stage): GraphNode => ({
      id: stage.instance_id,
      title: stage.instance_id,
      text: textOf(stage),
      state: stage.status,
      slowest: stage.instance_id === progress.slowest_stage,
      // Of a skipped stage this is the reason.
      problem: stage.status === 'failed' ? (stage.error ?? undefined) : undefined,
      progress: stage.total ? Math.min(1, (stage.done ?? 0) / stage.total) : undefined,
    }),
  );
  const edges = stages.flatMap(({ instance_id, depends_on = [], status }) =>
    depends_on
      .filter((name) => known.has(name))
      .map(
        (from): GraphEdge => ({
          from,
          to: instance_id,
          dashed: status === 'pending' || status === 'skipped',
        }),
      ),
  );
  return { nodes, edges };
}

function textOf({ status, items_in, items_out }: Stage): string {
  if (status === 'pending') return 'waits';
  if (status === 'skipped') return 'skipped';
  return `${count(items_in)} → ${count(items_out)}`;
}
