import { type Edge, type Node, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import './graph.css';
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { essentialEdges } from './essential-edges.ts';
import type { GraphEdge, GraphPictureProps } from './graph-props.ts';
import { type GraphLayout, layoutGraph } from './layout-graph.ts';
import { type StageData, StageNode } from './stage-node.tsx';

type Props = GraphPictureProps & { focused: string | null };

const nodeTypes = { stage: StageNode };
/** A picture to the right gets no smaller, it scrolls sideways; beside an editor the reader zooms. */
const leastZoom = 0.75;
const zooms = { least: 0.3, readable: 0.6, most: 1.5 };
const fit = { minZoom: zooms.readable, maxZoom: 1, padding: 0.04 };
/** Space for outlines around the picture, pixels. */
const edgeSpace = 4;

/** The drawing of a graph, by xyflow with the places of dagre. */
export default function GraphCanvas({ edges: all, ...rest }: Props): ReactNode {
  const props = { ...rest, edges: essentialEdges(all) };
  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box);
  const shape = JSON.stringify([
    props.nodes.map(({ id }) => id),
    props.edges.map(({ from, to }) => [from, to]),
  ]);
  const laid = useMemo(
    () => layoutGraph(props.nodes, props.edges, props.direction, room - 2 * edgeSpace),
    // Places depend on the shape of the graph only, not on the states of its nodes.
    [shape, props.direction, room],
  );
  return (
    <div ref={box} className="h-full w-full min-w-0">
      {room > 0 && laid.nodes.length > 0 && (
        <ReactFlowProvider>
          {props.direction === 'right' ? (
            <Wide {...props} laid={laid} room={room} />
          ) : (
            <Zoomed {...props} laid={laid} shape={shape} />
          )}
        </ReactFlowProvider>
      )}
    </div>
  );
}

type DrawnProps = Props & { laid: GraphLayout };

/** As high as its content; too wide for the page it becomes smaller, then scrolls sideways. */
function Wide({ room, ...props }: DrawnProps & { room: number }): ReactNode {
  const { width, height } = props.laid;
  const zoom = Math.max(leastZoom, Math.min(1, (room - 2 * edgeSpace) / width));
  return (
    <div aria-hidden className="overflow-x-auto overflow-y-hidden">
      <div
        style={{ width: Math.max(room, width * zoom + 2 * edgeSpace), height: height * zoom + 2 * edgeSpace }}
      >
        <Flow
          {...props}
          viewport={{ x: edgeSpace, y: edgeSpace, zoom }}
          panOnDrag={false}
          zoomOnPinch={false}
        />
      </div>
    </div>
  );
}

/** Fills its place; dragged, zoomed by buttons, so that the wheel scrolls the page. */
function Zoomed({ shape, ...props }: DrawnProps & { shape: string }): ReactNode {
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    void flow.fitView(fit);
  }, [flow, shape]);
  // Without a mouse the picture is not dragged: it follows the focus.
  useEffect(() => {
    const node = props.laid.nodes.find(({ id }) => id === props.focused);
    if (node === undefined || box.current === null) return;
    const { width, height } = props.laid.node;
    const view = flow.getViewport();
    const [left, top] = [node.x * view.zoom + view.x, node.y * view.zoom + view.y];
    const isInView =
      left >= 0 &&
      top >= 0 &&
      left + width * view.zoom <= box.current.clientWidth &&
      top + height * view.zoom <= box.current.clientHeight;
    if (!isInView) void flow.setCenter(node.x + width / 2, node.y + height / 2, { zoom: view.zoom });
  }, [flow, props.focused, props.laid]);
  return (
    <div ref={box} className="relative h-full min-h-80">
      <div className="absolute right-2 top-2 z-(--z-sticky) flex items-center gap-1">
        <Button variant="ghost" size="small" onClick={() => void flow.zoomTo(1)}>
          {Math.round(zoom * 100)} %<span className="sr-only">, show at 100 %</span>
        </Button>
        <Button variant="ghost" size="small" onClick={() => void flow.fitView(fit)}>
          Fit<span className="sr-only"> the picture into its place</span>
        </Button>
      </div>
      <div aria-hidden className="h-full">
        <Flow {...props} fitView panOnDrag zoomOnPinch onZoom={setZoom} />
      </div>
    </div>
  );
}

interface FlowProps extends DrawnProps {
  viewport?: { x: number; y: number; zoom: number };
  fitView?: boolean;
  panOnDrag: boolean;
  zoomOnPinch: boolean;
  onZoom?(zoom: number): void;
}

function Flow({
  laid,
  nodes,
  edges,
  direction,
  selected,
  focused,
  onSelect,
  onZoom,
  ...view
}: FlowProps): ReactNode {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages: Node<StageData>[] = laid.nodes.flatMap(({ id, x, y }) => {
    const node = byId.get(id);
    if (node === undefined) return [];
    const data = {
      node,
      direction,
      isSelected: id === selected,
      isFocused: id === focused,
      canSelect: onSelect !== undefined,
    };
    return [{ id, type: 'stage', position: { x, y }, data, ...laid.node }];
  });
  return (
    <ReactFlow
      nodes={stages}
      edges={edges
        .filter(({ from, to }) => byId.has(from) && byId.has(to))
        .map((edge) => lineOf(edge, byId.get(edge.from)?.state === 'running'))}
      nodeTypes={nodeTypes}
      {...view}
      fitViewOptions={fit}
      minZoom={zooms.least}
      maxZoom={zooms.most}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnScroll={false}
      zoomOnDoubleClick={false}
      panOnScroll={false}
      preventScrolling={false}
      disableKeyboardA11y
      proOptions={{ hideAttribution: true }}
      onNodeClick={(_, { id }) => onSelect?.(id)}
      onViewportChange={({ zoom }) => onZoom?.(zoom)}
    />
  );
}

function lineOf({ from, to, dashed, label, problem }: GraphEdge, isRunning: boolean): Edge {
  const kind =
    problem === true
      ? 'graph-edge-problem'
      : dashed === true
        ? 'graph-edge-dashed'
        : isRunning
          ? 'graph-edge-running'
          : '';
  return {
    id: `${from}\n${to}`,
    source: from,
    target: to,
    className: kind,
    ...(label !== undefined && { label, labelBgPadding: [4, 1] as [number, number] }),
  };
}

/** The width that the picture has, pixels; 0 before it is known. */
function useRoom(box: RefObject<HTMLDivElement | null>): number {
  const [room, setRoom] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return room;
}
