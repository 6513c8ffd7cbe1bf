import type { Data } from '../../../api/api-types.ts';
import { KeyValues } from '../../../components/layout/key-values.tsx';
import { Section } from '../../../components/layout/section.tsx';
import { TargetText } from '../../../components/text/target-text.tsx';
import { hundredths } from '../../../format/numbers.ts';
import { plural } from '../../../format/words.ts';
import { useSetSearch } from '../../../url/use-search-param.ts';
import { type ExplainedFinding, FindingItem } from './finding-detail.tsx';

type Explanation = Data<'/api/v1/scans/{scan_id}/explain'>;

/** A host: its system, its services, what is wrong with the host itself. */
export function HostDetail({ explanation }: { explanation: Explanation; scanId: string }) {
  const { host, os, ports, findings, left_out: leftOut } = explanation;
  const setSearch = useSetSearch();
  return (
    <div className="flex flex-col gap-6">
      <KeyValues
        form="column"
        rows={[
          { label: 'Address', value: <TargetText text={host} mono /> },
          {
            label: 'System',
            value: os ? (
              <>
                <TargetText
                  text={[os.distribution ?? os.family, os.version].filter((part) => part).join(' ')}
                />{' '}
                <span className="text-text-2">confidence {hundredths(os.confidence)}</span>
              </>
            ) : (
              'not recognized'
            ),
          },
        ]}
      />
      <Section title="Services" note={plural(ports.length, 'port')}>
        <ul>
          {ports.map(({ port, protocol, claims, findings: own }) => (
            <li key={`${port}/${protocol}`} className="border-line-subtle border-b">
              <button
                type="button"
                className="flex min-h-9 w-full items-center gap-3 text-left hover:bg-surface-2"
                onClick={() => setSearch({ open: `port ${host} ${port}/${protocol}` })}
              >
                <span className="mono w-20">{`${port}/${protocol}`}</span>
                <TargetText text={nameOf(claims)} />
                {own.length > 0 && (
                  <span className="ml-auto text-text-2">{plural(own.length, 'finding')}</span>
                )}
              </button>
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

function nameOf(claims: Explanation['ports'][number]['claims']): string {
  const chosen = claims.find(({ outcome }) => outcome === 'chosen');
  return chosen
    ? [chosen.product ?? chosen.match, chosen.version].filter((part) => part).join(' ')
    : 'not recognized';
}
