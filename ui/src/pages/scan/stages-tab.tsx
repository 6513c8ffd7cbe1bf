import { useMemo } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { useIsPhone } from '../../components/table/use-is-phone.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count, rate } from '../../format/numbers.ts';
import { stageGraph } from './stage-graph.ts';
import { hasEnded, type Stage, useScan } from './use-scan.ts';

/** Each stage of the graph: what went in and came out, how fast, how long. */
export default function StagesTab() {
  const { data: scan } = useScan();
  const columns = useMemo(stageColumns, []);
  const isPhone = useIsPhone();
  if (!scan) return null;
  return (
    <div className="flex flex-col gap-4">
      {/* A running scan shows the same picture above the tabs; on phones it would be the list below once more. */}
      {hasEnded(scan) && !isPhone && (
        <GraphPicture {...stageGraph(scan)} direction="right" label="Stages of this scan" />
      )}
      <DataTable<Stage>
        label="Stages"
        columns={columns}
        rows={scan.stages}
        rowKey={({ instance_id }) => instance_id}
        dense={false}
        phoneRow={(stage) => (
          <div className="flex flex-col">
            <span className="flex justify-between gap-2">
              {stage.instance_id} <StateMark state={stage.status} />
            </span>
            <span className="text-size-12 text-text-2">{`${count(stage.items_in)} → ${count(stage.items_out)}`}</span>
          </div>
        )}
      />
    </div>
  );
}

function stageColumns(): Column<Stage>[] {
  return [
    { id: 'stage', head: 'Stage', width: 120, grow: 1, priority: 0, cell: ({ instance_id }) => instance_id },
    {
      id: 'module',
      head: 'Module',
      width: 140,
      grow: 1,
      priority: 4,
      cell: ({ module_type }) => <span className="text-text-2">{module_type}</span>,
    },
    {
      id: 'state',
      head: 'State',
      width: 110,
      priority: 0,
      cell: ({ status }) => <StateMark state={status} />,
    },
    { id: 'in', head: 'In', width: 64, align: 'right', priority: 1, cell: ({ items_in }) => count(items_in) },
    {
      id: 'out',
      head: 'Out',
      width: 64,
      align: 'right',
      priority: 1,
      cell: ({ items_out }) => count(items_out),
    },
    {
      id: 'speed',
      head: 'In per second',
      width: 84,
      align: 'right',
      priority: 3,
      cell: ({ status, items_in_per_second }) => (status === 'running' ? rate(items_in_per_second) : '–'),
    },
    {
      id: 'took',
      head: 'Took',
      width: 84,
      align: 'right',
      priority: 2,
      cell: (stage) => <Took stage={stage} />,
    },
    {
      id: 'after',
      head: 'Waits for',
      width: 120,
      grow: 1,
      priority: 5,
      cell: ({ depends_on }) => <span className="text-text-2">{depends_on?.join(', ') || '–'}</span>,
    },
    {
      id: 'error',
      head: 'Note',
      width: 320,
      grow: 4,
      priority: 2,
      cell: ({ error, method }) => <TargetText text={error ?? method ?? '–'} max={120} />,
    },
  ];
}

function Took({ stage: { started_at, completed_at, status } }: { stage: Stage }) {
  if (started_at === null) return <>–</>;
  const end = completed_at === null ? (status === 'running' ? serverNow() : null) : Date.parse(completed_at);
  return end === null ? <>–</> : <DurationText ms={Math.max(0, end - Date.parse(started_at))} />;
}
