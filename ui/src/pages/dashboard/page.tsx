import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { LineChart } from '../../components/charts/line-chart.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { DiffMark } from '../../components/marks/diff-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { change, count, hundredths } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useCan } from '../../session/session.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { scanTitle } from '../scan/use-scan.ts';
import { FirstScan } from './first-scan.tsx';
import { RunningScans } from './running-scans.tsx';

type Dashboard = Data<'/api/v1/dashboard'>;

/** What is open now, what changed, what to fix first, and how the service is. */
export default function DashboardPage() {
  const any = useGet('/api/v1/scans', { query: { limit: 1 } });
  const got = useGet('/api/v1/dashboard', {}, { enabled: (any.data?.total ?? 0) > 0, keep: true });
  if (any.data?.total === 0) return <FirstScan />;
  return (
    <>
      <PageHeader
        title="Dashboard"
        actions={
          <LinkButton to="/scans/new" variant="primary" icon="plus">
            New scan
          </LinkButton>
        }
      />
      <Boundary got={any} rows={10}>
        {() => (
          <Boundary got={got} rows={10}>
            {(dashboard) => <Content dashboard={dashboard} />}
          </Boundary>
        )}
      </Boundary>
    </>
  );
}

function Content({ dashboard }: { dashboard: Dashboard }) {
  return (
    <>
      <Totals dashboard={dashboard} />
      <div className="grid gap-x-9 gap-y-8 pt-8 desk:grid-cols-[minmax(0,1fr)_276px]">
        <div className="flex min-w-0 flex-col gap-8">
          <Changes dashboard={dashboard} />
          <FixFirst dashboard={dashboard} />
        </div>
        <div className="flex min-w-0 flex-col gap-8">
          <RunningScans />
          <Service />
        </div>
      </div>
    </>
  );
}

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

function Totals({
  dashboard: { totals, trend, series, not_comparable: notComparable },
}: {
  dashboard: Dashboard;
}) {
  return (
    <section aria-label="Open findings">
      <div className="grid desk:grid-cols-[auto_minmax(0,1fr)]">
        <Strip
          label="Open findings by severity"
          numbers={severities.map((severity) => ({
            key: severity,
            label: <SeverityMark severity={severity} />,
            value: count(totals[severity].count),
            beside: totals[severity].change === null ? undefined : change(totals[severity].change),
            note:
              totals[severity].hosts === null ? undefined : `on ${plural(totals[severity].hosts, 'host')}`,
          }))}
        />
        {trend.length > 1 && (
          <div className="min-w-0 border-line border-b py-3 desk:border-t desk:border-l desk:pl-5">
            <p className="flex text-size-12 text-text-2">
              Critical and high, open <span className="ml-auto">{plural(trend.length, 'day')}</span>
            </p>
            <LineChart
              label="Critical and high findings that are open"
              series={[
                { name: 'Critical and high', values: trend.map(({ critical, high }) => critical + high) },
              ]}
              times={trend.map(({ date }) => Date.parse(date))}
              height={96}
            />
          </div>
        )}
      </div>
      <p className="pt-3 text-text-2">
        {series.length === 0
          ? 'No scan has ended yet. Numbers appear with the first.'
          : `Findings open in the latest run of each of ${plural(series.length, 'scan')}. Change against the previous run.`}
        {notComparable > 0 && ` ${plural(notComparable, 'address', 'addresses')} could not be compared.`}
      </p>
    </section>
  );
}

function Changes({ dashboard: { series } }: { dashboard: Dashboard }) {
  if (series.length === 0) return null;
  return (
    <Section title="Changed since the previous run" link={{ label: 'Compare', to: '/compare' }}>
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Changes">
        <table className="w-full">
          <thead>
            <tr className="text-left text-size-11 text-text-3">
              <th className="py-1.5 font-medium">Scan</th>
              <th className="font-medium max-tablet:hidden">Ended</th>
              {['New', 'Fixed', 'Changed', 'Not comp.'].map((head) => (
                <th key={head} className="px-2 text-right font-medium">
                  {head}
                </th>
              ))}
              <th className="pl-4 font-medium max-tablet:hidden">What stands out</th>
            </tr>
          </thead>
          <tbody>
            {series.map((line) => (
              <ChangeRow key={line.key} line={line} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function ChangeRow({
  line: { scan, previous, changes, stands_out: standsOut, pending },
}: {
  line: Dashboard['series'][number];
}) {
  const compare =
    previous === null ? null : `/compare${searchText({ scan: scan.scan_id, against: previous })}`;
  return (
    <tr className="border-line-subtle border-t">
      <td className="h-9 max-w-48 truncate pr-3 font-medium">
        <Link to={`/scans/${scan.scan_id}`} className="text-text-1">
          <TargetText text={scanTitle(scan)} max={60} />
        </Link>
      </td>
      <td className="whitespace-nowrap pr-3 text-text-2 max-tablet:hidden">
        <TimeText at={scan.completed_at} relative />
      </td>
      {changes === null ? (
        <td colSpan={4} className="px-2 text-right text-text-2">
          {previous === null ? 'first run' : pending ? 'comparing…' : 'not compared'}
        </td>
      ) : (
        (['new', 'fixed', 'changed', 'not_comparable'] as const).map((kind) => (
          <td key={kind} className="px-2 text-right">
            {compare === null ? null : (
              <Link to={compare} className="text-text-1 hover:no-underline">
                <DiffMark kind={kind} count={changes[kind]} />
              </Link>
            )}
          </td>
        ))
      )}
      <td className="pl-4 max-tablet:hidden">
        {standsOut === null ? (
          <span className="text-text-2">{changes === null ? '' : 'No change'}</span>
        ) : (
          <span className="flex items-center gap-2">
            {standsOut.severity && <SeverityMark severity={standsOut.severity} bare />}
            <span className="truncate">
              <TargetText text={standsOut.text} max={80} />
            </span>
            {standsOut.exploited && <Exploited />}
          </span>
        )}
      </td>
    </tr>
  );
}

function FixFirst({ dashboard: { fixes, series } }: { dashboard: Dashboard }) {
  if (fixes.length === 0) return null;
  const [latest] = series;
  return (
    <Section
      title="Fix first"
      note="ranked by exploited, EPSS, CVSS"
      link={latest && { label: 'Whole fix list', to: `/scans/${latest.scan.scan_id}/fixes` }}
    >
      <ul>
        {fixes.map((fix) => (
          <li key={fix.key} className="flex min-h-12 items-center gap-3 border-line-subtle border-b py-1">
            <SeverityMark severity={fix.severity} bare />
            <span className="min-w-0 grow">
              <span className="block truncate font-medium">
                <TargetText text={fix.text} />
              </span>
              <span className="block truncate text-size-12 text-text-2">
                <TargetText text={fix.host_sample.map(({ name, host }) => name ?? host).join(', ')} />
              </span>
            </span>
            {fix.exploited && <Exploited />}
            <span className="whitespace-nowrap text-right max-tablet:hidden">
              {plural(fix.hosts, 'host')}
            </span>
            <span className="w-24 text-right max-tablet:hidden">{plural(fix.findings, 'finding')}</span>
            <span className="w-20 text-right max-desk:hidden">EPSS {hundredths(fix.epss)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Service() {
  const { data: health } = useGet('/api/v1/health', {}, { every: 15_000 });
  const mayReadAlerts = useCan('metrics:read');
  const { data: alerts } = useGet('/api/v1/alerts', {}, { enabled: mayReadAlerts });
  const { data: vulndb } = useGet('/api/v1/vulndb', {});
  if (!health) return null;
  const firing = alerts?.alerts.filter(({ state }) => state === 'firing').length;
  return (
    <Section title="Service" link={{ label: 'Workers', to: '/workers' }}>
      <KeyValues
        rows={[
          {
            label: 'Health',
            value: (
              <StateMark state={health.status === 'healthy' ? 'completed' : 'failed'} word={health.status} />
            ),
          },
          { label: 'Vulnerability data', value: vulndb ? `${count(vulndb.cve_count)} CVEs` : undefined },
          {
            label: 'Alerts',
            value:
              firing === undefined ? undefined : firing === 0 ? (
                'none firing'
              ) : (
                <Link to="/alerts">{firing} firing</Link>
              ),
          },
        ]}
      />
    </Section>
  );
}
