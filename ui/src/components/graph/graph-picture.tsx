import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Icon } from '../icons/icon.tsx';
import { StateMark } from '../marks/state-mark.tsx';
import { useIsPhone } from '../table/use-is-phone.ts';
import type { GraphNode, GraphPictureProps } from './graph-props.ts';

const Canvas = lazy(() => import('./graph-canvas.tsx'));

/**
 * A graph as a picture, and the same as a list: for screen readers and the keyboard, whose focus is drawn in the
 * picture, and instead of the picture on phones.
 */
export function GraphPicture(props: GraphPictureProps): ReactNode {
  const [focused, setFocused] = useState<string | null>(null);
  const isPhone = useIsPhone();
  const list = <GraphList {...props} isHidden={!isPhone} onFocused={setFocused} />;
  if (isPhone) return list;
  return (
    <div className={`relative min-w-0 ${props.direction === 'down' ? 'h-full min-h-80' : ''}`}>
      {list}
      <div className="h-full">
        <Suspense fallback={<div className="h-40" />}>
          <Canvas {...props} focused={focused} />
        </Suspense>
      </div>
    </div>
  );
}

interface ListProps extends GraphPictureProps {
  isHidden: boolean;
  onFocused(id: string | null): void;
}

function GraphList({ nodes, edges, label, selected, onSelect, isHidden, onFocused }: ListProps): ReactNode {
  return (
    <ol aria-label={label} className={isHidden ? 'sr-only' : 'm-0 list-none border-t border-line-subtle p-0'}>
      {nodes.map((node) => (
        <li key={node.id} className={isHidden ? '' : 'border-b border-line-subtle'}>
          {onSelect === undefined ? (
            <NodeLine node={node} sources={sourcesOf(node, edges)} />
          ) : (
            <button
              type="button"
              aria-current={node.id === selected || undefined}
              className="min-h-11 w-full text-left"
              onClick={() => onSelect(node.id)}
              onFocus={() => onFocused(node.id)}
              onBlur={() => onFocused(null)}
            >
              <NodeLine node={node} sources={sourcesOf(node, edges)} />
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

function NodeLine({ node, sources }: { node: GraphNode; sources: string }): ReactNode {
  return (
    <span className="flex min-h-11 flex-wrap items-center gap-x-3 py-1.5">
      {node.state !== 'none' && <StateMark state={node.state} bare />}
      <span className="font-medium">{node.title}</span>
      <span className="text-size-12 text-text-2">{node.text}</span>
      {node.slowest === true && <span className="text-size-12 text-accent-text">slowest stage</span>}
      {node.condition !== undefined && <span className="text-size-12 text-text-3">{node.condition}</span>}
      {sources !== '' && <span className="basis-full text-size-11 text-text-3">after {sources}</span>}
      {node.problem !== undefined && (
        <span className="flex basis-full items-center gap-1.5 text-size-12 text-state-failed">
          <Icon name="state-failed" size={14} />
          {node.problem}
        </span>
      )}
    </span>
  );
}

function sourcesOf({ id }: GraphNode, edges: GraphPictureProps['edges']): string {
  return edges
    .filter(({ to }) => to === id)
    .map(({ from }) => from)
    .join(', ');
}
