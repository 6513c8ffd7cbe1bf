import type { Data } from '../../api/api-types.ts';
import { type Got, useGet } from '../../api/use-get.ts';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Strip } from '../../components/layout/strip.tsx';
import { ClassMark } from '../../components/marks/class-mark.tsx';
import { Exploited } from '../../components/marks/exploited.tsx';
import { SeverityMark } from '../../components/marks/severity-mark.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { BeingIndexed } from '../../components/states/being-indexed.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { LoadingRows } from '../../components/states/loading-rows.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { searchText } from '../../url/search-text.ts';
import { SinceLastRun } from './since-last-run.tsx';
import { hasEnded, type Scan, useScan } from './use-scan.ts';

/** Names of services that are listed. */
const maxServices = 8;

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

/** What a reader needs first: how bad, what to do, what was covered. */
export default function OverviewTab() {
  const { data: scan, scanId } = useScan();
  const facets = useGet('/api/v1/scans/{scan_id}/facets', {
    path: { scan_id: scanId },
    query: { fields: 'class,service', limit: maxServices },
  });
  if (!scan) return null;
  if (hasEnded(scan) && scan.results.live_hosts === 0) return <NothingFound scan={scan} />;
  return (
    <>
      {facets.indexShare !== null && <BeingIndexed share={facets.indexShare} />}
      <div className="grid desk:grid-cols-[auto_minmax(0,1fr)]">
        <Strip
          label="Findings by severity"
          numbers={severities.map((severity) => ({
            key: severity,
            label: <SeverityMark severity={severity} />,
            value: count(scan.severity_counts[severity]),
            link: {
              to: `/scans/${scanId}/findings${searchText({ q: `severity:${severity}` })}`,
              label: `${plural(scan.severity_counts[severity], `${severity} finding`)}`,
            },
          }))}
        />
        {scan.results.vulnerabilities > 0 && <HowSure facets={facets} />}
      </div>
      <div className="grid gap-x-8 pt-6 desk:grid-cols-[minmax(0,1fr)_264px]">
        <div className="flex min-w-0 flex-col gap-8">
          {hasEnded(scan) && <SinceLastRun scan={scan} />}
          {!hasEnded(scan) && (
            <p className="text-text-2">
              Results so far. Hosts, services and findings appear in their tabs as they are found.
            </p>
          )}
          {scan.results.vulnerabilities > 0 && <FixFirst scanId={scanId} />}
          <Services facets={facets} scan={scan} />
        </div>
        <div className="flex min-w-0 flex-col gap-8 max-desk:pt-8">
          {/* Counted at the end: zeros before it would be wrong. */}
          {hasEnded(scan) && <CoverageSummary scanId={scanId} />}
          <Warnings scan={scan} />
          <Notifications scan={scan} />
        </div>
      </div>
    </>
  );
}

function NothingFound({ scan }: { scan: Scan }) {
  return (
    <Empty
      title="No host responded"
      text="The scan tried every target and got no response. Hosts may block probes: a scan without discovery treats every target as up."
      action={
        <Link to={`/scans/new${searchText({ from: scan.scan_id, discover: 'no' })}`}>
          Run again without discovery
        </Link>
      }
    />
  );
}

type Facets = Data<'/api/v1/scans/{scan_id}/facets'>;

function valuesOf(facets: Facets | undefined, field: string) {
  return facets?.facets.find((facet) => facet.field === field)?.values ?? [];
}

function HowSure({ facets: { data } }: { facets: Got<Facets> }) {
  const values = valuesOf(data, 'class');
  const all = values.reduce((sum, { count: number }) => sum + number, 0);
  const of = (name: string) => values.find(({ value }) => value === name)?.count ?? 0;
  const parts = [
    { name: 'certain', look: 'bg-text-2' },
    { name: 'likely', look: 'bg-chart-2' },
    { name: 'possible', look: 'border border-text-2' },
  ] as const;
  return (
    <div className="flex flex-col justify-center gap-2 border-line border-b py-3 desk:border-t desk:border-l desk:pl-6">
      <h2 className="font-normal text-size-12 text-text-2">How sure</h2>
      <div className={`flex h-2 gap-0.5 ${all === 0 ? 'rounded-s bg-surface-3' : ''}`} aria-hidden="true">
        {parts.map(({ name, look }) =>
          of(name) > 0 ? (
            <div key={name} className={`min-w-1 rounded-s ${look}`} style={{ flexGrow: of(name) }} />
          ) : null,
        )}
      </div>
      <p className="flex flex-wrap gap-4 text-size-12">
        {parts.map(({ name }) => (
          <span key={name} className="flex items-center gap-1">
            {data ? count(of(name)) : '…'} <ClassMark value={name} />
          </span>
        ))}
      </p>
    </div>
  );
}

function FixFirst({ scanId }: { scanId: string }) {
  const { data, error } = useGet('/api/v1/scans/{scan_id}/fixes', {
    path: { scan_id: scanId },
    query: { limit: 3 },
  });
  if (!data)
    return error ? null : (
      <Section title="Fix first">
        <LoadingRows rows={3} height={48} />
      </Section>
    );
  return (
    <Section
      title="Fix first"
      note={`${plural(data.total, 'action')} in the fix list`}
      link={{ label: 'Fix list', to: `/scans/${scanId}/fixes` }}
    >
      <ul>
        {data.fixes.map((fix) => (
          <li key={fix.key} className="flex min-h-12 items-center gap-3 border-line-subtle border-b py-1">
            <SeverityMark severity={fix.severity} bare />
            <div className="min-w-0 grow">
              <Link to={`/scans/${scanId}/fixes${searchText({ open: fix.key })}`} className="text-text-1">
                <TargetText text={fix.text} />
              </Link>
              <div className="text-size-12 text-text-2">
                <TargetText text={fix.reason} />
              </div>
            </div>
            {fix.exploited && <Exploited />}
            <span className="w-20 flex-none whitespace-nowrap text-right max-tablet:hidden">
              {plural(fix.hosts, 'host')}
            </span>
            <span className="w-24 flex-none whitespace-nowrap text-right max-tablet:hidden">
              {plural(fix.findings, 'finding')}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Services({ facets: { data, indexShare }, scan }: { facets: Got<Facets>; scan: Scan }) {
  const known = valuesOf(data, 'service');
  // The facet counts names only; the others are known to be open.
  const rest = scan.results.open_ports - known.reduce((sum, { count: number }) => sum + number, 0);
  const isWhole = hasEnded(scan) && data !== undefined && indexShare === null && known.length < maxServices;
  const values = isWhole && rest > 0 ? [...known, { value: 'none', count: rest }] : known;
  if (data === undefined && scan.results.open_ports > 0)
    return (
      <Section title="Services">
        <LoadingRows rows={4} />
      </Section>
    );
  if (values.length === 0) return null;
  const most = Math.max(...values.map(({ count: number }) => number));
  return (
    <Section
      title="Services"
      note={`${count(scan.results.open_ports)} on ${plural(scan.results.live_hosts, 'host')}`}
      link={{ label: 'All services', to: `/scans/${scan.scan_id}/services` }}
    >
      <ul className="pt-2">
        {values.map(({ value, count: number }) => (
          <li
            key={String(value)}
            className="grid h-6 grid-cols-[112px_minmax(0,1fr)_48px] items-center gap-3"
          >
            <Link
              to={`/scans/${scan.scan_id}/services${searchText({ q: value === 'none' ? 'service:none state:open' : `service:"${value}"` })}`}
              className="truncate text-text-1 leading-6"
            >
              <bdi>{value === 'none' ? 'not recognized' : String(value)}</bdi>
            </Link>
            <div
              className="h-2 rounded-s bg-line-strong"
              style={{ width: `${Math.max(1, (number / most) * 100)}%` }}
              aria-hidden="true"
            />
            <span className="text-right">{count(number)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function CoverageSummary({ scanId }: { scanId: string }) {
  const { data, error } = useGet('/api/v1/scans/{scan_id}/coverage', { path: { scan_id: scanId } });
  if (!data)
    return error ? null : (
      <Section title="Coverage">
        <LoadingRows rows={5} />
      </Section>
    );
  return (
    <Section title="Coverage" link={{ label: 'Details', to: `/scans/${scanId}/coverage` }}>
      <KeyValues rows={coverageRows(data)} />
    </Section>
  );
}

/** The numbers of the coverage, in the order of a scan. */
export function coverageRows({ addresses, ports }: Data<'/api/v1/scans/{scan_id}/coverage'>) {
  const { requested, responded, silent, excluded } = addresses;
  return [
    { label: 'Addresses requested', value: count(requested) },
    { label: 'Excluded', value: count(excluded) },
    { label: 'Responded', value: `${count(responded)} of ${count(responded + silent)}` },
    ...(ports === null
      ? []
      : [
          {
            label: 'Ports tried',
            value: `${count(ports.all.planned - ports.all.not_tried)} of ${count(ports.all.planned)}`,
          },
          { label: 'Not tried', value: count(ports.all.not_tried) },
        ]),
  ];
}

function Warnings({ scan: { warnings, error } }: { scan: Scan }) {
  if (warnings.length === 0 && error === null) return null;
  return (
    <Section title="Warnings" note={warnings.length > 0 ? count(warnings.length) : undefined}>
      <ul className="flex flex-col gap-2 pt-2">
        {error !== null && error.code !== 'canceled' && (
          <li>
            <Note tone="problem" title={`The scan failed: ${error.code}`}>
              <TargetText text={error.message} wrap />
            </Note>
          </li>
        )}
        {warnings.slice(0, 20).map(({ code, message }, index) => (
          <li key={`${code}-${index}`}>
            <Note tone="warning">
              <TargetText text={message} wrap />
            </Note>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Notifications({ scan: { notifications } }: { scan: Scan }) {
  if (notifications.length === 0) return null;
  const states = {
    delivered: 'completed',
    failed: 'failed',
    pending: 'pending',
    skipped: 'skipped',
  } as const;
  return (
    <Section title="Notifications">
      <ul>
        {notifications.map(({ channel, status, error }) => (
          <li key={channel} className="flex items-center gap-2 border-line-subtle border-b py-2">
            <StateMark state={states[status as keyof typeof states] ?? 'pending'} word={status} />
            <Mono>{channel}</Mono>
            {error !== null && <TargetText text={error} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}
