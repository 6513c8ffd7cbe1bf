import { useMemo, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { download } from '../../api/download.ts';
import { requestData } from '../../api/request.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/controls/confirm-dialog.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { SeverityCounts } from '../../components/marks/severity-counts.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { Failure } from '../../components/states/failure.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { DurationText } from '../../components/text/duration-text.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { serverNow } from '../../live/live.ts';
import { useCan } from '../../session/session.ts';
import { useGo } from '../../url/link.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { scanTitle, shownState } from '../scan/use-scan.ts';
import { useScanRows } from './use-scan-rows.ts';

type ListedScan = Data<'/api/v1/scans'>['scans'][number];

const statuses = [
  { value: '', label: 'All states' },
  { value: 'pending', label: 'Pending' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
] as const;

/** Every scan of the workspace, the newest first. */
export default function ScansPage() {
  const [q, setQ] = useSearchParam('q');
  const [status, setStatus] = useSearchParam('status');
  const [since, setSince] = useSearchParam('since');
  const [tag, setTag] = useSearchParam('tag');
  const [sort, setSort] = useSearchParam('sort', '-created_at');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter = { q, status, since: since === '' ? '' : `${since}T00:00:00Z`, tag, sort };
  const scans = useScanRows(filter);
  const go = useGo();
  const columns = useMemo(scanColumns, []);
  const isFiltered = q !== '' || status !== '' || since !== '' || tag !== '';
  if (scans.error && scans.total === 0) return <Failure error={scans.error} retry={scans.retry} />;
  return (
    <>
      <PageHeader
        title="Scans"
        actions={
          <LinkButton to="/scans/new" variant="primary" icon="plus">
            New scan
          </LinkButton>
        }
      />
      <div className="flex flex-wrap items-center gap-2 pb-3">
        <div className="min-w-0 grow basis-60">
          <TextInput
            label="Search by name, target or tag"
            placeholder="Name, target or tag"
            value={q}
            onChange={(text) => setQ(text, { replace: true })}
            data-filter=""
          />
        </div>
        <Select
          label="State"
          width="auto"
          options={statuses}
          value={status as ''}
          onChange={(value) => setStatus(value)}
        />
        <label className="flex items-center gap-2 text-size-12 text-text-2">
          Since
          <input
            type="date"
            className="h-[30px] rounded-m border border-line-control bg-surface-1 px-2"
            value={since}
            onChange={({ target }) => setSince(target.value)}
          />
        </label>
        {tag !== '' && (
          <Button icon="x" onClick={() => setTag(null)}>
            Tag {tag}
          </Button>
        )}
      </div>
      <DataTable<ListedScan>
        label="Scans"
        columns={columns}
        rowAt={scans.rowAt}
        total={scans.total}
        rowKey={({ scan_id }) => scan_id}
        sort={sort}
        onSort={setSort}
        onOpen={({ scan_id }) => go(`/scans/${scan_id}`)}
        selected={selected}
        onSelect={setSelected}
        lines={2}
        phoneRow={phoneRow}
        isPending={scans.isPending}
        empty={<NoScans isFiltered={isFiltered} />}
      />
      <Foot total={scans.total} />
      {selected.size > 0 && <Selection selected={selected} onDone={() => setSelected(new Set())} />}
    </>
  );
}

function NoScans({ isFiltered }: { isFiltered: boolean }) {
  const setSearch = useSetSearch();
  if (!isFiltered)
    return (
      <Empty
        title="No scans yet"
        text="A scan shows hosts, services and what is wrong with them."
        action={<LinkButton to="/scans/new">New scan</LinkButton>}
      />
    );
  return (
    <Empty
      title="No scan matches"
      text="Drop a part of the filter."
      action={
        <Button onClick={() => setSearch({ q: null, status: null, since: null, tag: null })}>
          Clear the filter
        </Button>
      }
    />
  );
}

function Foot({ total }: { total: number }) {
  const { data } = useGet('/api/v1/workspace/info', {});
  return (
    <p className="flex justify-between py-2 text-size-12 text-text-2">
      <span>{plural(total, 'scan')}</span>
      {data && <span>{plural(data.scan_count, 'scan')} in the workspace</span>}
    </p>
  );
}

function Selection({ selected, onDone }: { selected: ReadonlySet<string>; onDone: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const go = useGo();
  const mayDelete = useCan('scan:write');
  const ids = [...selected].sort();
  const [older = '', newer = ''] = ids;
  const exportAll = async () => {
    for (const id of ids) await download(`/api/v1/workspace/scans/${id}/export?format=json`);
  };
  const deleteAll = async () => {
    for (const id of ids) await requestData('DELETE', '/api/v1/scans/{scan_id}', { path: { scan_id: id } });
    onDone();
    toast(`${plural(ids.length, 'scan')} deleted`);
  };
  return (
    <div
      role="region"
      aria-label="Selected scans"
      className="fixed inset-x-0 bottom-6 z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-2 rounded-l bg-surface-overlay px-4 py-2 shadow-overlay"
    >
      <span className="font-medium">{plural(ids.length, 'scan')} selected</span>
      <Button
        icon="compare"
        disabledReason={ids.length === 2 ? undefined : 'Select two scans'}
        onClick={() => go(`/compare?scan=${newer}&against=${older}`)}
      >
        Compare
      </Button>
      <Button icon="download" onClick={() => void exportAll().catch((error: Error) => toast(error.message))}>
        Export
      </Button>
      <Button
        variant="danger"
        disabledReason={mayDelete ? undefined : 'Needs the scope scan:write'}
        onClick={() => setAsking(true)}
      >
        Delete…
      </Button>
      <Button variant="ghost" onClick={onDone}>
        Clear
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${plural(ids.length, 'scan')}?`}
        goes="Their hosts, services, findings and reports go. Running scans are stopped first."
        stays="Jobs and all other scans stay."
        verb={`Delete ${plural(ids.length, 'scan')}`}
        onConfirm={deleteAll}
      />
    </div>
  );
}

function scanColumns(): Column<ListedScan>[] {
  return [
    {
      id: 'state',
      head: 'State',
      width: 104,
      priority: 0,
      sort: 'status',
      cell: (scan) => <StateMark state={shownState(scan)} />,
    },
    {
      id: 'name',
      head: 'Name',
      width: 120,
      grow: 1,
      priority: 0,
      sort: 'name',
      cell: (scan) => (
        <span className="font-medium">
          <TargetText text={scanTitle(scan)} max={80} />
        </span>
      ),
    },
    { id: 'targets', head: 'Targets', width: 136, grow: 2, priority: 3, cell: targetsCell },
    {
      id: 'started',
      head: 'Started',
      width: 140,
      priority: 1,
      sort: 'created_at',
      descendingFirst: true,
      cell: ({ started_at, created_at }) =>
        started_at === null ? (
          <span className="text-text-2">
            queued <TimeText at={created_at} relative />
          </span>
        ) : (
          <TimeText at={started_at} relative />
        ),
    },
    {
      id: 'took',
      head: 'Took',
      width: 88,
      align: 'right',
      priority: 4,
      sort: 'duration',
      descendingFirst: true,
      cell: ({ started_at, completed_at, status }) => {
        if (started_at === null) return '–';
        const end =
          completed_at === null ? (status === 'running' ? serverNow() : null) : Date.parse(completed_at);
        return end === null ? '–' : <DurationText ms={Math.max(0, end - Date.parse(started_at))} />;
      },
    },
    {
      id: 'hosts',
      head: 'Hosts',
      width: 52,
      align: 'right',
      priority: 5,
      cell: ({ results }) => count(results.live_hosts),
    },
    {
      id: 'services',
      head: 'Services',
      width: 60,
      align: 'right',
      priority: 6,
      cell: ({ results }) => count(results.open_ports),
    },
    {
      id: 'findings',
      head: 'Findings',
      width: 184,
      priority: 2,
      sort: 'findings',
      descendingFirst: true,
      cell: ({ severity_counts }) => <SeverityCounts counts={severity_counts} slots />,
    },
  ];
}

function targetsCell({ targets, status, progress, error }: ListedScan) {
  const note =
    status === 'running'
      ? `${Math.min(99, Math.floor(progress.percent))} % of ports`
      : error !== null && error.code !== 'canceled'
        ? error.message
        : '';
  return (
    <span className="flex min-w-0 flex-col leading-tight">
      <span className="truncate">
        <TargetText text={targets.slice(0, 3).join(', ')} mono max={60} />
      </span>
      {note !== '' && (
        <span className="truncate text-size-11 text-text-2">
          <TargetText text={note} max={80} />
        </span>
      )}
    </span>
  );
}

function phoneRow(scan: ListedScan) {
  return (
    <div className="flex flex-col">
      <span className="flex items-center justify-between gap-2">
        <span className="truncate font-medium">
          <TargetText text={scanTitle(scan)} max={60} />
        </span>
        <StateMark state={shownState(scan)} />
      </span>
      <span className="flex items-center justify-between gap-2 text-size-12 text-text-2">
        <TimeText at={scan.started_at ?? scan.created_at} relative />
        <SeverityCounts counts={scan.severity_counts} />
      </span>
    </div>
  );
}
