import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Icon } from '../../components/icons/icon.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { Section } from '../../components/layout/section.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { licenseFeatures } from '../../components/states/license-features.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TimeText } from '../../components/text/time-text.tsx';
import { capitalized } from '../../format/words.ts';

type License = Data<'/api/v1/license'>;

/** What may be used now, and until when. */
export default function LicenseTab(): ReactNode {
  const got = useGet('/api/v1/license', {});
  return (
    <div className="flex max-w-(--reading) flex-col gap-8">
      <Boundary got={got} what="The license" rows={6}>
        {(license) => (
          <>
            <License license={license} />
            <Section title="Features">
              <ul>
                {Object.entries(licenseFeatures).map(([name, words]) => (
                  <Feature
                    key={name}
                    name={name}
                    words={words}
                    enabled={license.features.some((each) => each === name)}
                  />
                ))}
              </ul>
            </Section>
          </>
        )}
      </Boundary>
    </div>
  );
}

function License({
  license: { enforced, plan, valid, expires_at, grace_until },
}: {
  license: License;
}): ReactNode {
  if (!enforced) {
    return (
      <Note title="This installation enforces no licenses.">
        Every feature works. An operator can turn licenses on with <Mono>license.enforce</Mono>.
      </Note>
    );
  }
  return (
    <Section title="License">
      <KeyValues
        rows={[
          {
            label: 'State',
            value: valid ? (
              <StateMark state="completed" word="Valid" />
            ) : (
              <StateMark state="failed" word="None that is valid" />
            ),
          },
          { label: 'Plan', value: capitalized(plan) },
          {
            label: 'Expires',
            value: expires_at === null ? undefined : <TimeText at={expires_at} relative />,
          },
          {
            label: 'Features stop',
            value: grace_until === null ? undefined : <TimeText at={grace_until} relative />,
          },
        ]}
      />
      <p className="pt-3 text-size-12 text-text-3">
        To install one: <Mono>portolan license install FILE</Mono> on the server, then a restart. A scan never
        stops for lack of a license.
      </p>
    </Section>
  );
}

function Feature({ name, words, enabled }: { name: string; words: string; enabled: boolean }): ReactNode {
  return (
    <li className="flex items-center gap-2 border-line-subtle border-b py-[7px]">
      <Icon
        name={enabled ? 'check' : 'lock'}
        size={14}
        className={enabled ? 'text-state-completed' : 'text-text-3'}
      />
      <span className="flex-1">{words}</span>
      <span className="text-size-12 text-text-3">{enabled ? 'enabled' : 'needs a license'}</span>
      <Mono className="hidden w-44 text-right text-text-3 tablet:inline">{name}</Mono>
    </li>
  );
}
