import type { Config } from '../config/schema.ts';
import type { GraphLibrary, LibraryProblem } from '../engine/graph/graph-library.ts';
import { installedFolders, tenantFolders } from '../engine/graph/installed-files.ts';
import { optionsJsonSchema } from '../engine/options.ts';
import type { Registry } from '../engine/registry.ts';
import type { Listener } from '../net/local-listeners.ts';
import type { LoadedPlugin } from '../plugins/plugin.ts';
import type { ScanChoices } from '../scan-run/plan/decide-request.ts';
import type { ModuleCatalog } from '../scan-run/plan/plan-scan.ts';
import type { License } from '../workspace/license/read-license.ts';

export interface ModuleInfo {
  name: string;
  type: string;
  description: string;
  version: string;
  source: string;
  requires: string[];
  provides: string[];
  config_schema: Record<string, unknown>;
}

/** Graphs and profiles in force: those of the service, and the additional ones of tenants. */
export interface Libraries {
  builtin: GraphLibrary;
  /** Of the process that reads the folders: it decides where those of its user are. */
  env: NodeJS.ProcessEnv;
  service: GraphLibrary;
  tenants: ReadonlyMap<string, GraphLibrary>;
}

/** Modules, graphs and plugins that belong together. */
export interface InForce {
  /** With the modules of the plugins. */
  registry: Registry;
  libraries: Libraries;
  plugins: readonly LoadedPlugin[];
}

/**
 * What scans are planned with. A tenant has the graphs and profiles of the service and its own, which no other tenant
 * sees; all share the modules.
 */
export class Installed {
  readonly #license: License;
  registry: Registry;
  libraries: Libraries;
  plugins: readonly LoadedPlugin[];
  #described: { registry: Registry; maxRate: number; modules: ModuleInfo[] } | null = null;
  /** Changes of files run one after another. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor({ registry, libraries, plugins }: InForce, license: License) {
    this.registry = registry;
    this.libraries = libraries;
    this.plugins = plugins;
    this.#license = license;
  }

  /** For scans that are accepted from now on. */
  replace({ registry, libraries, plugins }: InForce): void {
    this.registry = registry;
    this.libraries = libraries;
    this.plugins = plugins;
  }

  /**
   * Changes files of graphs or profiles, then puts the files of all folders in force.
   * @throws what `work` throws
   */
  change<T>(config: Config, work: () => Promise<T>): Promise<T> {
    const run = this.#changing.then(async () => {
      const result = await work();
      await this.#readFolders(config);
      return result;
    });
    this.#changing = run.catch(() => undefined);
    return run;
  }

  /** Puts the files of the folders in force: those that were changed while others were read. */
  readFolders(config: Config): Promise<void> {
    return this.change(config, async () => undefined);
  }

  async #readFolders(config: Config): Promise<void> {
    const { registry, libraries } = this;
    const read = await readLibraries(libraries.builtin, registry, config, libraries, libraries.env);
    const { default_profile: usual } = config.scanner;
    // Nobody could submit a scan without naming a profile: what was read before stays, as a reload would decide.
    if (libraries.service.profile(usual) && !read.service.profile(usual)) return;
    // A reload has read them meanwhile, with its modules.
    if (this.registry === registry) this.libraries = read;
  }

  /** With the current limits. Describing all options takes longer than sending them. */
  get modules(): ModuleInfo[] {
    const { registry } = this;
    const maxRate = registry.maxRate();
    if (this.#described?.registry !== registry || this.#described.maxRate !== maxRate)
      this.#described = { registry, maxRate, modules: modulesOf(registry) };
    return this.#described.modules;
  }

  /** @param tenant null without tenants, and for the whole service */
  of(tenant: string | null): ModuleCatalog {
    const { service, tenants } = this.libraries;
    const library = tenant === null ? service : (tenants.get(tenant) ?? service);
    return { registry: this.registry, library, plugins: this.plugins, license: this.#license };
  }
}

/** Names that a submission may use. @param listeners addresses that this server listens on */
export function choicesOf(
  { library, plugins = [] }: ModuleCatalog,
  listeners: readonly Listener[],
): ScanChoices {
  return {
    profiles: library.profiles(),
    dags: library.list().map(({ name }) => name),
    installed: library,
    plugins,
    listeners,
  };
}

/**
 * Reads the folders of installed graphs and profiles.
 * @param before the previous ones
 */
export async function readLibraries(
  builtin: GraphLibrary,
  registry: Registry,
  { workspace, multi_tenant }: Config,
  before: Libraries | null,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Libraries> {
  const dir = workspace.enabled ? workspace.dir : null;
  const folders = installedFolders(dir, env);
  const service = await builtin.withInstalled(folders, registry, before?.service ?? null);
  const tenants = new Map<string, GraphLibrary>();
  for (const tenant of dir !== null && multi_tenant.enabled ? multi_tenant.tenants : []) {
    const old = before?.tenants.get(tenant) ?? null;
    tenants.set(tenant, await service.withInstalled(tenantFolders(dir as string, tenant), registry, old));
  }
  return { builtin, env, service, tenants };
}

/** Rejected files, deduplicated. */
export function problemsOf({ service, tenants }: Libraries): LibraryProblem[] {
  const own = [...tenants.values()].flatMap(({ problems }) =>
    problems.filter(({ source }) => source === 'tenant'),
  );
  return [...service.problems, ...own];
}

function modulesOf(registry: Registry): ModuleInfo[] {
  return registry.list().map((definition) => ({
    name: definition.name,
    type: definition.type,
    description: definition.description,
    version: definition.version,
    source: definition.source,
    requires: definition.requires,
    provides: definition.provides,
    config_schema: optionsJsonSchema(definition.options),
  }));
}
