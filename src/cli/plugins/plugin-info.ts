import { showPlugin } from '../../actions/plugins/list-plugins.ts';
import { readConfig } from '../session/session.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { print } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { pluginContext } from './plugin-session.ts';

export async function showPluginInfo(
  name: string,
  { format }: { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { config } = await readConfig(global);
  const details = await showPlugin(name, await pluginContext(config, wiring));
  if (format === 'json') {
    print(printableJson(details));
    return;
  }
  const { manifest, signature, runs_in: graphs, permissions: _permissions, ...facts } = details;
  const shown = Object.entries({
    ...facts,
    runs_in: graphs.join(', ') || 'no graph',
    signature: signature.state,
    publisher: signature.publisher,
    fingerprint: signature.fingerprint,
    entry: manifest?.entry,
    abi: manifest?.abi,
    permissions: manifest?.permissions.join(', '),
    requires: manifest?.requires.join(', '),
    files: manifest && Object.keys(manifest.files).join(', '),
  });
  print(shown.map(([key, value]) => `${key.padEnd(12)}  ${printable(textOf(value))}\n`).join(''));
}

function textOf(value: string | number | boolean | null | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null || value === undefined || value === '' ? '-' : String(value);
}
