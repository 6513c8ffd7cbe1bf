import { Handle, Position } from '@xyflow/react';
import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.tsx';
import { StateMark } from '../marks/state-mark.tsx';
import type { GraphNode, NodeState } from './graph-props.ts';

export interface StageData extends Record<string, unknown> {
  node: GraphNode;
  direction: 'right' | 'down';
  isSelected: boolean;
  isFocused: boolean;
  canSelect: boolean;
}

const looks: Record<NodeState, string> = {
  none: 'border-line-strong bg-surface-1',
  pending: 'border-line bg-surface-1 text-text-2',
  running: 'border-accent-line bg-accent-soft',
  completed: 'border-line-strong bg-surface-1',
  failed: 'border-state-failed bg-surface-1',
  skipped: 'border-line border-dashed bg-surface-1 text-text-2',
};

/** One node of a graph: its state by icon, its name, what went through it. */
export function StageNode({ data }: { data: StageData }): ReactNode {
  const { node, direction, isSelected, isFocused, canSelect } = data;
  const [into, out] =
    direction === 'right' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom];
  const outline = isFocused
    ? 'outline-2 outline-offset-1 outline-focus'
    : node.problem !== undefined
      ? 'border-state-failed outline outline-state-failed'
      : node.slowest === true || isSelected
        ? 'border-accent outline outline-accent'
        : node.condition !== undefined
          ? 'border-dashed'
          : '';
  return (
    <div
      title={node.problem ?? [`${node.title}: ${node.text}`, node.condition].filter(Boolean).join(', ')}
      className={`relative flex h-full w-full gap-1.5 rounded-m border px-2 py-1 ${looks[node.state]} ${outline} ${canSelect ? 'cursor-pointer' : ''}`}
    >
      <Handle type="target" position={into} isConnectable={false} />
      <div className="min-w-0 grow">
        <div className="truncate font-medium text-size-12 leading-4">{node.title}</div>
        <div className="flex items-center gap-1 text-size-11 leading-4 text-text-2">
          {/* Beside the counts: the name has the whole width. */}
          {node.state !== 'none' && (
            <span className="flex h-4 scale-90 items-center">
              <StateMark state={node.state} bare />
            </span>
          )}
          <span className="min-w-0 truncate">{node.condition ?? node.text}</span>
        </div>
      </div>
      {node.problem !== undefined && (
        <span className="flex text-state-failed">
          <Icon name="state-failed" size={14} />
        </span>
      )}
      {node.progress !== undefined && (
        <span className="absolute inset-x-1.5 bottom-0.5 h-0.5 overflow-hidden rounded-s bg-surface-3">
          <span
            className="block h-full bg-accent"
            style={{ width: `${Math.floor(Math.max(0, Math.min(1, node.progress)) * 100)}%` }}
          />
        </span>
      )}
      <Handle type="source" position={out} isConnectable={false} />
    </div>
  );
}
