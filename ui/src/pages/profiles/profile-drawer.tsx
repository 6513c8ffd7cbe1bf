import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Drawer } from '../../components/controls/drawer.tsx';
import { LinkButton } from '../../components/controls/link-button.tsx';
import { GraphPicture } from '../../components/graph/graph-picture.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { PortList } from '../../components/text/port-list.tsx';
import { count } from '../../format/numbers.ts';
import { Link } from '../../url/link.tsx';
import { drawingOf } from '../graphs/graph-drawing.ts';
import { sourceWord } from '../graphs/source-word.ts';

type Profile = Data<'/api/v1/profiles/{name}'>;

interface Props {
  name: string;
  position: string;
  onClose(): void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

/** A profile: what it does, the graph that it runs, who uses it. */
export function ProfileDrawer({ name, ...drawer }: Props): ReactNode {
  const got = useGet('/api/v1/profiles/{name}', { path: { name } });
  return (
    <Drawer
      title={name}
      eyebrow="Profile"
      marks={got.data && <Tag>{sourceWord(got.data.source)}</Tag>}
      footer={
        <>
          <LinkButton icon="plus" to={`/scans/new?profile=${name}`}>
            New scan with it
          </LinkButton>
          <LinkButton variant="ghost" to={`/profiles/${name}`}>
            {got.data?.editable === true ? 'Edit as YAML' : 'Show as YAML'}
          </LinkButton>
        </>
      }
      {...drawer}
    >
      <Boundary got={got} what={`The profile ${name}`} rows={6}>
        {(profile) => <Details profile={profile} />}
      </Boundary>
    </Drawer>
  );
}

function Details({ profile }: { profile: Profile }): ReactNode {
  const { description, aliases, dag, ports, vuln, options, used_by } = profile;
  const graph = useGet('/api/v1/dags/{name}', { path: { name: dag } });
  const drawn = graph.data && drawingOf(graph.data, graph.data.text, []);
  return (
    <>
      <p className="pb-4">{description}</p>
      <KeyValues
        form="column"
        rows={[
          { label: 'Also called', value: aliases.length === 0 ? undefined : aliases.join(', ') },
          { label: 'Graph', value: <Link to={`/graphs/${dag}`}>{dag}</Link> },
          { label: 'Ports', value: ports === null ? 'as the graph says' : <PortList text={ports} /> },
          {
            label: 'Vulnerabilities',
            value: vuln ? 'evaluated' : 'only where the scan asks for it',
          },
        ]}
      />
      {Object.keys(options).length > 0 && (
        <Section title="Options" level={3} className="pt-4">
          <KeyValues
            form="column"
            rows={Object.entries(options).map(([label, value]) => ({
              label,
              value: <Mono>{valueText(value)}</Mono>,
            }))}
          />
        </Section>
      )}
      <Section
        title="Used by"
        note={used_by.jobs.length === 0 ? undefined : count(used_by.jobs.length)}
        level={3}
        className="pt-4"
      >
        {used_by.jobs.length === 0 ? (
          <p className="py-2 text-text-2">No job that is still to run uses this profile.</p>
        ) : (
          <ul className="m-0 list-none p-0">
            {used_by.jobs.map(({ job_id, name, schedule }) => (
              <li key={job_id} className="border-b border-line-subtle py-1.5">
                <Link to={`/jobs?job=${encodeURIComponent(job_id)}`}>{name ?? job_id}</Link>
                {schedule !== null && <span className="mono pl-3 text-text-2">{schedule}</span>}
              </li>
            ))}
          </ul>
        )}
      </Section>
      {drawn !== undefined && (
        <Section
          title="Stages"
          note={count(drawn.nodes.length)}
          link={{ label: 'Open the graph', to: `/graphs/${dag}` }}
          level={3}
          className="pt-4"
        >
          <div className="pt-3">
            <GraphPicture
              label={`Stages of ${dag}`}
              direction="right"
              {...drawn}
              edges={drawn.edges.map(withoutLabel)}
            />
          </div>
        </Section>
      )}
    </>
  );
}

/** Between ranks of a picture to the right is no room for words. */
function withoutLabel<E extends { label?: string }>(edge: E): E {
  return { ...edge, label: undefined };
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
