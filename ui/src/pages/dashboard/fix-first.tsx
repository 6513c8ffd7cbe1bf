import type { Data } from '../../api/api-types.ts';
import { Section } from '../../components/layout/section.tsx';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count, hundredths } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';

type Dashboard = Data<'/api/v1/dashboard'>;
type Fix = Dashboard['fixes'][number];

/** The first three actions of all latest runs. */
export function FixFirst({ dashboard: { fixes, series, pending } }: { dashboard: Dashboard }) {
  const [latest] = series;
  if (latest === undefined) return null;
  return (
    <Section
      title="Fix first"
      note="by severity, exploited, how sure"
      link={{
        label: series.length === 1 ? 'Whole fix list' : 'Fix list of the newest',
        to: `/scans/${latest.scan.scan_id}/fixes`,
      }}
    >
      {fixes.length === 0 ? (
        pending ? (
          <LoadingRows rows={3} height={48} />
        ) : (
          <p className="pt-2 text-text-2">
            {series.some(({ scan }) => scan.vuln)
              ? 'No finding of these scans names a change that removes it.'
              : 'No scan has evaluated vulnerabilities yet.'}
          </p>
        )
      ) : (
        <table className="w-full table-fixed">
          <thead>
            <tr className="text-left text-size-11 text-text-3">
              <th className="h-7 w-7">
                <span className="sr-only">Severity</span>
              </th>
              <th className="font-medium">Action</th>
              <th className="w-14 text-right font-medium max-tablet:hidden">Hosts</th>
              <th className="w-[68px] text-right font-medium max-tablet:hidden">Findings</th>
              <th className="w-14 text-right font-medium max-tablet:hidden">EPSS</th>
              <th className="w-24 pl-4 font-medium max-tablet:hidden">How sure</th>
              <th className="w-[76px]">
                <span className="sr-only">Exploited</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {fixes.map((fix) => (
              <FixRow key={fix.key} fix={fix} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function FixRow({ fix }: { fix: Fix }) {
  return (
    <tr className="border-line-subtle border-t">
      <td>
        <SeverityMark severity={fix.severity} bare />
      </td>
      <td className="h-12 py-1.5 pr-3">
        <Link
          to={`/scans/${fix.scan_id}/fixes${searchText({ open: fix.key })}`}
          className="block py-[3px] font-medium text-text-1 tablet:line-clamp-2 tablet:py-0"
        >
          <TargetText text={fix.text} wrap />
        </Link>
        <span className="line-clamp-2 text-size-12 text-text-2">
          <TargetText text={hostsText(fix)} />
          <span className="tablet:hidden"> · {plural(fix.findings, 'finding')}</span>
        </span>
      </td>
      <td className="text-right max-tablet:hidden">{count(fix.hosts)}</td>
      <td className="text-right max-tablet:hidden">{count(fix.findings)}</td>
      <td className="text-right max-tablet:hidden">{hundredths(fix.epss)}</td>
      <td className="pl-4 max-tablet:hidden">
        <ClassMark value={fix.class} />
      </td>
      <td className="text-right">{fix.exploited && <Exploited />}</td>
    </tr>
  );
}

const shownHosts = 3;

function hostsText({ host_sample: sample, hosts }: Fix): string {
  const shown = sample.slice(0, shownHosts).map(({ name, host }) => name ?? host);
  const more = hosts - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${count(more)} more` : shown.join(', ');
}
