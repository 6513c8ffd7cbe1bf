import { useMemo } from 'react';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { ValueMenu } from '../../components/query/value-menu.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { ColumnChooser, useShownColumns } from '../../components/table/column-chooser.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { TargetText } from '../../components/text/target-text.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { RecordDrawer } from './drawer/record-drawer.tsx';
import { useOpenRow } from './drawer/use-open-row.ts';
import { EmptyRecords } from './empty-records.tsx';
import { ProductMenus, ProductName } from './product-name.tsx';
import type { PortRecord } from './record-types.ts';
import { portText } from './result-rows.ts';
import { TableFrame } from './table-frame.tsx';
import { useScan } from './use-scan.ts';
import { useWaitingRows } from './use-waiting-rows.ts';

/** One row per open port. */
export default function ServicesTab() {
  const { data: scan, scanId } = useScan();
  const [q] = useSearchParam('q');
  const [sort, setSort] = useSearchParam('sort', 'host');
  const [open] = useSearchParam('open');
  const setSearch = useSetSearch();
  const ports = useRecordRows<PortRecord>(scanId, { type: 'port', q, sort });
  const waiting = useWaitingRows(scan, 'open_ports', ports.refresh);
  const columns = useMemo(portColumns, []);
  const chosen = useShownColumns();
  const { onOpen, moves } = useOpenRow({
    rowAt: ports.rowAt,
    total: ports.total,
    keyOf: keyOf,
    openKey: open,
    onOpen: (row) => setSearch({ open: keyOf(row) }),
  });
  if (!scan) return null;
  if (ports.error && ports.error.reasonOf('q') === null)
    return <Failure error={ports.error} retry={ports.refresh} />;
  return (
    <TableFrame
      scan={scan}
      of="services"
      listed={ports.total}
      isPending={ports.isPending}
      matches={ports.matches}
      problem={ports.error?.reasonOf('q') ?? null}
      waiting={waiting}
      indexShare={ports.indexShare}
      actions={<ColumnChooser columns={columns} {...chosen} />}
      facets={['service', 'port', 'product', 'version', 'state', 'severity']}
    >
      <DataTable<PortRecord>
        label="Services"
        columns={columns}
        shown={chosen.shown}
        rowAt={ports.rowAt}
        total={ports.total}
        rowKey={keyOf}
        sort={sort}
        onSort={setSort}
        openKey={open}
        onOpen={onOpen}
        phoneRow={(row) => (
          <div className="flex flex-col">
            <span className="flex justify-between gap-2">
              <span className="mono truncate">{row.host}</span>
              <span className="mono">{portText(row)}</span>
            </span>
            <span className="truncate text-size-12 text-text-2">
              <ProductName record={row} />
            </span>
          </div>
        )}
        isPending={ports.isPending}
        empty={<EmptyRecords scan={scan} of="services" q={q} />}
      />
      <RecordDrawer scanId={scanId} openKey={open} {...moves} onClose={() => setSearch({ open: null })} />
    </TableFrame>
  );
}

function keyOf(record: PortRecord): string {
  return `port ${record.host} ${portText(record)}`;
}

function portColumns(): Column<PortRecord>[] {
  return [
    {
      id: 'host',
      head: 'Address',
      width: 172,
      priority: 0,
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
      width: 84,
      priority: 0,
      sort: 'port',
      cell: (row) => (
        <ValueMenu field="port" value={row.port}>
          <span className="mono">{portText(row)}</span>
        </ValueMenu>
      ),
    },
    {
      id: 'service',
      head: 'Service',
      width: 90,
      priority: 3,
      sort: 'service',
      cell: ({ service }) => (
        <ValueMenu field="service" value={service?.name ?? null}>
          <TargetText text={service?.name ?? '–'} max={40} />
        </ValueMenu>
      ),
    },
    {
      id: 'product',
      head: 'Product',
      width: 250,
      grow: 2,
      priority: 1,
      sort: 'product',
      cell: (row) => <ProductMenus record={row} />,
    },
    {
      id: 'banner',
      head: 'Banner',
      width: 340,
      grow: 3,
      priority: 6,
      cell: ({ banner }) => (
        <span className="text-text-2">
          <TargetText text={banner ?? '–'} mono max={120} />
        </span>
      ),
    },
    {
      id: 'state',
      head: 'State',
      width: 100,
      priority: 4,
      sort: 'state',
      cell: ({ state }) => <ValueMenu field="state" value={state} />,
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 180,
      priority: 2,
      sort: 'findings',
      descendingFirst: true,
      cell: ({ totals }) => (totals ? <SeverityCounts counts={totals.severity_counts} slots /> : '–'),
    },
  ];
}
