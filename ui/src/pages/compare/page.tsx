import { useEffect, useMemo } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Select } from '../../components/controls/select.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { count } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { serverNow } from '../../live/live.ts';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { scanTitle } from '../scan/use-scan.ts';
import { changeColumns, changePhoneRow } from './change-columns.tsx';
import { type ChangeLine, changeLines, groupNames, groups } from './change-lines.ts';

type ListedScan = Data<'/api/v1/scans'>['scans'][number];

/** What appeared, went and changed between two scans. */
export default function ComparePage() {
  const [after] = useSearchParam('scan');
  const [before] = useSearchParam('against');
  const setSearch = useSetSearch();
  const { data: list } = useGet('/api/v1/scans', { query: { status: 'completed', limit: 200 } });
  const scans = list?.scans ?? [];
  usePreviousRun(scans, after, before);
  return (
    <>
      <PageHeader title="Compare" />
      <div className="grid items-end gap-3 pb-5 tablet:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]">
        <Side label="Before" value={before} scans={scans} onChange={(id) => setSearch({ against: id })} />
        <Button
          icon="compare"
          onClick={() => setSearch({ scan: before, against: after })}
          aria-label="Swap before and after"
        />
        <Side label="After" value={after} scans={scans} onChange={(id) => setSearch({ scan: id })} />
      </div>
      {before === '' || after === '' ? (
        <Empty
          title="Choose two scans"
          text={
            scans.length < 2
              ? 'A comparison needs two scans that have ended.'
              : 'Before is the baseline: changes are from it to the other.'
          }
        />
      ) : (
        <Changes after={after} before={before} />
      )}
    </>
  );
}

/** Without a baseline: the run before of the same targets. */
function usePreviousRun(scans: readonly ListedScan[], after: string, before: string): void {
  const setSearch = useSetSearch();
  useEffect(() => {
    if (before !== '' || scans.length === 0) return;
    const newest = scans.find(({ scan_id }) => scan_id === after) ?? (after === '' ? scans[0] : undefined);
    if (!newest) return;
    const same = ({ name, targets }: ListedScan) => name ?? targets.join();
    const older = scans.find((scan) => scan.created_at < newest.created_at && same(scan) === same(newest));
    if (older) setSearch({ scan: newest.scan_id, against: older.scan_id }, { replace: true });
  }, [scans, after, before, setSearch]);
}

interface SideProps {
  label: string;
  value: string;
  scans: readonly ListedScan[];
  onChange: (scanId: string) => void;
}

function Side({ label, value, scans, onChange }: SideProps) {
  const options = scans.map((scan) => ({
    value: scan.scan_id,
    label: `${scanTitle(scan)}, ${dateTime(scan.completed_at ?? scan.created_at, serverNow())}`,
    hint: scan.scan_id,
  }));
  const isListed = value === '' || options.some((option) => option.value === value);
  return (
    <Field label={label}>
      <Select
        value={value === '' ? null : value}
        options={isListed ? options : [...options, { value, label: value, hint: undefined }]}
        placeholder="Choose a scan"
        onChange={onChange}
      />
    </Field>
  );
}

function Changes({ after, before }: { after: string; before: string }) {
  const got = useGet('/api/v1/scans/{scan_id}/diff', {
    path: { scan_id: after },
    query: { against: before },
  });
  const [shown, setShown] = useSearchParam('show');
  const [q, setQ] = useSearchParam('q');
  const lines = useMemo(() => (got.data ? changeLines(got.data) : []), [got.data]);
  const wanted = q.toLowerCase();
  const visible = lines.filter(
    ({ group, text, host, note }) =>
      (shown === '' || group === shown) &&
      (wanted === '' || `${host} ${text} ${note}`.toLowerCase().includes(wanted)),
  );
  const columns = useMemo(changeColumns, []);
  return (
    <Boundary got={got} rows={10}>
      {(diff) => (
        <>
          <div className="border-line border-y">
            <Strip
              label="Changes"
              size="normal"
              numbers={groups.map((group) => ({
                key: group,
                label: (
                  <button
                    type="button"
                    aria-pressed={shown === group}
                    className={
                      shown === group ? 'font-semibold underline' : 'underline-offset-2 hover:underline'
                    }
                    onClick={() => setShown(shown === group ? null : group)}
                  >
                    {groupNames[group]}
                  </button>
                ),
                value: count(lines.filter((line) => line.group === group).length),
              }))}
            />
          </div>
          <p className="py-2 text-text-2">
            {count(diff.vulnerabilities.unchanged_count)} findings did not change.
          </p>
          <div className="pb-3">
            <TextInput
              label="Filter both sides"
              placeholder="Filter both sides"
              value={q}
              onChange={(text) => setQ(text, { replace: true })}
              data-filter=""
            />
          </div>
          <DataTable<ChangeLine>
            label="Changes"
            columns={columns}
            rows={visible}
            rowKey={({ key }) => key}
            phoneRow={changePhoneRow}
            empty={
              <Empty
                title={lines.length === 0 ? 'No change' : 'No change matches'}
                text={
                  lines.length === 0 ? 'Both scans found the same.' : 'Drop the filter to see all changes.'
                }
              />
            }
          />
        </>
      )}
    </Boundary>
  );
}
