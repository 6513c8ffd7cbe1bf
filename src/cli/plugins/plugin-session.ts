import type { PluginChange, PluginContext } from '../../actions/plugins/install-plugin.ts';
import type { Config } from '../../config/schema.ts';
import { readLicense } from '../../workspace/license/read-license.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';

type FullContext = PluginContext & { config: Config };

/** Changes the installed plugins, records the change in the audit log and prints the outcome. */
export async function changePlugins(
  { operation, id }: { operation: 'plugin.install' | 'plugin.update' | 'plugin.rollback'; id: string | null },
  wiring: CliWiring,
  global: GlobalFlags,
  work: (context: PluginContext) => Promise<PluginChange[]>,
): Promise<void> {
  const { config } = await readConfig(global);
  const context = await pluginContext(config, wiring);
  const workspace = await openWorkspace(config.workspace.dir);
  const done = await recordChange(
    { config, workspace },
    { operation, id },
    () => work(context),
    (changes) => ({ id: changes.map(({ name }) => name).join(','), details: detailsOf(changes) }),
  );
  for (const { name, current, signature } of done) {
    if (!global.quiet)
      note(printable(`plugin ${name} ${current.version} installed, signature ${signature.state}`));
  }
}

/** Of one plugin its facts; of several a list of them. */
function detailsOf(changes: readonly PluginChange[]): Record<string, unknown> {
  const plugins = changes.map(({ name, current: { version, sha256, source }, signature }) => {
    const { state, fingerprint } = signature;
    return { name, version, sha256, source, signature: state, fingerprint };
  });
  return plugins.length === 1 ? { ...plugins[0] } : { plugins };
}

/** What decides whether a plugin may be installed and loaded. */
export async function pluginContext(config: Config, wiring: CliWiring): Promise<FullContext> {
  const builtin = (await wiring.loadRegistry(config)).names();
  return { config, license: await readLicense(config), builtin };
}
