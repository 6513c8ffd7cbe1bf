import { type ReactNode, useMemo } from 'react';
import { shownState } from '../../../../src/domain/scan-state.ts';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { useGo } from '../../url/link.tsx';
import { scanTitle } from '../scan/use-scan.ts';

type Scan = Data<'/api/v1/scans/{scan_id}'>;

/** The scans that would go, by name. Only those in view are asked for: there may be very many. */
export function GoingScans({ ids }: { ids: readonly string[] }) {
  const go = useGo();
  const columns = useMemo(goingColumns, []);
  return (
    <DataTable<string>
      label="Scans that would go"
      columns={columns}
      rows={ids}
      rowKey={(id) => id}
      onOpen={(id) => go(`/scans/${id}`)}
      phoneRow={(id) => <PhoneRow id={id} />}
    />
  );
}

function goingColumns(): Column<string>[] {
  return [
    { id: 'state', head: 'State', width: 116, priority: 2, cell: (id) => <Of id={id}>{stateOf}</Of> },
    { id: 'name', head: 'Name', width: 160, grow: 2, priority: 0, cell: (id) => <Of id={id}>{nameOf}</Of> },
    {
      id: 'created',
      head: 'Created',
      width: 176,
      grow: 1,
      priority: 1,
      cell: (id) => <Of id={id}>{createdOf}</Of>,
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 180,
      priority: 4,
      cell: (id) => <Of id={id}>{findingsOf}</Of>,
    },
    { id: 'id', head: 'Scan', width: 176, priority: 3, cell: (id) => <Mono>{id}</Mono> },
  ];
}

function Of({ id, children }: { id: string; children: (scan: Scan) => ReactNode }) {
  const { data } = useGet('/api/v1/scans/{scan_id}', { path: { scan_id: id } });
  return data ? children(data) : null;
}

const stateOf = (scan: Scan) => <StateMark state={shownState(scan)} />;
const createdOf = (scan: Scan) => <TimeText at={scan.created_at} />;
const findingsOf = (scan: Scan) => {
  const isNone = Object.values(scan.severity_counts).every((number) => number === 0);
  return isNone ? '0' : <SeverityCounts counts={scan.severity_counts} slots />;
};
const nameOf = (scan: Scan) => (
  <span className="font-medium">
    <TargetText text={scanTitle(scan)} max={80} />
  </span>
);

function PhoneRow({ id }: { id: string }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="truncate text-text-1">
        <Of id={id}>{nameOf}</Of>
      </span>
      <span className="flex justify-between gap-2 text-size-12">
        <Mono>{id}</Mono>
        <Of id={id}>{createdOf}</Of>
      </span>
    </span>
  );
}
