import { useMemo } from 'react';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { ExpandedRows } from '../../components/table/expanded-rows.ts';
import type { Column } from '../../components/table/table-props.ts';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { count, cvss, hundredths } from '../../format/numbers.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { RecordDrawer } from './drawer/record-drawer.tsx';
import { EmptyRecords } from './empty-records.tsx';
import type { HostRecord, PortRecord } from './record-types.ts';
import { portText, systemOf } from './result-rows.ts';
import { TableFrame } from './table-frame.tsx';
import { type ChildRow, useHostChildren } from './use-host-children.ts';
import { useScan } from './use-scan.ts';
import { useWaitingRows } from './use-waiting-rows.ts';

type Row = { kind: 'host'; record: HostRecord; index: number; isUnfolded: boolean } | ChildRow;

/** Host, its services, their findings: a tree. */
export default function HostsTab() {
  const { data: scan, scanId } = useScan();
  const [q] = useSearchParam('q');
  const [sort, setSort] = useSearchParam('sort', 'address');
  const [open] = useSearchParam('open');
  const setSearch = useSetSearch();
  const hosts = useRecordRows<HostRecord>(scanId, { type: 'host', q, sort });
  const waiting = useWaitingRows(scan, 'live_hosts', hosts.refresh);
  const children = useHostChildren(scanId, q);
  const below = new Map(children.indices.map((index) => [index, children.rowsBelow(index)]));
  const positions = new ExpandedRows(
    hosts.total,
    new Map([...below].map(([index, rows]) => [index, rows.length])),
  );

  const rowAt = (at: number): Row | undefined => {
    const { parent, child } = positions.at(at);
    if (child !== null) return below.get(parent)?.[child];
    const record = hosts.rowAt(parent);
    return record && { kind: 'host', record, index: parent, isUnfolded: children.isUnfolded(parent) };
  };
  const columns = useMemo(hostColumns, []);
  if (!scan) return null;
  if (hosts.error && hosts.error.reasonOf('q') === null)
    return <Failure error={hosts.error} retry={hosts.refresh} />;
  return (
    <TableFrame
      scan={scan}
      of="hosts"
      matches={hosts.matches}
      problem={hosts.error?.reasonOf('q') ?? null}
      waiting={waiting}
      indexShare={hosts.indexShare}
      facets={['severity', 'port', 'product', 'kev', 'os', 'device']}
    >
      <DataTable<Row>
        label="Hosts, services and findings"
        columns={columns}
        rowAt={rowAt}
        total={positions.total}
        rowKey={keyOf}
        sort={sort}
        onSort={setSort}
        openKey={open}
        onOpen={(row) => row.kind !== 'rest' && setSearch({ open: keyOf(row) })}
        tree={{
          level: (row) => (row.kind === 'host' ? 1 : row.kind === 'finding' ? row.level : 2),
          expanded: (row) =>
            row.kind === 'host' ? row.isUnfolded : row.kind === 'port' ? !row.isFolded : undefined,
          toggle: (row) => {
            if (row.kind === 'host') void children.toggleHost(row.index, row.record);
            if (row.kind === 'port') children.togglePort(row.record);
          },
        }}
        wholeRow={(row) => (row.kind === 'rest' ? row.text : null)}
        phoneRow={phoneRow}
        isPending={hosts.isPending}
        empty={<EmptyRecords scan={scan} of="hosts" q={q} />}
      />
      <RecordDrawer scanId={scanId} openKey={open} onClose={() => setSearch({ open: null })} />
    </TableFrame>
  );
}

/** `host 192.0.2.1`, `port 192.0.2.1 443/tcp`, `finding 192.0.2.1 443/tcp CVE-…`: what the URL names. */
export function keyOf(row: Row): string {
  if (row.kind === 'rest') return `rest ${row.text}`;
  if (row.kind === 'host') return `host ${row.record.host}`;
  const place = `${row.record.host} ${portText(row.record)}`;
  return row.kind === 'port' ? `port ${place}` : `finding ${place} ${row.record.vulnerability.id}`;
}

function hostColumns(): Column<Row>[] {
  return [
    { id: 'what', head: 'Host, service, finding', width: 250, priority: 0, sort: 'address', cell: whatCell },
    {
      id: 'name',
      head: 'Name, product, title',
      width: 180,
      grow: 1,
      priority: 2,
      sort: 'name',
      cell: nameCell,
    },
    {
      id: 'ports',
      head: 'Open',
      title: 'Open ports',
      width: 56,
      align: 'right',
      priority: 4,
      sort: 'open_ports',
      descendingFirst: true,
      cell: portsCell,
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 180,
      priority: 1,
      sort: 'findings',
      descendingFirst: true,
      cell: findingsCell,
    },
    { id: 'cvss', head: 'CVSS', width: 48, align: 'right', priority: 5, cell: cvssCell },
    { id: 'epss', head: 'EPSS', width: 48, align: 'right', priority: 6, cell: epssCell },
    { id: 'class', head: 'How sure', width: 96, priority: 7, cell: classCell },
  ];
}

function whatCell(row: Row) {
  if (row.kind === 'host') return <TargetText text={row.record.host} mono cut="middle" max={39} />;
  if (row.kind === 'port')
    return (
      <>
        <span className="mono">{portText(row.record)}</span>{' '}
        <span className="text-text-2">
          <TargetText text={row.record.service?.name ?? ''} />
        </span>
      </>
    );
  if (row.kind === 'rest') return null;
  return (
    <span className="flex items-center gap-1.5">
      <SeverityMark severity={row.record.vulnerability.severity} bare />
      <TargetText text={row.record.vulnerability.id} mono />
    </span>
  );
}

function nameCell(row: Row) {
  if (row.kind === 'host') return <HostName record={row.record} />;
  if (row.kind === 'port') return <ProductName record={row.record} />;
  if (row.kind === 'rest') return null;
  return (
    <span className="flex items-center gap-2">
      <TargetText text={row.record.vulnerability.title} />
      {row.record.vulnerability.kev && <Exploited />}
    </span>
  );
}

function HostName({ record }: { record: HostRecord }) {
  const [name] = record.hostnames ?? [];
  const system = systemOf(record);
  return (
    <>
      {name === undefined ? <span className="text-text-3">no name</span> : <TargetText text={name} />}
      {system !== null && (
        <span className="pl-2 text-text-2">
          <TargetText text={system} />
        </span>
      )}
    </>
  );
}

export function ProductName({ record: { service } }: { record: PortRecord }) {
  if (!service?.product) return <span className="text-text-3">not recognized</span>;
  return (
    <>
      <TargetText text={service.product} />{' '}
      {service.version && (
        <span className="text-text-2">
          <TargetText text={service.version} />
        </span>
      )}
    </>
  );
}

function portsCell(row: Row) {
  return row.kind === 'host' ? count(row.record.totals?.open_ports ?? 0) : null;
}

function findingsCell(row: Row) {
  if (row.kind !== 'host' && row.kind !== 'port') return null;
  const counts = row.record.totals?.severity_counts;
  return counts ? <SeverityCounts counts={counts} slots /> : null;
}

function cvssCell(row: Row) {
  return row.kind === 'finding' ? cvss(row.record.vulnerability.cvss?.score) : null;
}

function epssCell(row: Row) {
  return row.kind === 'finding' ? hundredths(row.record.vulnerability.epss?.score) : null;
}

function classCell(row: Row) {
  return row.kind === 'finding' && row.record.vulnerability.class ? (
    <ClassMark value={row.record.vulnerability.class} />
  ) : null;
}

function phoneRow(row: Row) {
  if (row.kind === 'rest') return row.text;
  return (
    <div className="flex flex-col">
      <span className="flex items-center justify-between gap-2">
        <span className="min-w-0 truncate">{whatCell(row)}</span>
        {findingsCell(row)}
      </span>
      <span className="truncate text-size-12 text-text-2">{nameCell(row)}</span>
    </div>
  );
}
