export type NodeState = 'pending' | 'running' | 'completed' | 'failed' | 'skipped' | 'none';

export interface GraphNode {
  id: string;
  title: string;
  /** Second line: "143 → 412", or the type of the module. */
  text: string;
  /** `none` in an editor. */
  state: NodeState;
  /** 0 to 1; drawn as a bar. */
  progress?: number;
  /** Outlined: the scan waits for it. */
  slowest?: boolean;
  /** Outlined in red, with the words in its tooltip. */
  problem?: string;
  /** Drawn dashed, with these words in place of the second line: "if vuln". */
  condition?: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  dashed?: boolean;
  /** What runs along it: "open ports". */
  label?: string;
  /** A dependency that does not exist. */
  problem?: boolean;
}

export interface GraphPictureProps {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** `right` in scans, `down` beside the editor. */
  direction: 'right' | 'down';
  /** Name for screen readers, "Stages of this scan". */
  label: string;
  selected?: string | null;
  onSelect?(id: string): void;
}
