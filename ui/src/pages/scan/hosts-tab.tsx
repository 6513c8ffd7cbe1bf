import { useMemo } from 'react';
import { Switch } from '../../components/controls/switch.tsx';
import { clickValue, markOf } from '../../components/query/query-edit.ts';
import { Failure } from '../../components/states/failure.tsx';
import { ColumnChooser, useShownColumns } from '../../components/table/column-chooser.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { ExpandedRows } from '../../components/table/expanded-rows.ts';
import { useRecordRows } from '../../components/table/use-record-rows.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { RecordDrawer } from './drawer/record-drawer.tsx';
import { useOpenRow } from './drawer/use-open-row.ts';
import { EmptyRecords } from './empty-records.tsx';
import { type HostTreeRow, hostColumns, hostPhoneRow } from './host-columns.tsx';
import type { HostRecord } from './record-types.ts';
import { portText } from './result-rows.ts';
import { TableFrame } from './table-frame.tsx';
import { useHostChildren } from './use-host-children.ts';
import { useScan } from './use-scan.ts';
import { useWaitingRows } from './use-waiting-rows.ts';

/** Host, its services, their findings: a tree. */
export default function HostsTab() {
  const { data: scan, scanId } = useScan();
  const [q, setQ] = useSearchParam('q');
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

  const rowAt = (at: number): HostTreeRow | undefined => {
    const { parent, child } = positions.at(at);
    if (child !== null) return below.get(parent)?.[child];
    const record = hosts.rowAt(parent);
    return record && { kind: 'host', record, index: parent, isUnfolded: children.isUnfolded(parent) };
  };
  const chosen = useShownColumns();
  const columns = useMemo(hostColumns, []);
  const { onOpen, moves } = useOpenRow<HostTreeRow>({
    rowAt,
    total: positions.total,
    keyOf,
    openKey: open,
    canOpen: ({ kind }) => kind !== 'rest',
    onOpen: (row) => setSearch({ open: keyOf(row) }),
  });
  if (!scan) return null;
  if (hosts.error && hosts.error.reasonOf('q') === null)
    return <Failure error={hosts.error} retry={hosts.refresh} />;
  return (
    <TableFrame
      scan={scan}
      of="hosts"
      isPending={hosts.isPending}
      matches={hosts.matches}
      problem={hosts.error?.reasonOf('q') ?? null}
      waiting={waiting}
      indexShare={hosts.indexShare}
      actions={
        <>
          <div className="flex h-8 items-center px-2">
            <Switch
              label="With open ports"
              checked={markOf(q, 'state', 'open') === 'added'}
              onChange={() => setQ(clickValue(q, 'state', 'open'))}
            />
          </div>
          <ColumnChooser columns={columns} {...chosen} />
        </>
      }
      facets={['severity', 'port', 'product', 'kev', 'os', 'device']}
    >
      <DataTable<HostTreeRow>
        label="Hosts, services and findings"
        columns={columns}
        shown={chosen.shown}
        rowAt={rowAt}
        total={positions.total}
        rowKey={keyOf}
        sort={sort}
        onSort={setSort}
        openKey={open}
        onOpen={onOpen}
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
        phoneRow={hostPhoneRow}
        isPending={hosts.isPending}
        empty={<EmptyRecords scan={scan} of="hosts" q={q} />}
      />
      <RecordDrawer scanId={scanId} openKey={open} {...moves} onClose={() => setSearch({ open: null })} />
    </TableFrame>
  );
}

/** `host 192.0.2.1`, `port 192.0.2.1 443/tcp`, `finding 192.0.2.1 443/tcp CVE-…`: what the URL names. */
function keyOf(row: HostTreeRow): string {
  if (row.kind === 'rest') return `rest ${row.text}`;
  if (row.kind === 'host') return `host ${row.record.host}`;
  const place = `${row.record.host} ${portText(row.record)}`;
  return row.kind === 'port' ? `port ${place}` : `finding ${place} ${row.record.vulnerability.id}`;
}
