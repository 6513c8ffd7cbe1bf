import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Button } from '../../components/controls/button.tsx';
import { Checkbox } from '../../components/controls/checkbox.tsx';
import { TextInput } from '../../components/controls/text-input.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { count } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { groupsOf, matchingSettings, settingText } from './setting-groups.ts';

type Setting = Data<'/api/v1/config'>['settings'][number];

/** Every setting with its value and where that comes from. Secrets are masked by the server. */
export default function ConfigurationTab(): ReactNode {
  const got = useGet('/api/v1/config', {});
  return (
    <Boundary got={got} what="The configuration" doing="read the configuration" rows={12}>
      {({ settings }) => <Settings settings={settings} />}
    </Boundary>
  );
}

function Settings({ settings }: { settings: readonly Setting[] }): ReactNode {
  const [text, setText] = useSearchParam('q');
  const [changed, setChanged] = useSearchParam('changed');
  const shown = matchingSettings(settings, text, changed === 'true');
  return (
    <div className="flex max-w-[920px] flex-col gap-6">
      <div className="-mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <TextInput
            type="search"
            label="Filter settings"
            placeholder="Filter by name, value or description"
            data-filter
            value={text}
            onChange={(next) => setText(next, { replace: true })}
          />
        </div>
        <Checkbox
          label="Only what differs from the default"
          checked={changed === 'true'}
          onChange={(on) => setChanged(on ? 'true' : null)}
        />
      </div>
      <p role="status" className="text-size-12 text-text-2">
        {count(shown.length)} of {plural(settings.length, 'setting')}. Change them in the configuration file,
        then <Mono>portolan server reload</Mono> or a restart.
      </p>
      {shown.length === 0 ? (
        <Empty
          icon="filter"
          title="No setting matches this filter"
          text={`${plural(settings.length, 'setting')} are hidden by it.`}
          action={
            <Button
              onClick={() => {
                setText(null);
                setChanged(null);
              }}
            >
              Clear filter
            </Button>
          }
        />
      ) : null}
      {groupsOf(shown).map(([name, members]) => (
        <Section key={name} title={<Mono>{name}</Mono>} note={count(members.length)}>
          <dl>
            {members.map((setting) => (
              <Row key={setting.key} setting={setting} />
            ))}
          </dl>
        </Section>
      ))}
    </div>
  );
}

function Row({ setting }: { setting: Setting }): ReactNode {
  const { key, value, origin, secret, description } = setting;
  const isSet = value !== null && value !== undefined;
  return (
    <div className="grid gap-x-4 gap-y-0.5 border-line-subtle border-b py-2 tablet:grid-cols-2">
      <dt className="min-w-0">
        <Mono className="[overflow-wrap:anywhere]">{key}</Mono>
        <span className="block text-size-12 text-text-3">{description}</span>
      </dt>
      <dd className="flex min-w-0 flex-wrap items-start justify-between gap-2">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {isSet ? (
            <TargetText text={settingText(value)} mono wrap />
          ) : (
            <span className="text-text-3">not set</span>
          )}
          {secret && isSet ? <span className="text-size-12 text-text-3"> secret</span> : null}
        </span>
        <span className="max-w-full">
          {origin === 'default' ? (
            <span className="text-size-11 text-text-3">default</span>
          ) : (
            <Tag title={origin}>{origin}</Tag>
          )}
        </span>
      </dd>
    </div>
  );
}
