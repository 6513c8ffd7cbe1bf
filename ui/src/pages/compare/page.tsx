import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { fetchGet, useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { useSearchParam, useSetSearch } from '../../url/use-search-param.ts';
import { Changes } from './changes.tsx';
import { ComparedScan, type ListedScan } from './compared-scan.tsx';

/** What appeared, went and changed between two scans. */
export default function ComparePage() {
  const [after] = useSearchParam('scan');
  const [before] = useSearchParam('against');
  const setSearch = useSetSearch();
  const { data: list } = useGet('/api/v1/scans', { query: { status: 'completed', limit: 200 } });
  const scans = list?.scans ?? [];
  useBaseline(scans, after, before);
  const isComplete = before !== '' && after !== '';
  const sides = (
    <div className="grid items-end gap-3 pb-5 tablet:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]">
      <ComparedScan
        label="Before"
        value={before}
        scans={scans}
        onChange={(id) => setSearch({ against: id, show: null })}
      />
      <span className="max-tablet:justify-self-start">
        <Button
          icon="compare"
          label="Swap before and after"
          disabledReason={isComplete ? null : 'Choose two scans first'}
          onClick={() => setSearch({ scan: before, against: after, show: null })}
        />
      </span>
      <ComparedScan
        label="After"
        value={after}
        scans={scans}
        onChange={(id) => setSearch({ scan: id, show: null })}
      />
    </div>
  );
  if (isComplete && before !== after)
    return (
      <Changes key={`${before} ${after}`} before={before} after={after} scans={scans}>
        {sides}
      </Changes>
    );
  return (
    <>
      <PageHeader title="Compare" />
      {sides}
      {list && <Nothing scans={scans} isSame={isComplete} />}
    </>
  );
}

/** Scans that are tried for one with a baseline. */
const mostTried = 20;

/** The scan that was chosen, else the newest one that has a baseline, and that. */
async function withBaseline(scanIds: readonly string[]): Promise<{ scan: string; against: string } | null> {
  for (const scan_id of scanIds.slice(0, mostTried)) {
    const { baseline } = await fetchGet('/api/v1/scans/{scan_id}/baseline', { path: { scan_id } });
    if (baseline) return { scan: scan_id, against: baseline.scan_id };
  }
  return null;
}

/** Without a baseline: the one that the server knows. */
function useBaseline(scans: readonly ListedScan[], after: string, before: string): void {
  const setSearch = useSetSearch();
  const router = useRouter();
  useEffect(() => {
    // On the way to another page this one still stands while the URL is the other's.
    if (!router.state.location.pathname.startsWith('/compare')) return;
    if (before !== '' || scans.length === 0) return;
    let isCurrent = true;
    const tried = after === '' ? scans.map(({ scan_id }) => scan_id) : [after];
    void withBaseline(tried).then(
      (found) => {
        if (found && isCurrent) setSearch(found, { replace: true });
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [scans, after, before, setSearch, router]);
}

function Nothing({ scans, isSame }: { scans: readonly ListedScan[]; isSame: boolean }) {
  if (isSame) return <Empty icon="compare" title="Both sides are the same scan" text="Choose another one." />;
  if (scans.length < 2)
    return (
      <Empty
        icon="compare"
        title="Nothing to compare yet"
        text="A comparison needs two scans that have ended."
        action={
          <LinkButton to="/scans/new" icon="plus">
            New scan
          </LinkButton>
        }
      />
    );
  return (
    <Empty
      icon="compare"
      title="Choose two scans"
      text="Before is the baseline: changes are from it to the other one. No scan here has an earlier run of the same name, or of the same targets, ports, profile and evaluation."
    />
  );
}
