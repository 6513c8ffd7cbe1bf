import { countsAs, worstFirst } from '../../../../src/domain/finding-order.ts';
import { serverNow } from '../../api/server-clock.ts';
import { useGet } from '../../api/use-get.ts';
import { Section } from '../../components/layout/section.tsx';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { dateTime } from '../../format/times.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { type FindingDetail, findingKey, portText } from './result-rows.ts';
import type { Scan } from './use-scan.ts';

/** A comparison reads both scans as a whole: not while a page of a scan this large opens. */
const maxFindings = 20_000;
const shown = 5;

/** What is new since the run before, if there was one. */
export function SinceLastRun({ scan }: { scan: Scan }) {
  const isSmall = scan.results.vulnerabilities <= maxFindings;
  const path = { scan_id: scan.scan_id };
  const { data: found, error } = useGet('/api/v1/scans/{scan_id}/baseline', { path });
  const before = found?.baseline;
  const { data: diff, error: diffError } = useGet(
    '/api/v1/scans/{scan_id}/diff',
    { path, query: { against: before?.scan_id ?? '' } },
    { enabled: isSmall && Boolean(before) && scan.status === 'completed' },
  );
  if (!isSmall || scan.status !== 'completed' || error || diffError) return null;
  if (found?.baseline === null)
    return (
      <Section title="Since the previous run">
        <p className="pt-2 text-text-2">
          No completed scan before has this name, or these targets, ports, profile and evaluation.
        </p>
      </Section>
    );
  if (!before || !diff)
    return (
      <Section title="Since the previous run">
        <LoadingRows rows={shown} height={36} />
      </Section>
    );
  const { new: added, resolved, unchanged_count: unchanged } = diff.vulnerabilities;
  const worst = worstFirst(
    added.map((row) => ({ ...row, finding: row.vulnerability as unknown as FindingDetail })),
    ({ finding }) => finding,
  );
  const places = diff.not_comparable.length;
  const compare = `/compare${searchText({ scan: scan.scan_id, against: before.scan_id })}`;
  return (
    <Section
      title="Since the previous run"
      note={
        <>
          {dateTime(before.completed_at ?? before.created_at, serverNow())}: {added.length} new,{' '}
          {resolved.length} fixed, {unchanged} unchanged
          {places > 0 && `, ${plural(places, 'place')} not comparable`}
        </>
      }
      link={{ label: 'Compare', to: compare }}
    >
      <ul>
        {worst.slice(0, shown).map((row) => {
          const { finding } = row;
          const key = findingKey(row);
          return (
            <li key={key} className="flex min-h-9 items-center gap-3 border-line-subtle border-b">
              <SeverityMark severity={countsAs(finding)} bare />
              <Link
                to={`/scans/${scan.scan_id}/findings${searchText({ open: key })}`}
                className="min-w-0 grow truncate text-text-1"
              >
                <TargetText text={finding.id} mono /> <TargetText text={finding.title} />
              </Link>
              {finding.kev && <Exploited />}
              {row.by_new_check && <span className="flex-none text-size-12 text-text-2">by a new check</span>}
              <span className="flex-none whitespace-nowrap max-tablet:hidden">
                <Mono>{`${row.host} ${portText(row)}`}</Mono>
              </span>
              <span className="w-[72px] flex-none">
                {finding.class && <ClassMark value={finding.class} />}
              </span>
            </li>
          );
        })}
      </ul>
      {added.length === 0 && <p className="pt-2 text-text-2">No new finding.</p>}
      {added.length > shown && (
        <p className="pt-2">
          <Link to={compare}>{added.length - shown} more in the comparison</Link>
        </p>
      )}
    </Section>
  );
}
