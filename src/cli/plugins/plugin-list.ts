import { listPlugins } from '../../actions/plugins/list-plugins.ts';
import { readConfig } from '../session/session.ts';
import { renderRows } from '../terminal/draw/columns.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { pluginContext } from './plugin-session.ts';

export async function listInstalledPlugins(
  { format }: { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { config } = await readConfig(global);
  const plugins = await listPlugins(await pluginContext(config, wiring));
  if (format === 'json') {
    print(printableJson({ plugins, total: plugins.length }));
    return;
  }
  if (format === 'csv') {
    const rows = plugins.map(({ name, kind, version, source, signature, loaded, error }) => [
      name,
      kind ?? '-',
      version,
      source,
      signature.state,
      signature.publisher ?? '-',
      loaded ? 'yes' : `no: ${error ?? ''}`,
    ]);
    print(renderRows(csvTitles, rows));
    return;
  }
  printTable(
    [
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'KIND', cell: ({ kind }) => kind ?? null },
      { head: 'VERSION', cell: ({ version }) => version },
      { head: 'SOURCE', cell: ({ source }) => source },
      { head: 'SIGNATURE', cell: ({ signature }) => signature.state },
      { head: 'PUBLISHER', cell: ({ signature }) => signature.publisher ?? null },
      {
        head: 'LOADED',
        cell: ({ loaded, error }) => (loaded ? 'yes' : `no: ${error ?? ''}`),
        over: 'wrap',
        paint: ({ loaded }) => (loaded ? null : 'yellow'),
      },
    ],
    plugins,
    global,
    [
      ['LOADED', 16],
      ['PUBLISHER', 0],
      ['SOURCE', 0],
    ],
  );
}

const csvTitles = ['name', 'kind', 'version', 'source', 'signature', 'publisher', 'loaded'];
