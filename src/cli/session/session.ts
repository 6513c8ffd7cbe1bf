import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { GraphLibrary } from '../../engine/graph/graph-library.ts';
import type { InstalledFolders } from '../../engine/graph/installed-files.ts';
import type { Registry } from '../../engine/registry.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { printableLines } from '../terminal/draw/printable.ts';
import { configFlags, type GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import type { CommandPlugins } from './command-plugins.ts';
import { chosenTenant } from './tenant-choice.ts';

/** Reads the configuration; its warnings go to stderr. @throws PortolanError `configuration` */
export async function readConfig(flags: GlobalFlags): Promise<LoadedConfig> {
  const loaded = await readConfigQuietly(flags);
  for (const warning of loaded.warnings) note(`warning: ${printableLines(warning)}`);
  return loaded;
}

/** The same with values of additional flags; the caller prints the warnings. */
export async function readConfigQuietly(
  flags: GlobalFlags,
  more: Record<string, unknown> = {},
  strict = false,
): Promise<LoadedConfig> {
  const [{ loadConfig }, { trustLocalServer }] = await Promise.all([
    import('../../config/load.ts'),
    import('./local-certificate.ts'),
  ]);
  const loaded = loadConfig({
    file: flags.config,
    env: process.env,
    flags: { ...configFlags(flags), ...more },
    strict,
  });
  trustLocalServer(loaded.config);
  return loaded;
}

export interface Session {
  config: Config;
  workspace: Workspace;
  store: Store;
}

/** Runs `work` with the workspace and its store open. @throws PortolanError */
export async function withStore<T>(flags: GlobalFlags, work: (session: Session) => Promise<T>): Promise<T> {
  const { config } = await readConfig(flags);
  const [{ openWorkspace }, { openStore }, { serverId }] = await Promise.all([
    import('../../workspace/workspace.ts'),
    import('../../store/open.ts'),
    import('../../workspace/server-id.ts'),
  ]);
  const workspace = await openWorkspace(config.workspace.dir);
  const { url } = config.queue;
  // In a store shared by servers, the scans of this workspace belong to its server.
  const store = await openStore(
    url ?? workspace.storeFile,
    url === null ? null : await serverId(workspace.dir),
  );
  try {
    return await work({ config, workspace, store });
  } finally {
    await store.close();
  }
}

/** The modules and graphs of one command, which releases them at its end. */
export type CommandCatalog = ModuleCatalog & Pick<CommandPlugins, 'release'>;

/** The installed modules and graphs with its license, which decides which modules can run. */
export async function loadModuleCatalog(
  wiring: CliWiring,
  config: Config,
  choice: CatalogChoice = {},
): Promise<CommandCatalog> {
  const catalogue = await installedCatalogue(wiring, config, choice);
  if (!config.license.enforce) return catalogue;
  const { readLicense } = await import('../../workspace/license/read-license.ts');
  return { ...catalogue, license: await readLicense(config) };
}

interface CatalogChoice {
  /** If set, only this builtin profile is needed: other graphs need not be loaded. */
  profile?: string | null;
  /** Files of `--plugin`. */
  plugins?: readonly string[];
}

async function installedCatalogue(
  wiring: CliWiring,
  config: Config,
  { profile = null, plugins: files = [] }: CatalogChoice = {},
): Promise<CommandCatalog> {
  const [{ GraphLibrary }, { areEmpty }, { loadCommandPlugins }, builtin] = await Promise.all([
    import('../../engine/graph/graph-library.ts'),
    import('../../engine/graph/installed-files.ts'),
    import('./command-plugins.ts'),
    wiring.loadRegistry(config),
  ]);
  const { profilesDir } = wiring;
  const one = profile && (await GraphLibrary.loadProfile(profilesDir, 'builtin', builtin, profile));
  const folders = await foldersOf(config);
  // Installed profiles may build on any graph, and their errors are reported at each scan.
  const isOneEnough = one && (await areEmpty(folders));
  const modules = isOneEnough ? 'files' : 'all';
  const { registry, plugins, release } = await loadCommandPlugins(builtin, config, { files, modules });
  if (isOneEnough) return { registry, library: one, plugins, release };
  try {
    return { registry, library: await loadLibrary(wiring, registry, folders), plugins, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Where this command finds graphs and profiles beside the builtin ones. */
export async function foldersOf(config: Config): Promise<InstalledFolders[]> {
  const { installedFolders, tenantFolders } = await import('../../engine/graph/installed-files.ts');
  const dir = config.workspace.enabled ? config.workspace.dir : null;
  const folders = [installedFolders(dir, process.env)];
  const tenant = chosenTenant(config);
  if (tenant !== null && dir !== null) folders.push(tenantFolders(dir, tenant));
  return folders;
}

/** The builtin graphs and profiles, and those of folders. */
export async function loadLibrary(
  { profilesDir }: CliWiring,
  registry: Registry,
  folders: readonly InstalledFolders[],
): Promise<GraphLibrary> {
  const { GraphLibrary } = await import('../../engine/graph/graph-library.ts');
  let library = await GraphLibrary.load(profilesDir, 'builtin', registry);
  for (const folder of folders) library = await library.withInstalled(folder, registry);
  return library;
}

/** The same for commands that only show them. Skipped files are reported on stderr. @throws PortolanError */
export async function loadInstalled(wiring: CliWiring, flags: GlobalFlags): Promise<ModuleCatalog> {
  const { config } = await readConfigQuietly(flags);
  const catalogue = await installedCatalogue(wiring, config);
  await catalogue.release();
  noteProblems(catalogue);
  return catalogue;
}

export function noteProblems({ library }: ModuleCatalog): void {
  for (const { message } of library.problems) note(`warning: skipped: ${printableLines(message)}`);
}
