import { newPlugin } from '../../actions/plugins/new-plugin.ts';
import { readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';

/** Prints the folder. */
export async function createPlugin(
  kind: string,
  name: string,
  _flags: object,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { config } = await readConfig(global);
  const builtin = (await wiring.loadRegistry(config)).names();
  const folder = await newPlugin(kind, name, { parent: '.', builtin });
  if (!global.quiet) note(printable(`${folder}/README.md has the next commands`));
  print(`${printable(folder)}\n`);
}
