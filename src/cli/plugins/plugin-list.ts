import { listPlugins } from '../../actions/plugins/list-plugins.ts';
import { readConfig } from '../session/session.ts';
import { renderColumns, renderRows } from '../terminal/columns.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import { printableJson } from '../terminal/printable.ts';
import type { CliWiring } from '../wiring.ts';
import { pluginContext } from './plugin-session.ts';

export async function listInstalledPlugins(
  format: string,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const { config } = await readConfig(global);
  const plugins = await listPlugins(await pluginContext(config, wiring));
  if (format === 'json') {
    print(printableJson({ plugins, total: plugins.length }));
    return 0;
  }
  const rows = plugins.map(({ name, kind, version, source, signature, loaded, error }) => [
    name,
    kind ?? '-',
    version,
    source,
    signature.state,
    signature.publisher ?? '-',
    loaded ? 'yes' : `no: ${error ?? ''}`,
  ]);
  const titles = ['NAME', 'KIND', 'VERSION', 'SOURCE', 'SIGNATURE', 'PUBLISHER', 'LOADED'];
  const csv = () =>
    renderRows(
      titles.map((title) => title.toLowerCase()),
      rows,
    );
  print(format === 'csv' ? csv() : renderColumns(titles, rows));
  return 0;
}
