import { KeyValues } from '../../../components/layout/key-values.tsx';
import { Note } from '../../../components/layout/note.tsx';
import { Section } from '../../../components/layout/section.tsx';
import { ClassMark } from '../../../components/marks/class-mark.tsx';
import { Exploited } from '../../../components/marks/exploited.tsx';
import { SeverityMark } from '../../../components/marks/severity-mark.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { cvss, hundredths } from '../../../format/numbers.ts';
import type { FindingDetail } from '../result-rows.ts';
import type { ExplainedPort } from './port-detail.tsx';
import { VersionLine } from './version-line.tsx';

/** A finding with the reasons for its rank and its confidence. */
export interface ExplainedFinding extends FindingDetail {
  rank: string;
  reasons: string[];
}

/** A finding: what, how sure, what proves it, and what removes it. */
export function FindingDetailView({
  finding,
  port,
}: {
  finding: ExplainedFinding;
  port: ExplainedPort | null;
}) {
  return (
    <div className="flex flex-col gap-6">
      <Head finding={finding} />
      <Body finding={finding} />
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
      <details open={isOpen}>
        <summary className="cursor-pointer">
          <Head finding={finding} />
        </summary>
        <div className="pt-2">
          <Body finding={finding} />
        </div>
      </details>
    </li>
  );
}

function Head({ finding }: { finding: ExplainedFinding }) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-2 align-middle">
      <SeverityMark severity={finding.severity} chip />
      <TargetText text={finding.id} mono />
      <TargetText text={finding.title} />
      {finding.kev && <Exploited />}
    </span>
  );
}

function Body({ finding }: { finding: ExplainedFinding }) {
  const links = (finding.references ?? []).filter((url) => /^https?:\/\//.test(url)).slice(0, 20);
  return (
    <div className="flex flex-col gap-3">
      <VersionLine
        from={finding.affected_from ?? null}
        seen={finding.detected ?? null}
        fixed={finding.fixed_in ?? null}
        severity={finding.severity}
      />
      {finding.backport_note && (
        <Note tone="warning" title="The distribution may have fixed it without a new version.">
          <TargetText text={finding.backport_note} wrap />
        </Note>
      )}
      <KeyValues
        form="column"
        rows={[
          {
            label: 'Fix',
            value: finding.remediation ? <TargetText text={finding.remediation} wrap /> : undefined,
          },
          { label: 'How sure', value: finding.class ? <ClassMark value={finding.class} /> : undefined },
          { label: 'Confidence', value: hundredths(finding.confidence) },
          {
            label: 'CVSS',
            value: finding.cvss ? `${cvss(finding.cvss.score)}, ${finding.cvss.vector}` : undefined,
          },
          { label: 'EPSS', value: finding.epss ? hundredths(finding.epss.score) : undefined },
          {
            label: 'Affected',
            value: finding.affected ? <TargetText text={finding.affected} wrap /> : undefined,
          },
          {
            label: 'Seen',
            value: finding.detected ? <TargetText text={finding.detected} mono /> : undefined,
          },
          {
            label: 'Evidence',
            value: finding.evidence ? <TargetText text={finding.evidence} mono wrap /> : undefined,
          },
          { label: 'Why here', value: finding.rank ? <TargetText text={finding.rank} wrap /> : undefined },
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
            label: 'Found by',
            value: finding.plugin ? <TargetText text={finding.plugin} mono /> : undefined,
          },
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
        ]}
      />
    </div>
  );
}
