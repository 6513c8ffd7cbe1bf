import { type ReactNode, useMemo } from 'react';
import { countsAs } from '../../../../src/domain/finding-order.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { saveFile } from '../../components/controls/save-file.ts';
import { TextInput } from '../../components/controls/text-input.tsx';
import { toast } from '../../components/controls/toasts.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { copyText } from '../../components/text/copy-text.ts';
import { plural } from '../../format/words.ts';
import { useGo } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { ChangePhoneRow, type CompareRow, changeColumns, GroupName, isHead } from './change-columns.tsx';
import { ChangeCounts } from './change-counts.tsx';
import { type ChangeGroup, type ChangeLine, changeLines, groups } from './change-lines.ts';
import { changesMarkdown } from './changes-markdown.ts';
import { type ListedScan, useScanName } from './compared-scan.tsx';

interface ChangesProps {
  before: string;
  after: string;
  scans: readonly ListedScan[];
  /** The choice of both scans. */
  children: ReactNode;
}

/** Counts, filter and rows of one comparison. */
export function Changes({ before, after, scans, children }: ChangesProps) {
  const got = useGet('/api/v1/scans/{scan_id}/diff', {
    path: { scan_id: after },
    query: { against: before },
  });
  const [shown, setShown] = useSearchParam('show');
  const [q, setQ] = useSearchParam('q');
  const lines = useMemo(() => (got.data ? changeLines(got.data) : []), [got.data]);
  const counts = useMemo(() => countsOf(lines), [lines]);
  const visible = useMemo(() => matching(lines, shown, q), [lines, shown, q]);
  const rows = useMemo(() => withHeads(visible), [visible]);
  const columns = useMemo(changeColumns, []);
  const go = useGo();
  const open = (row: CompareRow) => {
    if (isHead(row)) return setShown(shown === row.head ? null : row.head);
    const { side, tab, key } = row.open;
    go(`/scans/${side === 'before' ? before : after}/${tab}${searchText({ open: key })}`);
  };
  return (
    <>
      <PageHeader
        title="Compare"
        actions={got.data && <Actions before={before} after={after} scans={scans} lines={visible} />}
      />
      {children}
      <Boundary got={got} what="The comparison" doing="compare scans" rows={10}>
        {({ vulnerabilities }) => (
          <>
            <ChangeCounts
              counts={counts}
              unchanged={vulnerabilities.unchanged_count}
              shown={shown}
              onShow={setShown}
            />
            <div className="py-3">
              <TextInput
                label="Filter both sides"
                placeholder="Filter both sides: address, service, finding, reason"
                value={q}
                onChange={(text) => setQ(text, { replace: true })}
                data-filter=""
              />
            </div>
            <p role="status" className="sr-only">
              {plural(visible.length, 'change')}
            </p>
            <DataTable<CompareRow>
              label="Changes"
              columns={columns}
              rows={rows}
              rowKey={(row) => (isHead(row) ? row.head : row.key)}
              onOpen={open}
              lines={2}
              wholeRow={(row) => (isHead(row) ? <GroupName head={row} /> : null)}
              phoneRow={(row) => (isHead(row) ? null : <ChangePhoneRow line={row} />)}
              empty={<NoChange isFiltered={lines.length > 0} />}
            />
          </>
        )}
      </Boundary>
    </>
  );
}

function NoChange({ isFiltered }: { isFiltered: boolean }) {
  const setSearch = useSetSearch();
  if (!isFiltered)
    return (
      <Empty icon="check" title="No change" text="Both scans found the same hosts, services and findings." />
    );
  return (
    <Empty
      icon="filter"
      title="No change matches"
      text="The filter hides all of them."
      action={<Button onClick={() => setSearch({ q: null, show: null })}>Clear filter</Button>}
    />
  );
}

const reports = [
  { id: 'html', label: 'HTML report with the changes' },
  { id: 'pdf', label: 'PDF report with the changes' },
  { id: 'markdown', label: 'Markdown report with the changes' },
] as const;

interface ActionsProps {
  before: string;
  after: string;
  scans: readonly ListedScan[];
  lines: readonly ChangeLine[];
}

function Actions({ before, after, scans, lines }: ActionsProps) {
  const nameOf = useScanName();
  const named = (id: string) => {
    const scan = scans.find(({ scan_id }) => scan_id === id);
    return scan ? `${nameOf(scan)} (${id})` : id;
  };
  const copy = () =>
    void copyText(changesMarkdown(named(before), named(after), lines)).then(
      () => toast(`${plural(lines.length, 'change')} copied as Markdown`),
      () => toast('The browser did not copy.', { tone: 'problem' }),
    );
  const save = (format: string) =>
    saveFile(`/api/v1/workspace/scans/${after}/export?format=${format}&against=${before}`);
  return (
    <>
      <Button icon="copy" onClick={copy}>
        Copy as Markdown
      </Button>
      <Menu
        label="Export"
        icon="download"
        wordy
        items={reports.map(({ id, label }) => ({ label, onSelect: () => save(id) }))}
      />
    </>
  );
}

function countsOf(lines: readonly ChangeLine[]): Record<ChangeGroup, number> {
  const counts = { new: 0, fixed: 0, services: 0, hosts: 0, not_comparable: 0 };
  for (const { group } of lines) counts[group] += 1;
  return counts;
}

function matching(lines: readonly ChangeLine[], shown: string, q: string): ChangeLine[] {
  const wanted = q.trim().toLowerCase();
  return lines.filter(
    (line) => (shown === '' || line.group === shown) && (wanted === '' || textOf(line).includes(wanted)),
  );
}

/** All that is written in a row, in lower case. */
function textOf({ host, port, text, note, change, finding, outcome }: ChangeLine): string {
  const values = change ? [change.label, change.before, change.after] : [];
  return [
    host,
    port === '' ? '' : `${host}:${port}`,
    finding?.id,
    finding && countsAs(finding),
    text,
    note,
    ...values,
    outcome,
  ]
    .join('\n')
    .toLowerCase();
}

/** Rows with a head before each group. */
function withHeads(lines: readonly ChangeLine[]): CompareRow[] {
  return groups.flatMap((head) => {
    const own = lines.filter(({ group }) => group === head);
    return own.length === 0 ? [] : [{ head, number: own.length }, ...own];
  });
}
