import type { ReactNode } from 'react';
import { useGet } from '../../api/use-get.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Boundary } from '../../components/states/boundary.tsx';
import { Empty } from '../../components/states/empty.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import type { Column } from '../../components/table/table-props.ts';
import { Mono } from '../../components/text/mono.tsx';
import { TargetText } from '../../components/text/target-text.tsx';
import { absent } from '../../format/numbers.ts';
import { plural } from '../../format/words.ts';
import { useSearchParam } from '../../url/use-search-param.ts';
import { PluginDrawer } from './plugin-drawer.tsx';
import { PluginState } from './plugin-state.tsx';
import { kindWord, type PluginRow, reasonOf, runsText, signatureWords } from './plugin-words.ts';
import { UploadPlugin } from './upload-plugin.tsx';

/** Plugins of this server: which are loaded, who signed them, and why one is not. */
export default function PluginsPage(): ReactNode {
  const got = useGet('/api/v1/plugins', {});
  return (
    <>
      <PageHeader title="Plugins" meta={got.data && summary(got.data.plugins)} actions={<UploadPlugin />} />
      <Boundary got={got} what="The plugins" doing="see plugins" rows={4} rowHeight={36}>
        {({ plugins }) => <Plugins plugins={plugins} />}
      </Boundary>
    </>
  );
}

function summary(plugins: readonly PluginRow[]): string | undefined {
  if (plugins.length === 0) return undefined;
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
  if (plugins.length === 0) return <NoPlugins />;
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
        empty={null}
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

function NoPlugins(): ReactNode {
  return (
    <Empty
      icon="plugin"
      title="No plugins"
      text={
        <>
          A plugin adds checks that Portolan does not have. Upload one, or install it on the machine of the
          server, then reload it:
          <code className="mono block pt-1">portolan plugin install FILE</code>
          <code className="mono block">portolan server reload</code>
        </>
      }
    />
  );
}

/** Two versions of one plugin may be there. */
function keyOf({ name, version, path }: PluginRow): string {
  return [name, version, path].filter((part) => part !== null).join(' ');
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
  { id: 'kind', head: 'Kind', width: 104, priority: 3, cell: ({ kind }) => kindWord(kind) },
  {
    id: 'signature',
    head: 'Signature',
    width: 150,
    grow: 1,
    priority: 1,
    cell: ({ signature }) => signatureWords(signature),
  },
  { id: 'runs', head: 'Runs in', width: 200, grow: 2, priority: 1, cell: (plugin) => runsText(plugin) },
  {
    id: 'error',
    head: 'Error',
    width: 160,
    grow: 2,
    priority: 4,
    cell: (plugin) => (plugin.error === null ? absent : <TargetText text={reasonOf(plugin)} />),
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
        {plugin.error === null ? `Runs in ${runsText(plugin)}` : <TargetText text={reasonOf(plugin)} />}
      </div>
    </>
  );
}
