import type { ReactNode } from 'react';
import { fetchGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Facets, useFacetsOpen } from '../../components/query/facets.tsx';
import { QueryBar } from '../../components/query/query-bar.tsx';
import type { Suggestion } from '../../components/query/query-props.ts';
import { BeingIndexed } from '../../components/states/being-indexed.tsx';
import type { Matches } from '../../components/table/table-props.ts';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { type Listed, matchesText, rowsText } from './hit-counts.ts';
import type { Scan } from './use-scan.ts';

interface TableFrameProps {
  scan: Scan;
  /** What the table lists. */
  of: Listed;
  /** Rows of the table, as far as they are not all of `of`. */
  listed?: number;
  /** The rows are not those of the filter yet. */
  isPending: boolean;
  matches: Matches | undefined;
  problem: string | null;
  /** New rows wait behind a button. */
  waiting: { count: number; show: () => void } | null;
  /** The part of the scan's index that stands while it is being built; else null. */
  indexShare: number | null;
  facets: readonly string[];
  actions?: ReactNode;
  children: ReactNode;
}

/** Filter, count of hits, facets, and the table. */
export function TableFrame({
  scan,
  of,
  listed = 0,
  isPending,
  matches,
  problem,
  waiting,
  indexShare,
  facets,
  actions,
  children,
}: TableFrameProps) {
  const [q, setQ] = useSearchParam('q');
  const values = useFacetsOpen();
  return (
    <>
      <div className="no-print flex flex-wrap items-start gap-2">
        <div className="min-w-0 grow basis-80">
          <QueryBar
            value={q}
            onChange={(text) => setQ(text)}
            suggest={(field, text, signal) => suggestions(scan.scan_id, field, text, signal)}
            label={`Filter ${of}`}
            problem={problem}
          />
        </div>
        {waiting !== null && waiting.count > 0 && (
          <Button icon="up" onClick={waiting.show}>
            Show {plural(waiting.count, `new ${of.slice(0, -1)}`)}
          </Button>
        )}
        <Button
          icon="filter"
          variant="ghost"
          aria-expanded={values.isOpen}
          onClick={() => values.setOpen(!values.isOpen)}
        >
          Filter by value
        </Button>
        {actions}
      </div>
      <p className="py-2 text-size-12" role="status">
        <Hits scan={scan} of={of} listed={listed} matches={matches} isFiltered={q !== ''} />
        {q !== '' && <span className="mono hidden print:inline">, {q}</span>}
      </p>
      {indexShare !== null && <BeingIndexed share={indexShare} />}
      <div
        className={`grid gap-x-6 gap-y-3 print:block ${values.isOpen ? 'desk:grid-cols-[var(--facets)_minmax(0,1fr)]' : 'grid-cols-[minmax(0,1fr)]'}`}
      >
        {values.isOpen && (
          <div className="no-print">
            <Facets
              scanId={scan.scan_id}
              q={q}
              onChange={(text) => setQ(text)}
              fields={facets}
              isPending={isPending}
              revision={scan.status}
              onClose={() => values.setOpen(false)}
            />
          </div>
        )}
        <div className="min-w-0">{children}</div>
      </div>
    </>
  );
}

function Hits({
  scan: { results },
  of,
  listed,
  matches,
  isFiltered,
}: Pick<TableFrameProps, 'scan' | 'of' | 'matches'> & { listed: number; isFiltered: boolean }) {
  if (!isFiltered || !matches) return <>{rowsText(of, results, listed)}</>;
  const others = (['hosts', 'services', 'findings'] as const).filter((each) => each !== of);
  return (
    <>
      <strong className="font-semibold">{matchesText(of, results, matches)}</strong>
      <span className="text-text-2">{others.map((each) => `, ${matchesText(each, results, matches)}`)}</span>
    </>
  );
}

/** Values of a field with their counts, from the facets of the whole scan. */
async function suggestions(
  scanId: string,
  field: string,
  text: string,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const path = { scan_id: scanId };
  const { facets } = await fetchGet(
    '/api/v1/scans/{scan_id}/facets',
    { path, query: { fields: field, limit: 100 } },
    signal,
  );
  const wanted = text.toLowerCase();
  return (facets[0]?.values ?? [])
    .map(({ value, count: number }) => ({ value: String(value), count: number }))
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .slice(0, 12);
}
