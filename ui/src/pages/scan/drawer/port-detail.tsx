import type { Data } from '../../../api/api-types.ts';
import { HexView } from '../../../components/bytes/hex-view.tsx';
import { Button } from '../../../components/controls/button.tsx';
import { KeyValues } from '../../../components/layout/key-values.tsx';
import { Section } from '../../../components/layout/section.tsx';
import { Tag } from '../../../components/marks/tag.tsx';
import { CopyButton } from '../../../components/text/copy-button.tsx';
import { Mono } from '../../../components/text/mono.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { bytes as bytesText, hundredths } from '../../../format/numbers.ts';
import { plural } from '../../../format/words.ts';
import { useSetSearch } from '../../../url/use-search-param.ts';
import { bannerBytes } from '../result-rows.ts';
import { type ExplainedFinding, FindingItem } from './finding-detail.tsx';

export type ExplainedPort = Data<'/api/v1/scans/{scan_id}/explain'>['ports'][number];

/** A service: its bytes, why it has its name, what was not chosen, and what is wrong with it. */
export function PortDetail({ port, scanId, host }: { port: ExplainedPort; scanId: string; host: string }) {
  const chosen = chosenOf(port);
  return (
    <div className="flex flex-col gap-6" data-scan={scanId} data-host={host}>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-semibold text-size-16">
          <TargetText text={serviceName(port)} />
        </strong>
        <Tag>{`${port.port}/${port.protocol}`}</Tag>
        <Tag>{`${port.state}, ${port.reason}`}</Tag>
      </p>
      <Said port={port} match={chosen?.matched ?? null} />
      <Why port={port} />
      {port.findings.length > 0 && (
        <Section title="Findings" note={`${port.findings.length} on this service`}>
          <ul>
            {(port.findings as unknown as ExplainedFinding[]).map((finding, index) => (
              <FindingItem key={finding.id} finding={finding} isOpen={index === 0} />
            ))}
          </ul>
        </Section>
      )}
      {chosen?.product && <OnlyThisProduct product={chosen.product} />}
    </div>
  );
}

function OnlyThisProduct({ product }: { product: string }) {
  const setSearch = useSetSearch();
  return (
    <div className="no-print flex gap-2">
      <Button
        icon="filter"
        onClick={() => setSearch({ q: `product:${JSON.stringify(product)}`, open: null })}
      >
        Only this product
      </Button>
    </div>
  );
}

type Claim = ExplainedPort['claims'][number];

function chosenOf({ claims }: ExplainedPort): Claim | undefined {
  return claims.find(({ outcome }) => outcome === 'chosen');
}

/** `Apache httpd 2.4.49` */
export function serviceName(port: ExplainedPort): string {
  return nameOf(chosenOf(port));
}

function nameOf(claim: Claim | undefined): string {
  if (!claim) return 'Not recognized';
  return [claim.product ?? claim.match, claim.version].filter((part) => part).join(' ');
}

function Said({ port, match }: { port: ExplainedPort; match: { from: number; to: number } | null }) {
  const bytes = bannerBytes(port);
  if (bytes.length === 0)
    return (
      <Section title="First bytes">
        <p className="pt-2 text-text-2">The service sent nothing that was recorded.</p>
      </Section>
    );
  return (
    <Section
      title="First bytes"
      note={`${bytesText(bytes.length)}${port.truncated ? ', cut' : ''}`}
      actions={<CopyButton text={port.banner ?? ''} label="Copy the banner" />}
    >
      <div className="pt-2">
        <HexView
          bytes={bytes}
          match={match === null ? [] : [match]}
          label="First bytes that the service sent"
        />
      </div>
    </Section>
  );
}

function Why({ port }: { port: ExplainedPort }) {
  const chosen = chosenOf(port);
  const others = port.claims.filter((claim) => claim !== chosen);
  if (!chosen)
    return (
      <Section title="Why it has no name">
        <p className="pt-2 text-text-2">
          {port.claims.length === 0
            ? 'No rule matched what it sent.'
            : `${plural(port.claims.length, 'rule')} matched, none sure enough.`}
        </p>
      </Section>
    );
  return (
    <Section
      title={
        <>
          Why it is called <TargetText text={nameOf(chosen)} />
        </>
      }
    >
      <div className="pt-2">
        <KeyValues
          form="column"
          rows={[
            { label: 'Rule', value: chosen.rule ? <Mono>{chosen.rule.id}</Mono> : 'the protocol itself' },
            {
              label: 'Pattern',
              value: chosen.rule?.pattern ? <TargetText text={chosen.rule.pattern} mono wrap /> : undefined,
            },
            { label: 'Read from', value: chosen.source ? <TargetText text={chosen.source} /> : undefined },
            {
              label: 'Evidence',
              value: chosen.evidence ? <TargetText text={chosen.evidence} mono wrap /> : undefined,
            },
            { label: 'Confidence', value: `${hundredths(chosen.confidence)}, ${chosen.reason}` },
            { label: 'CPE', value: chosen.cpe ? <TargetText text={chosen.cpe} mono wrap /> : undefined },
            {
              label: 'Not chosen',
              value:
                others.length === 0 ? undefined : (
                  <ul>
                    {others.map((claim) => (
                      <li key={`${nameOf(claim)} ${claim.rule?.id ?? ''}`}>
                        <TargetText text={nameOf(claim)} />{' '}
                        <span className="text-text-2">
                          {hundredths(claim.confidence)}, {claim.reason}
                        </span>
                      </li>
                    ))}
                  </ul>
                ),
            },
          ]}
        />
      </div>
    </Section>
  );
}
