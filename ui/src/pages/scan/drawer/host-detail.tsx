import type { ReactNode } from 'react';
import { byWorst, urgencyOf } from '../../../../../src/domain/finding-order.ts';
import type { Data } from '../../../api/api-types.ts';
import { useGet } from '../../../api/use-get.ts';
import { KeyValues } from '../../../components/layout/key-values.tsx';
import { Section } from '../../../components/layout/section.tsx';
import { SeverityMark } from '../../../components/marks/severity-mark.tsx';
import { Boundary } from '../../../components/states/boundary.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { count, hundredths } from '../../../format/numbers.ts';
import { plural } from '../../../format/words.ts';
import { useSetSearch } from '../../../url/use-search-param.ts';
import type { HostRecord } from '../record-types.ts';
import { kindOf, type PortReason, portText, systemOf } from '../result-rows.ts';
import { type ExplainedFinding, FindingItem } from './finding-detail.tsx';

type Explanation = Data<'/api/v1/scans/{scan_id}/explain'>;

/** A host: what it is called and is, its worst finding, its services, why other ports are not open, what is wrong with it. */
export function HostDetail({ explanation, scanId }: { explanation: Explanation; scanId: string }) {
  const { host, ports, findings, left_out: leftOut } = explanation;
  const setSearch = useSetSearch();
  const got = useGet('/api/v1/scans/{scan_id}/records', {
    path: { scan_id: scanId },
    query: { type: 'host', q: `host:${host}`, limit: 1 },
  });
  return (
    <div className="flex flex-col gap-6">
      <Boundary got={got} rows={6}>
        {({ records }) => (
          <HostFacts host={records[0] as unknown as HostRecord | undefined} explanation={explanation} />
        )}
      </Boundary>
      <Section title="Services" note={plural(ports.length, 'port')}>
        <ul>
          {ports.map(({ port, protocol, claims, sites, findings: own }) => (
            <li key={`${port}/${protocol}`} className="border-line-subtle border-b">
              <button
                type="button"
                className="flex min-h-9 w-full items-center gap-3 text-left hover:bg-surface-2"
                onClick={() => setSearch({ open: `port ${host} ${port}/${protocol}` })}
              >
                <span className="mono w-20 flex-none">{`${port}/${protocol}`}</span>
                <TargetText text={nameOf(claims)} />
                {own.length > 0 && (
                  <span className="ml-auto flex-none text-text-2">{plural(own.length, 'finding')}</span>
                )}
              </button>
              {sites.length > 0 && (
                <ul className="pb-2 pl-[92px] text-text-2" aria-label={`Sites on port ${port}`}>
                  {sites.map((site) => (
                    <li key={site}>
                      <TargetText text={site} wrap />
                    </li>
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      </Section>
      {findings.length > 0 && (
        <Section title="Findings of the host" note={String(findings.length)}>
          <ul>
            {(findings as unknown as ExplainedFinding[]).map((finding) => (
              <FindingItem key={finding.id} finding={finding} isOpen={false} />
            ))}
          </ul>
        </Section>
      )}
      {leftOut > 0 && (
        <p className="text-text-2">{plural(leftOut, 'more row')} in the tabs of services and findings.</p>
      )}
    </div>
  );
}

function HostFacts({ host, explanation }: { host: HostRecord | undefined; explanation: Explanation }) {
  const { hostnames = [], mac, vendor, os, port_reasons: reasons = [] } = host ?? {};
  const kind = host ? kindOf(host) : null;
  const ofKind = host?.device_evidence?.filter(({ device_type }) => device_type === host.device_type);
  return (
    <KeyValues
      form="column"
      rows={[
        { label: 'Address', value: <TargetText text={explanation.host} mono /> },
        {
          label: hostnames.length > 1 ? 'Names' : 'Name',
          value: hostnames.length > 0 ? <TargetText text={hostnames.join(', ')} wrap /> : 'none known',
        },
        {
          label: 'MAC',
          value: mac ? (
            <>
              <TargetText text={mac} mono /> {vendor && <TargetText text={vendor} />}
            </>
          ) : undefined,
        },
        {
          label: 'System',
          value: (
            <Recognized name={host ? systemOf(host) : null} evidence={host?.os_evidence}>
              {os?.confidence !== undefined && `, confidence ${hundredths(os.confidence)}`}
            </Recognized>
          ),
        },
        { label: 'Kind', value: <Recognized name={kind} evidence={ofKind} /> },
        { label: 'Worst finding', value: <WorstFinding explanation={explanation} /> },
        { label: 'Ports', value: host?.port_counts && countsText(host.port_counts) },
        {
          label: 'Not open',
          value:
            reasons.length === 0 ? undefined : (
              <ul>
                {reasons.map((reason) => (
                  <li key={JSON.stringify({ ...reason, count: 0 })}>
                    <TargetText text={reasonText(reason)} wrap />
                  </li>
                ))}
              </ul>
            ),
        },
      ]}
    />
  );
}

/** Pieces of evidence that are shown for what a host is; the others weigh less. */
const maxEvidence = 3;

/** What the host was recognized as, and why. */
function Recognized({
  name,
  evidence = [],
  children,
}: {
  name: string | null;
  evidence?: HostRecord['os_evidence'];
  children?: ReactNode;
}) {
  if (name === null) return 'not recognized';
  const why = evidence.toSorted((a, b) => b.weight - a.weight).slice(0, maxEvidence);
  return (
    <>
      <TargetText text={name} />
      <span className="text-text-2">{children}</span>
      <ul className="text-size-12 text-text-2">
        {why.map(({ source, evidence: text }) => (
          <li key={`${source} ${text}`}>
            {source}: <TargetText text={text} wrap />
          </li>
        ))}
      </ul>
    </>
  );
}

function WorstFinding({ explanation: { host, ports, findings } }: { explanation: Explanation }) {
  const setSearch = useSetSearch();
  const places = [
    ...findings.map((finding) => ({ finding, port: null, protocol: null })),
    ...ports.flatMap(({ port, protocol, findings: own }) =>
      own.map((finding) => ({ finding, port, protocol })),
    ),
  ] as unknown as { finding: ExplainedFinding; port: number | null; protocol: string | null }[];
  const [worst] = places.toSorted((a, b) => byWorst(urgencyOf(a.finding), urgencyOf(b.finding)));
  if (worst === undefined) return 'none';
  const { id, severity, title } = worst.finding;
  return (
    <button
      type="button"
      className="text-left text-accent-text hover:underline"
      onClick={() => setSearch({ open: `finding ${host} ${portText(worst)} ${id}` })}
    >
      <SeverityMark severity={severity} chip /> <TargetText text={title} wrap />{' '}
      <span className="mono text-text-2">{portText(worst)}</span>
    </button>
  );
}

/** `2 open, 900 closed, 98 filtered` */
function countsText({ open, closed, filtered, not_tried }: NonNullable<HostRecord['port_counts']>): string {
  const parts = [
    `${count(open)} open`,
    `${count(closed)} closed`,
    `${count(filtered)} filtered`,
    ...(not_tried > 0 ? [`${count(not_tried)} not tried`] : []),
  ];
  return parts.join(', ');
}

/** `3 filtered: admin-prohibited from 10.0.0.254 (22, 80, 443)` */
function reasonText({ protocol, state, reason, from, count: number, ports }: PortReason): string {
  const named = ports.length === 0 ? '' : ` (${ports.join(', ')}${number > ports.length ? ', …' : ''})`;
  return `${count(number)} ${state}${protocol === 'udp' ? ' over UDP' : ''}: ${reason}${from ? ` from ${from}` : ''}${named}`;
}

function nameOf(claims: Explanation['ports'][number]['claims']): string {
  const chosen = claims.find(({ outcome }) => outcome === 'chosen');
  return chosen
    ? [chosen.product ?? chosen.match, chosen.version].filter((part) => part).join(' ')
    : 'not recognized';
}
