import type { Catalogue } from '../actions/plan-scan.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Store } from '../store/open.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { configFlags, type GlobalFlags } from './globals.ts';
import { note } from './output.ts';
import { printableLines } from './printable.ts';
import type { CliWiring } from './wiring.ts';

/** Reads the configuration; its warnings go to stderr. @throws PortolanError `configuration` */
export async function readConfig(flags: GlobalFlags): Promise<LoadedConfig> {
  const loaded = await readConfigQuietly(flags);
  for (const warning of loaded.warnings) note(`warning: ${printableLines(warning)}`);
  return loaded;
}

/** The same with values of further flags; the caller reports the warnings. */
export async function readConfigQuietly(
  flags: GlobalFlags,
  more: Record<string, unknown> = {},
  strict = false,
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({
    file: flags.config,
    env: process.env,
    flags: { ...configFlags(flags), ...more },
    strict,
  });
}

export interface Session {
  config: Config;
  workspace: Workspace;
  store: Store;
}

/** Runs `work` with the workspace and its store open. @throws PortolanError */
export async function withStore<T>(flags: GlobalFlags, work: (session: Session) => Promise<T>): Promise<T> {
  const { config } = await readConfig(flags);
  const [{ openWorkspace }, { openStore }] = await Promise.all([
    import('../workspace/workspace.ts'),
    import('../store/open.ts'),
  ]);
  const workspace = await openWorkspace(config.workspace.dir);
  const store = await openStore(workspace.storeFile);
  try {
    return await work({ config, workspace, store });
  } finally {
    await store.close();
  }
}

/** The installed modules and graphs. */
export async function loadCatalogue(wiring: CliWiring): Promise<Catalogue> {
  const { GraphLibrary } = await import('../engine/graph-library.ts');
  const registry = await wiring.loadRegistry();
  return { registry, library: await GraphLibrary.load(wiring.profilesDir, 'builtin', registry) };
}
