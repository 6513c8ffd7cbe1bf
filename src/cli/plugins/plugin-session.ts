import type { PluginChange, PluginContext } from '../../actions/plugins/install-plugin.ts';
import type { ListContext } from '../../actions/plugins/list-plugins.ts';
import type { Config } from '../../config/schema.ts';
import { readLicense } from '../../workspace/license/read-license.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { recordChange } from '../access/audit-change.ts';
import { serverInCharge } from '../session/server-choice.ts';
import { foldersOf, loadLibrary, readConfig } from '../session/session.ts';
import { printable } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';

type FullContext = PluginContext & Pick<ListContext, 'catalog'> & { config: Config };

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
  if (global.quiet) return;
  for (const change of done) {
    const { name, current, signature } = change;
    note(printable(`plugin ${name} ${current.version} installed, signature ${signature.state}`));
    note(printable(await whereText(change, config)));
  }
  if ((await serverInCharge(config)) !== null)
    note('the running server has it after: portolan server reload');
}

/** Where a plugin runs, as far as its package says: nothing of it is run to know its module. */
async function whereText({ name, manifest: { kind, stage } }: PluginChange, config: Config): Promise<string> {
  if (config.plugins.disabled.includes(name)) return 'it runs in no scan: plugins.disabled names it';
  if (kind === 'rules') return 'its rules run in every graph that evaluates rules (scan --vuln)';
  const module = name.replaceAll('-', '_');
  const { graphsNaming } = await import('../../actions/plugins/where-plugins-run.ts');
  const graphs = await graphsNaming([module], config);
  const named = graphs.length === 0 ? '' : `in ${graphs.join(', ')}`;
  if (stage !== undefined) {
    const also = named === '' ? '' : `, and ${named}`;
    return `it runs in every builtin profile that has what it requires${also} (stage ${stage}); see: portolan plugin list`;
  }
  if (named !== '') return `it runs ${named}, which name its module`;
  const how =
    kind === 'grpc' ? 'stage in its plugin.yaml' : '--stage evaluation, or stage in its plugin.yaml,';
  return `it runs in no graph yet: name its module ${module} in one (portolan dag export standard -o mine.yaml; portolan dag install mine.yaml); ${how} puts it into the builtin profiles`;
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
  const catalog: ListContext['catalog'] = async (plugins) => {
    const [{ withLoadedModules }, builtin] = await Promise.all([
      import('../../scan-run/plan/plan-plugins.ts'),
      wiring.loadRegistry(config),
    ]);
    const registry = await withLoadedModules(builtin, plugins, config.plugins);
    return { registry, library: await loadLibrary(wiring, registry, await foldersOf(config)) };
  };
  return { config, license: await readLicense(config), builtin, catalog };
}
