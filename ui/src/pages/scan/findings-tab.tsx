import { useMemo } from 'react';
import { countsAs } from '../../../../src/domain/finding-order.ts';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { ValueMenu } from '../../components/query/value-menu.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { ColumnChooser, useShownColumns } from '../../components/table/column-chooser.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { cvss, hundredths } from '../../format/numbers.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { RecordDrawer } from './drawer/record-drawer.tsx';
import { useOpenRow } from './drawer/use-open-row.ts';
import { EmptyRecords } from './empty-records.tsx';
import type { FindingRecord } from './record-types.ts';
import { findingKey, portText, worstFirst } from './result-rows.ts';
import { TableFrame } from './table-frame.tsx';
import { useScan } from './use-scan.ts';
import { useWaitingRows } from './use-waiting-rows.ts';

/** One row per finding of a host, with its ports, the worst first. */
export default function FindingsTab() {
  const { data: scan, scanId } = useScan();
  const [q] = useSearchParam('q');
  const [sort, setSort] = useSearchParam('sort', '-severity');
  const [open] = useSearchParam('open');
  const setSearch = useSetSearch();
  const order = sort === '-severity' ? worstFirst : sort;
  const findings = useRecordRows<FindingRecord>(scanId, {
    type: 'vulnerability',
    q,
    sort: order,
    join: 'ports',
  });
  const waiting = useWaitingRows(scan, 'vulnerabilities', findings.refresh);
  const columns = useMemo(findingColumns, []);
  const chosen = useShownColumns();
  const { onOpen, moves } = useOpenRow({
    rowAt: findings.rowAt,
    total: findings.total,
    keyOf: findingKey,
    openKey: open,
    onOpen: (row) => setSearch({ open: findingKey(row) }),
  });
  if (!scan) return null;
  if (findings.error && findings.error.reasonOf('q') === null)
    return <Failure error={findings.error} retry={findings.refresh} />;
  return (
    <TableFrame
      scan={scan}
      of="findings"
      isPending={findings.isPending}
      matches={findings.matches}
      problem={findings.error?.reasonOf('q') ?? null}
      waiting={waiting}
      indexShare={findings.indexShare}
      actions={<ColumnChooser columns={columns} {...chosen} />}
      facets={['severity', 'class', 'kev', 'product', 'port', 'host']}
    >
      <DataTable<FindingRecord>
        label="Findings"
        columns={columns}
        shown={chosen.shown}
        rowAt={findings.rowAt}
        total={findings.total}
        rowKey={findingKey}
        sort={sort}
        onSort={setSort}
        openKey={open}
        onOpen={onOpen}
        lines={2}
        phoneRow={phoneRow}
        isPending={findings.isPending}
        empty={<EmptyRecords scan={scan} of="findings" q={q} />}
      />
      <RecordDrawer scanId={scanId} openKey={open} {...moves} onClose={() => setSearch({ open: null })} />
    </TableFrame>
  );
}

function findingColumns(): Column<FindingRecord>[] {
  return [
    {
      id: 'severity',
      head: 'Severity',
      width: 88,
      priority: 0,
      sort: 'severity',
      descendingFirst: true,
      cell: ({ vulnerability }) => (
        <ValueMenu field="severity" value={countsAs(vulnerability)}>
          <SeverityMark severity={countsAs(vulnerability)} />
        </ValueMenu>
      ),
    },
    { id: 'title', head: 'Finding', width: 400, grow: 8, priority: 0, sort: 'title', cell: titleCell },
    {
      id: 'host',
      head: 'Host',
      width: 172,
      grow: 1,
      priority: 1,
      sort: 'host',
      cell: ({ host }) => (
        <ValueMenu field="host" value={host}>
          <TargetText text={host} mono cut="middle" max={39} />
        </ValueMenu>
      ),
    },
    {
      id: 'port',
      head: 'Port',
      width: 116,
      priority: 3,
      sort: 'port',
      cell: (row) => (
        <ValueMenu field="port" value={row.port}>
          <span className="mono" title={row.ports?.map(portText).join(', ')}>
            {portsText(row)}
          </span>
        </ValueMenu>
      ),
    },
    {
      id: 'class',
      head: 'How sure',
      width: 84,
      priority: 4,
      sort: 'class',
      cell: ({ vulnerability }) =>
        vulnerability.class ? (
          <ValueMenu field="class" value={vulnerability.class}>
            <ClassMark value={vulnerability.class} />
          </ValueMenu>
        ) : (
          '–'
        ),
    },
    {
      id: 'cvss',
      head: 'CVSS',
      width: 44,
      align: 'right',
      priority: 5,
      sort: 'cvss',
      descendingFirst: true,
      cell: ({ vulnerability }) => cvss(vulnerability.cvss?.score),
    },
    {
      id: 'epss',
      head: 'EPSS',
      width: 44,
      align: 'right',
      priority: 6,
      sort: 'epss',
      descendingFirst: true,
      cell: ({ vulnerability }) => hundredths(vulnerability.epss?.score),
    },
    {
      id: 'seen',
      head: 'Seen',
      width: 160,
      priority: 7,
      cell: ({ vulnerability }) => <TargetText text={vulnerability.detected ?? '–'} max={40} />,
    },
  ];
}

/** The title, and its id below. */
/** `443/tcp`, `443, 8443/tcp`, `443, 8443 +3` */
function portsText(row: FindingRecord): string {
  const { ports = [] } = row;
  if (ports.length < 2) return portText(row);
  const [one, other] = ports;
  return ports.length === 2
    ? `${one?.port}, ${other?.port}/${row.protocol}`
    : `${one?.port}, ${other?.port} +${ports.length - 2}`;
}

function titleCell({ vulnerability: { id, title, kev } }: FindingRecord) {
  return (
    <span className="flex min-w-0 flex-col leading-[17px]">
      <span className="truncate">
        <TargetText text={title} />
      </span>
      <span className="flex min-w-0 items-center gap-2 text-text-2">
        <span className="truncate">
          <TargetText text={id} mono />
        </span>
        {kev && <Exploited />}
      </span>
    </span>
  );
}

function phoneRow(row: FindingRecord) {
  const { vulnerability } = row;
  return (
    <div className="flex flex-col">
      <span className="flex min-w-0 items-center gap-2">
        <SeverityMark severity={countsAs(vulnerability)} bare />
        <span className="truncate">
          <TargetText text={vulnerability.title} />
        </span>
        {vulnerability.kev && <Exploited />}
      </span>
      <span className="mono truncate text-text-2">
        {row.host} {portsText(row)} · <TargetText text={vulnerability.id} max={40} />
      </span>
    </div>
  );
}
