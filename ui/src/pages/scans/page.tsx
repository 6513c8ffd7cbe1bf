import { useCallback, useMemo, useState } from 'react';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { inputLook } from '../../components/controls/input-look.ts';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { ErrorState } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { ColumnChooser, useShownColumns } from '../../components/table/column-chooser.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { bytes, count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link, useGo } from '../../url/link.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { type ListedScan, phoneRow, scanColumns } from './scan-columns.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useScanRows } from './use-scan-rows.ts';

const statuses = [
  { value: '', label: 'All states' },
  { value: 'pending', label: 'Pending' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
] as const;

const noFilter = { q: null, status: null, since: null, tag: null };

/** Every scan of the workspace, the newest first. */
export default function ScansPage() {
  const [q] = useSearchParam('q');
  const [status] = useSearchParam('status');
  const [since] = useSearchParam('since');
  const [tag] = useSearchParam('tag');
  const [sort, setSort] = useSearchParam('sort', '-created_at');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter = { q, status, since: since === '' ? '' : `${since}T00:00:00Z`, tag, sort };
  const scans = useScanRows(filter);
  const go = useGo();
  const changesOf = useChanges();
  const columns = useMemo(() => scanColumns(changesOf), [changesOf]);
  const shown = useShownColumns();
  const clear = useCallback(() => {
    setSelected(new Set());
    // Its buttons had the focus and are gone.
    setTimeout(focusTable);
  }, []);
  const isFiltered = q !== '' || status !== '' || since !== '' || tag !== '';
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
        <Filter />
        <span className="ml-auto max-tablet:hidden">
          <ColumnChooser columns={columns} {...shown} />
        </span>
      </div>
      {scans.error && scans.total === 0 ? (
        <ErrorState error={scans.error} what="The scans" doing="list scans" retry={scans.retry} />
      ) : (
        <>
          <DataTable<ListedScan>
            label="Scans"
            columns={columns}
            shown={shown.shown}
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
          <Foot total={scans.total} isMinimum={scans.isMinimum} />
        </>
      )}
      {selected.size > 0 && (
        <SelectionBar
          selected={selected}
          scans={scans.loaded.filter(({ scan_id }) => selected.has(scan_id))}
          onDone={clear}
        />
      )}
    </>
  );
}

function Filter() {
  const [q, setQ] = useSearchParam('q');
  const [status, setStatus] = useSearchParam('status');
  const [since, setSince] = useSearchParam('since');
  const [tag, setTag] = useSearchParam('tag');
  return (
    <>
      <div className="min-w-0 grow basis-60">
        <TextInput
          type="search"
          label="Search by name, target or tag"
          placeholder="Name, target or tag"
          value={q}
          onChange={(text) => setQ(text === '' ? null : text, { replace: true })}
          data-filter=""
        />
      </div>
      <Select
        label="State"
        width="auto"
        options={statuses}
        value={status as ''}
        onChange={(value) => setStatus(value === '' ? null : value)}
      />
      <label className="flex items-center gap-2 text-size-12 text-text-2">
        Since
        <input
          type="date"
          className={`${inputLook} h-8 pointer-coarse:h-(--row-touch)`}
          value={since}
          onChange={({ target }) => setSince(target.value === '' ? null : target.value)}
        />
      </label>
      {tag !== '' && (
        <Button icon="x" onClick={() => setTag(null)}>
          Tag {tag}
        </Button>
      )}
    </>
  );
}

/** What the latest runs changed, where the comparison stands. */
function useChanges() {
  const { data } = useGet('/api/v1/dashboard', {});
  const known = useMemo(
    () => new Map(data?.series.map(({ scan, changes }) => [scan.scan_id, changes])),
    [data],
  );
  return useCallback((scanId: string) => known.get(scanId) ?? null, [known]);
}

function focusTable(): void {
  document.querySelector<HTMLElement>('[role="grid"] [role="row"][tabindex="0"]')?.focus();
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
      action={<Button onClick={() => setSearch(noFilter)}>Clear the filter</Button>}
    />
  );
}

function Foot({ total, isMinimum }: { total: number; isMinimum: boolean }) {
  const { data } = useGet('/api/v1/workspace/info', {});
  const mayReadWorkspace = useCan('workspace:read', 'scan:read');
  return (
    <p className="flex flex-wrap justify-between gap-x-4 py-2.5 text-size-12 text-text-2">
      <span>
        {data === undefined || data.scan_count === total
          ? plural(total, 'scan')
          : `${isMinimum ? 'At least ' : ''}${count(total)} of ${plural(data.scan_count, 'scan')}`}
      </span>
      {data && (
        <span>
          {plural(data.scan_count, 'scan')} {data.scan_count === 1 ? 'uses' : 'use'} {bytes(data.size_bytes)}.{' '}
          {mayReadWorkspace && (
            <Link to="/workspace" className="underline">
              Workspace
            </Link>
          )}
        </span>
      )}
    </p>
  );
}
