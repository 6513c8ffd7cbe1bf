import type { ReactNode } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useGet } from '../../api/use-get.ts';
import { Drawer } from '../../components/controls/drawer.tsx';
import { KeyValues } from '../../components/layout/key-values.tsx';
import { Note } from '../../components/layout/note.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { StateMark } from '../../components/marks/state-mark.tsx';
import { Tag } from '../../components/marks/tag.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { CopyButton } from '../../components/text/copy-button.tsx';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { absent } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { signatureWords } from './signature-words.ts';

type PluginRow = Data<'/api/v1/plugins'>['plugins'][number];

/** Plugins of this server: which are loaded, who signed them, and why one is not. */
export default function PluginsPage(): ReactNode {
  const got = useGet('/api/v1/plugins', {});
  return (
    <>
      <PageHeader title="Plugins" meta={got.data && summary(got.data.plugins)} />
      <Boundary got={got} what="The plugins" doing="see plugins" rows={4} rowHeight={36}>
        {({ plugins }) => <Plugins plugins={plugins} />}
      </Boundary>
    </>
  );
}

function summary(plugins: readonly PluginRow[]): string {
  const loaded = plugins.filter((plugin) => plugin.loaded).length;
  const failed = plugins.filter(({ error }) => error !== null).length;
  const all = `${plural(plugins.length, 'plugin')}, ${loaded} loaded`;
  return failed === 0 ? `${all}.` : `${all}, ${failed} with an error.`;
}

function Plugins({ plugins }: { plugins: readonly PluginRow[] }): ReactNode {
  const [open, setOpen] = useSearchParam('plugin');
  const index = plugins.findIndex((plugin) => keyOf(plugin) === open);
  const plugin = plugins[index];
  const show = (at: number) => {
    const next = plugins[at];
    setOpen(next === undefined ? null : keyOf(next), { replace: true });
  };
  return (
    <>
      <DataTable
        label="Plugins"
        columns={columns}
        rows={plugins}
        rowKey={keyOf}
        dense={false}
        onOpen={(row) => setOpen(keyOf(row))}
        openKey={open}
        phoneRow={phoneRow}
        empty={
          <Empty
            icon="plugin"
            title="No plugins"
            text={
              <>
                A plugin adds modules to graphs. Install one on the machine of the server:{' '}
                <Mono>portolan plugin install FILE</Mono>
              </>
            }
          />
        }
      />
      {plugin !== undefined && (
        <PluginDrawer
          plugin={plugin}
          position={`${index + 1} of ${plugins.length}`}
          onClose={() => setOpen(null)}
          onNext={index < plugins.length - 1 ? () => show(index + 1) : undefined}
          onPrevious={index > 0 ? () => show(index - 1) : undefined}
        />
      )}
    </>
  );
}

/** Two versions of one plugin may be there. */
function keyOf({ name, version, path }: PluginRow): string {
  return [name, version, path].filter((part) => part !== null).join(' ');
}

function PluginState({ plugin: { loaded, error } }: { plugin: PluginRow }): ReactNode {
  if (error !== null) return <StateMark state="failed" word="Not loaded" />;
  return loaded ? (
    <StateMark state="completed" word="Loaded" />
  ) : (
    <StateMark state="skipped" word="Not loaded" />
  );
}

const columns: readonly Column<PluginRow>[] = [
  { id: 'state', head: 'State', width: 110, priority: 0, cell: (plugin) => <PluginState plugin={plugin} /> },
  {
    id: 'name',
    head: 'Name',
    width: 170,
    grow: 1,
    priority: 0,
    cell: ({ name }) => (
      <span className="font-medium">
        <TargetText text={name} />
      </span>
    ),
  },
  {
    id: 'version',
    head: 'Version',
    width: 80,
    priority: 2,
    cell: ({ version }) => (version === null ? absent : <Mono>{version}</Mono>),
  },
  { id: 'kind', head: 'Kind', width: 80, priority: 3, cell: ({ kind }) => kind ?? absent },
  {
    id: 'signature',
    head: 'Signed by',
    width: 150,
    grow: 1,
    priority: 1,
    cell: ({ signature }) => signatureWords(signature),
  },
  {
    id: 'error',
    head: 'Error',
    width: 160,
    grow: 2,
    priority: 4,
    cell: ({ error }) => (error === null ? absent : <TargetText text={error} />),
  },
];

function phoneRow(plugin: PluginRow): ReactNode {
  return (
    <>
      <div className="flex justify-between gap-3">
        <span className="min-w-0 truncate font-medium text-text-1">
          <TargetText text={plugin.name} />
        </span>
        <PluginState plugin={plugin} />
      </div>
      <div className="truncate text-size-12">
        {plugin.error === null ? signatureWords(plugin.signature) : <TargetText text={plugin.error} />}
      </div>
    </>
  );
}

interface DrawerProps {
  plugin: PluginRow;
  position: string;
  onClose(): void;
  onNext: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
}

function PluginDrawer({ plugin, ...drawer }: DrawerProps): ReactNode {
  const { name, kind, version, path, sha256, signature, error } = plugin;
  return (
    <Drawer
      title={<TargetText text={name} />}
      eyebrow="Plugin"
      marks={
        <>
          {kind !== null && <Tag>{kind}</Tag>}
          <PluginState plugin={plugin} />
        </>
      }
      {...drawer}
    >
      {error !== null && (
        <div className="pb-4">
          <Note tone="problem" title="This plugin is not loaded">
            <TargetText text={error} wrap />
          </Note>
        </div>
      )}
      <KeyValues
        form="column"
        rows={[
          { label: 'Version', value: version === null ? absent : <Mono>{version}</Mono> },
          { label: 'Signature', value: signatureWords(signature) },
          { label: 'Fingerprint', value: copyable(signature.fingerprint, 'Copy fingerprint') },
          { label: 'File', value: copyable(path, 'Copy path') },
          { label: 'SHA-256', value: copyable(sha256, 'Copy SHA-256') },
        ]}
      />
    </Drawer>
  );
}

function copyable(text: string | null, label: string): ReactNode {
  if (text === null) return absent;
  return (
    <span className="[overflow-wrap:anywhere]">
      <TargetText text={text} mono wrap /> <CopyButton text={text} label={label} />
    </span>
  );
}
