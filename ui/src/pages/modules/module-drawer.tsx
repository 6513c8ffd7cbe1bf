import type { ReactNode } from 'react';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { absent } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { Link } from '../../url/link.tsx';
import { type FlowKey, sourcesOf, usersOf } from './module-flow.ts';
import { type ModuleOption, optionsOf } from './module-options.ts';
import type { ModuleRow } from './module-row.ts';

interface Props {
  module: ModuleRow;
  all: readonly ModuleRow[];
  position: string | undefined;
  onClose(): void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

/** A module: what it does, its options, and where it fits into a graph. */
export function ModuleDrawer({ module, all, ...drawer }: Props): ReactNode {
  const { name, type, description, version, source, config_schema } = module;
  const options = optionsOf(config_schema);
  return (
    <Drawer title={<Mono>{name}</Mono>} eyebrow="Module" marks={<Tag>{type}</Tag>} {...drawer}>
      <p className="pb-4">{description}</p>
      <KeyValues
        form="column"
        rows={[
          { label: 'Version', value: <Mono>{version}</Mono> },
          { label: 'Origin', value: source },
        ]}
      />
      <Section title="Requires" note="from a stage before it" level={3} className="pt-4">
        <Keys
          keys={sourcesOf(module, all)}
          none="Nothing: it can be the first stage."
          other="Comes with the scan itself."
        />
      </Section>
      <Section title="Provides" note="to stages after it" level={3} className="pt-4">
        <Keys
          keys={usersOf(module, all)}
          none="Nothing that another stage could use."
          other="No module requires it."
        />
      </Section>
      <Section title="Options" note={plural(options.length, 'option')} level={3} className="pt-4">
        {options.length === 0 ? (
          <p className="py-2 text-text-2">This module has no options.</p>
        ) : (
          <Options options={options} />
        )}
      </Section>
    </Drawer>
  );
}

function Keys({ keys, none, other }: { keys: readonly FlowKey[]; none: string; other: string }): ReactNode {
  if (keys.length === 0) return <p className="py-2 text-text-2">{none}</p>;
  return (
    <ul className="m-0 list-none p-0">
      {keys.map(({ key, modules }) => (
        <li key={key} className="border-b border-line-subtle py-1.5">
          <Mono>{key.replaceAll('|', ' or ')}</Mono>
          <div className="flex flex-wrap gap-x-3 text-size-12">
            {modules.length === 0 && <span className="text-text-3">{other}</span>}
            {modules.map((each) => (
              <Link
                key={each}
                to={`/modules?module=${encodeURIComponent(each)}`}
                className="mono inline-flex min-h-6 items-center"
              >
                {each}
              </Link>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Options({ options }: { options: readonly ModuleOption[] }): ReactNode {
  return (
    <table className="w-full border-collapse text-left text-size-12">
      <thead>
        <tr className="text-size-11 text-text-2">
          <th scope="col" className="py-1.5 pr-3 font-normal">
            Name
          </th>
          <th scope="col" className="py-1.5 pr-3 font-normal">
            Value
          </th>
          <th scope="col" className="py-1.5 font-normal">
            Default
          </th>
        </tr>
      </thead>
      <tbody>
        {options.map(({ name, type, allowed, defaultText, isRequired, description }) => (
          <tr key={name} className="border-t border-line-subtle align-top">
            <th scope="row" className="py-1.5 pr-3 font-normal [overflow-wrap:anywhere]">
              <Mono>{name}</Mono>
              {isRequired && <span className="pl-1.5 text-text-2">required</span>}
            </th>
            <td className="py-1.5 pr-3">
              <div>
                {type}
                {allowed !== null && <span className="text-text-2">, {allowed}</span>}
              </div>
              <div className="text-text-2">{description}</div>
            </td>
            <td className="py-1.5 [overflow-wrap:anywhere]">
              {defaultText === null ? absent : <Mono>{defaultText}</Mono>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
