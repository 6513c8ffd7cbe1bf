import type { Data } from '../../api/api-types.ts';
import { serverNow } from '../../api/server-clock.ts';
import { LineChart } from '../../components/charts/line-chart.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { change, count } from '../../format/numbers.ts';
import { visibleText } from '../../format/target-text.ts';
import { dateTime } from '../../format/times.ts';
import { plural, severities } from '../../format/words.ts';
import { searchText } from '../../url/search-text.ts';
import { scanTitle } from '../scan/use-scan.ts';

type Dashboard = Data<'/api/v1/dashboard'>;
type Series = Dashboard['series'][number];

/** Of a scan within a label, characters. */
const maxTitle = 80;

/** Open findings by severity, with their change and trend. */
export function Totals({ dashboard: { totals, trend, ...source } }: { dashboard: Dashboard }) {
  const hasTrend = trend.length > 0;
  const hasPrevious = source.series.some(({ previous }) => previous !== null);
  return (
    <section aria-label="Open findings">
      <div className={hasTrend ? 'grid desk:grid-cols-[auto_minmax(0,1fr)]' : ''}>
        <Strip
          label="Open findings by severity"
          numbers={severities.map((severity) => ({
            key: severity,
            label: <SeverityMark severity={severity} />,
            value: count(totals[severity].count),
            beside: hasPrevious ? (
              <Change severity={severity} difference={totals[severity].change} />
            ) : undefined,
            note: hostsOf(totals[severity]),
            link: whereMost(source.series, severity),
          }))}
        />
        {hasTrend && <Trend trend={trend} />}
      </div>
      <p className="pt-3 text-text-2">{sourceOf(source)}</p>
    </section>
  );
}

/** The findings of the scan that has most of them: no list has those of several scans. */
function whereMost(series: Dashboard['series'], severity: (typeof severities)[number]) {
  const [most] = series.map(({ scan }) => scan).sort(byCount(severity));
  const findings = most?.severity_counts[severity] ?? 0;
  if (most === undefined || findings === 0) return undefined;
  return {
    to: `/scans/${most.scan_id}/findings${searchText({ q: `severity:${severity}` })}`,
    label: `${plural(findings, `${severity} finding`)} of ${visibleText(scanTitle(most)).slice(0, maxTitle)}`,
  };
}

function byCount(severity: (typeof severities)[number]) {
  return (one: Series['scan'], other: Series['scan']) =>
    other.severity_counts[severity] - one.severity_counts[severity];
}

/** More is red, fewer is green; of what is only informative neither. */
function Change({ severity, difference }: { severity: string; difference: number | null }) {
  // Keeps its place.
  if (difference === null) return <span className="invisible">{change(0)}</span>;
  const color =
    difference === 0 || severity === 'info'
      ? 'text-text-3'
      : difference > 0
        ? 'text-diff-new'
        : 'text-diff-fixed';
  return (
    <span className={color} title="since the previous runs">
      {change(difference)}
    </span>
  );
}

function hostsOf({ count: findings, hosts }: Dashboard['totals']['critical']): string {
  if (hosts === null) return 'counting hosts…';
  return findings === 0 ? 'no host' : `on ${plural(hosts, 'host')}`;
}

/** That the chart is wide; the server leaves out those before the first scan. */
const trendDays = 30;
const dayMs = 86_400_000;

function Trend({ trend }: Pick<Dashboard, 'trend'>) {
  const times = trend.map(({ date }) => Date.parse(date));
  return (
    <div className="min-w-0 border-line border-b py-3 desk:border-t desk:border-l desk:pl-5">
      <p className="flex pb-1 text-size-12 text-text-2">
        Critical and high, open <span className="ml-auto">last {plural(trendDays, 'day')}</span>
      </p>
      <LineChart
        label="Critical and high findings that are open"
        series={[{ name: 'Critical and high', values: trend.map(({ critical, high }) => critical + high) }]}
        times={times}
        // Days before the first scan are empty, not zero.
        from={(times.at(-1) ?? 0) - (trendDays - 1) * dayMs}
        height={96}
        why="One day is known so far; the line begins with the second."
      />
    </div>
  );
}

/** Where the numbers come from. */
function sourceOf({
  series,
  counted,
  not_comparable: notComparable,
  pending,
}: Pick<Dashboard, 'series' | 'counted' | 'not_comparable' | 'pending'>): string {
  if (series.length === 0) return 'No scan has ended yet. Numbers appear with the first.';
  const runs = countedText(counted);
  const hasPrevious = series.some(({ previous }) => previous !== null);
  const against = pending
    ? ' Comparing with the previous runs…'
    : hasPrevious
      ? ' Change against the previous run.'
      : series.length === 1
        ? ' It has run once, so there is nothing to compare with yet.'
        : ' Each has run once, so there is nothing to compare with yet.';
  const left =
    notComparable > 0 ? ` ${plural(notComparable, 'address', 'addresses')} could not be compared.` : '';
  return `${runs}${against}${left}${notEvaluated(series)}`;
}

/** `Findings open on 512 addresses, each counted once by its newest evaluated run, of 3 scans since Nov 3, 02:00.` */
function countedText({ scans, addresses, names, oldest }: Dashboard['counted']): string {
  if (oldest === null) return 'No findings: none of these scans has evaluated vulnerabilities.';
  const where = [
    ...(addresses > 0 || names === 0 ? [plural(addresses, 'address', 'addresses')] : []),
    ...(names > 0 ? [plural(names, 'name')] : []),
  ].join(' and ');
  const since = dateTime(oldest, serverNow());
  const runs = scans === 1 ? `the run of ${since}` : `runs of ${plural(scans, 'scan')} since ${since}`;
  return `Findings open on ${where}, each counted once by its newest evaluated run: ${runs}.`;
}

/** A zero of a scan that looked for nothing must not read as good news. */
function notEvaluated(series: Dashboard['series']): string {
  const without = series.filter(({ scan }) => !scan.vuln).length;
  if (without === 0) return '';
  return without === series.length
    ? ' Vulnerabilities were not evaluated: run it again with "Evaluate vulnerabilities".'
    : ` The latest run of ${plural(without, 'scan')} did not evaluate vulnerabilities.`;
}
