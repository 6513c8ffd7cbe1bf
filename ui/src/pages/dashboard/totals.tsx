import type { Data } from '../../api/api-types.ts';
import { LineChart } from '../../components/charts/line-chart.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { change, count } from '../../format/numbers.ts';
import { plural, severities } from '../../format/words.ts';

type Dashboard = Data<'/api/v1/dashboard'>;

/** Open findings by severity, with their change and trend. */
export function Totals({ dashboard: { totals, trend, ...source } }: { dashboard: Dashboard }) {
  const hasTrend = trend.length > 1;
  return (
    <section aria-label="Open findings">
      <div className={hasTrend ? 'grid desk:grid-cols-[auto_minmax(0,1fr)]' : ''}>
        <Strip
          label="Open findings by severity"
          numbers={severities.map((severity) => ({
            key: severity,
            label: <SeverityMark severity={severity} />,
            value: count(totals[severity].count),
            beside: <Change severity={severity} difference={totals[severity].change} />,
            note: hostsOf(totals[severity]),
          }))}
        />
        {hasTrend && <Trend trend={trend} />}
      </div>
      <p className="pt-3 text-text-2">{sourceOf(source)}</p>
    </section>
  );
}

/** More is red, fewer is green; of what is only informative neither. */
function Change({ severity, difference }: { severity: string; difference: number | null }) {
  if (difference === null) return null;
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

function Trend({ trend }: Pick<Dashboard, 'trend'>) {
  return (
    <div className="min-w-0 border-line border-b py-3 desk:border-t desk:border-l desk:pl-5">
      <p className="flex pb-1 text-size-12 text-text-2">
        Critical and high, open <span className="ml-auto">{plural(trend.length, 'day')}</span>
      </p>
      <LineChart
        label="Critical and high findings that are open"
        series={[{ name: 'Critical and high', values: trend.map(({ critical, high }) => critical + high) }]}
        times={trend.map(({ date }) => Date.parse(date))}
        height={96}
      />
    </div>
  );
}

/** Where the numbers come from. */
function sourceOf({
  series,
  not_comparable: notComparable,
  pending,
}: Pick<Dashboard, 'series' | 'not_comparable' | 'pending'>): string {
  if (series.length === 0) return 'No scan has ended yet. Numbers appear with the first.';
  const runs =
    series.length === 1
      ? 'Findings open in the latest run of the one scan that has ended.'
      : `Findings open in the latest run of each of ${plural(series.length, 'scan')}.`;
  const hasPrevious = series.some(({ previous }) => previous !== null);
  const against = pending
    ? ' Comparing with the previous runs…'
    : hasPrevious
      ? ' Change against the previous run.'
      : ' No scan has run twice yet, so there is nothing to compare with.';
  const left =
    notComparable > 0 ? ` ${plural(notComparable, 'address', 'addresses')} could not be compared.` : '';
  return `${runs}${against}${left}`;
}
