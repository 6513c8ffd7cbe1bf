import type { Data } from '../../api/api-types.ts';
import { Section } from '../../components/layout/section.tsx';
import { DiffMark } from '../../components/marks/diff-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { scanTitle } from '../scan/use-scan.ts';

type Dashboard = Data<'/api/v1/dashboard'>;
type Series = Dashboard['series'][number];

const kinds = [
  { kind: 'new', head: 'New', look: 'w-[66px] max-tablet:w-12' },
  { kind: 'fixed', head: 'Fixed', look: 'w-[66px] max-tablet:w-12' },
  { kind: 'changed', head: 'Changed', look: 'w-[72px] max-tablet:w-16' },
  // On phones a sentence above says how many.
  { kind: 'not_comparable', head: 'Not comparable', look: 'w-[108px] max-tablet:hidden' },
] as const;

/** What the newest run of each scan changed, and the one thing that stands out. */
export function Changes({ dashboard: { series } }: { dashboard: Dashboard }) {
  if (series.length === 0) return null;
  return (
    <Section title="Changed since the previous run" link={{ label: 'Compare', to: '/compare' }}>
      <table className="w-full table-fixed">
        <thead>
          <tr className="text-left text-size-11 text-text-3">
            <th className="h-7 w-[22%] font-medium max-tablet:w-auto">Scan</th>
            <th className="w-[84px] font-medium max-tablet:hidden">Ended</th>
            {kinds.map(({ kind, head, look }) => (
              <th key={kind} className={`whitespace-nowrap text-right font-medium ${look}`}>
                {head}
              </th>
            ))}
            <th className="pl-6 font-medium max-tablet:hidden">What stands out</th>
          </tr>
        </thead>
        <tbody>
          {series.map((line) => (
            <ChangeRow key={line.key} line={line} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function ChangeRow({ line }: { line: Series }) {
  const { scan, previous, changes } = line;
  const compare =
    previous === null ? null : `/compare${searchText({ scan: scan.scan_id, against: previous })}`;
  return (
    <tr className="border-line-subtle border-t">
      <td className="h-9 pr-3 font-medium">
        <Link
          to={`/scans/${scan.scan_id}`}
          className="block py-[3px] text-text-1 [overflow-wrap:anywhere] tablet:line-clamp-2 tablet:py-0"
        >
          <TargetText text={scanTitle(scan)} max={60} />
        </Link>
      </td>
      <td className="truncate whitespace-nowrap pr-2 text-text-2 max-tablet:hidden">
        <TimeText at={scan.completed_at} relative="short" />
      </td>
      {changes === null || compare === null ? (
        <>
          {kinds.map(({ kind, look }) => (
            <td key={kind} className={`text-right text-text-3 ${look}`}>
              –
            </td>
          ))}
        </>
      ) : (
        kinds.map(({ kind, look }) => (
          <td key={kind} className={`text-right ${look}`}>
            <Link to={compare} className="text-text-1 hover:no-underline">
              <DiffMark kind={kind} count={changes[kind]} />
            </Link>
          </td>
        ))
      )}
      <td className="pl-6 max-tablet:hidden">
        {compare === null ? (
          <span className="text-text-2">{wordOf(line)}</span>
        ) : (
          <Link to={compare} className="block text-text-1">
            <StandsOut line={line} />
          </Link>
        )}
      </td>
    </tr>
  );
}

function wordOf({ previous, pending }: Series): string {
  if (previous === null) return 'First run';
  return pending ? 'Comparing…' : 'Not compared';
}

function StandsOut({ line }: { line: Series }) {
  const { stands_out: standsOut, changes } = line;
  if (standsOut === null)
    return <span className="text-text-2">{changes === null ? wordOf(line) : 'No change'}</span>;
  return (
    <span className="flex items-center gap-2">
      {standsOut.severity && <SeverityMark severity={standsOut.severity} bare />}
      <span className="line-clamp-2 min-w-0">
        <TargetText text={standsOut.text} max={80} />
      </span>
      {standsOut.exploited && (
        <span className="ml-auto flex-none">
          <Exploited />
        </span>
      )}
    </span>
  );
}
