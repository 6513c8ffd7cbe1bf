import type { ReactNode } from 'react';
import { countsAs } from '../../../../../src/domain/finding-order.ts';
import { Icon } from '../../../components/icons/icon.tsx';
import { KeyValues, type KeyValuesProps } from '../../../components/layout/key-values.tsx';
import { Note } from '../../../components/layout/note.tsx';
import { Section } from '../../../components/layout/section.tsx';
import { ClassMark } from '../../../components/marks/class-mark.tsx';
import { Exploited } from '../../../components/marks/exploited.tsx';
import { SeverityMark } from '../../../components/marks/severity-mark.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { cvss, hundredths } from '../../../format/numbers.ts';
import type { FindingDetail } from '../result-rows.ts';
import type { ExplainedPort } from './port-detail.tsx';
import { isOneVersion, VersionLine } from './version-line.tsx';

/** A finding with the reasons for its rank and its confidence. */
export interface ExplainedFinding extends FindingDetail {
  rank: string;
  reasons: string[];
}

interface FindingDetailProps {
  finding: ExplainedFinding;
  port: ExplainedPort | null;
  /** What has the finding, and the way to it. */
  service: ReactNode;
}

/** A finding: what, why it is believed, what removes it, and how urgent it is. */
export function FindingDetailView({ finding, port, service }: FindingDetailProps) {
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-col gap-1.5">
        <p>
          <Marks finding={finding} />
        </p>
        <p className="font-semibold text-size-16 leading-6">
          <TargetText text={finding.title} wrap />
        </p>
        {service}
      </div>
      <Section
        title="Why it is reported"
        note={finding.class ? <ClassMark value={finding.class} /> : undefined}
      >
        <div className="flex flex-col gap-3 pt-3">
          <Range finding={finding} />
          <KeyValues form="column" rows={reasonRows(finding)} />
        </div>
      </Section>
      <Section title="How to fix it">
        <p className="pt-2">
          {finding.remediation ? <TargetText text={finding.remediation} wrap /> : 'No fix is on record.'}
        </p>
      </Section>
      <Section title="How urgent it is">
        <div className="pt-2">
          <KeyValues form="column" rows={urgencyRows(finding)} />
        </div>
      </Section>
      {port?.banner && (
        <Section title="First bytes of the service">
          <div className="pt-2">
            <TargetText text={port.banner} mono wrap />
          </div>
        </Section>
      )}
    </div>
  );
}

/** A finding within a list; open or closed. */
export function FindingItem({ finding, isOpen }: { finding: ExplainedFinding; isOpen: boolean }) {
  return (
    <li className="border-line-subtle border-b py-2">
      <details open={isOpen} className="group">
        <summary className="flex cursor-pointer list-none items-start gap-2">
          <Icon name="right" size={14} className="mt-1 flex-none group-open:rotate-90" />
          <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
            <Marks finding={finding} />
            <TargetText text={finding.title} wrap />
          </span>
        </summary>
        <div className="flex flex-col gap-3 pt-2 pl-[22px]">
          <Range finding={finding} />
          <KeyValues
            form="column"
            rows={[
              {
                label: 'How sure',
                value: finding.class ? <ClassMark value={finding.class} /> : undefined,
              },
              ...reasonRows(finding),
              {
                label: 'Fix',
                value: finding.remediation ? <TargetText text={finding.remediation} wrap /> : undefined,
              },
              ...urgencyRows(finding),
            ]}
          />
        </div>
      </details>
    </li>
  );
}

function Marks({ finding }: { finding: ExplainedFinding }) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-2 align-middle">
      <SeverityMark severity={countsAs(finding)} chip />
      <TargetText text={finding.id} mono />
      {finding.kev && <Exploited />}
    </span>
  );
}

/** The affected versions, and who may have fixed one of them. */
function Range({ finding }: { finding: ExplainedFinding }) {
  return (
    <>
      {!isOneVersion(finding) && (
        <VersionLine
          from={finding.affected_from ?? null}
          seen={finding.detected ?? null}
          fixed={finding.fixed_in ?? null}
          severity={countsAs(finding)}
        />
      )}
      {finding.backport_note && (
        <Note tone="warning" title={noteTitle(finding)}>
          <TargetText text={finding.backport_note} wrap />
        </Note>
      )}
    </>
  );
}

function noteTitle(finding: ExplainedFinding): string {
  return finding.class === 'possible'
    ? 'It may be fixed without a new version: it counts as medium at most.'
    : 'What the distribution says';
}

type Rows = KeyValuesProps['rows'];

/** What was seen, and what follows from it. */
function reasonRows(finding: ExplainedFinding): Rows {
  return [
    {
      label: 'Evidence',
      value: finding.evidence ? <TargetText text={finding.evidence} mono wrap /> : undefined,
    },
    {
      label: 'Version seen',
      value: finding.detected ? <TargetText text={finding.detected} mono /> : undefined,
    },
    {
      label: 'Affected',
      value: finding.affected ? <TargetText text={finding.affected} mono wrap /> : undefined,
    },
    {
      label: 'Reasons',
      value:
        finding.reasons.length === 0 ? undefined : (
          <ul>
            {finding.reasons.map((reason) => (
              <li key={reason}>
                <TargetText text={reason} wrap />
              </li>
            ))}
          </ul>
        ),
    },
    {
      label: 'Confidence',
      value: finding.reasons.length === 0 ? hundredths(finding.confidence) : undefined,
    },
    { label: 'Found by', value: finding.plugin ? <TargetText text={finding.plugin} mono /> : undefined },
  ];
}

function urgencyRows(finding: ExplainedFinding): Rows {
  const links = (finding.references ?? []).filter((url) => /^https?:\/\//.test(url)).slice(0, 20);
  return [
    { label: 'Ranked by', value: finding.rank ? <TargetText text={finding.rank} wrap /> : undefined },
    {
      label: 'CVSS',
      value: finding.cvss ? `${cvss(finding.cvss.score)}, ${finding.cvss.vector}` : undefined,
    },
    { label: 'EPSS', value: finding.epss ? hundredths(finding.epss.score) : undefined },
    {
      label: 'References',
      value:
        links.length === 0 ? undefined : (
          <ul>
            {links.map((url) => (
              <li key={url} className="truncate">
                <a href={url} target="_blank" rel="noreferrer noopener">
                  <bdi>{url}</bdi>
                </a>
              </li>
            ))}
          </ul>
        ),
    },
  ];
}
