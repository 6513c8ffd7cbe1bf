import { listPlugins } from '../../actions/plugins/list-plugins.ts';
import type { PlacedRow } from '../../actions/plugins/where-plugins-run.ts';
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
    const rows = plugins.map(({ name, kind, version, source, signature, loaded, error, ...row }) => [
      name,
      kind ?? '-',
      version,
      source,
      signature.state,
      signature.publisher ?? '-',
      loaded ? 'yes' : `no: ${error ?? ''}`,
      row.runs_in.join(' '),
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
      { head: 'RUNS IN', cell: runsText, over: 'wrap' },
    ],
    plugins,
    global,
    [
      ['LOADED', 16],
      ['RUNS IN', 20],
      ['PUBLISHER', 0],
      ['SOURCE', 0],
    ],
  );
}

const csvTitles = ['name', 'kind', 'version', 'source', 'signature', 'publisher', 'loaded', 'runs_in'];

function runsText({ loaded, disabled, runs_in: graphs }: PlacedRow): string {
  if (disabled) return 'none: switched off';
  if (!loaded) return 'none';
  return graphs.join(', ') || 'none: no graph names it';
}
