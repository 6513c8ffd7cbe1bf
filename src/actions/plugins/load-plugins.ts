import { pluginsFolder } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ModuleType } from '../../engine/module.ts';
import { loadedGrpc } from '../../plugins/grpc/configured-plugin.ts';
import type { GrpcPlugin } from '../../plugins/grpc/grpc-plugins.ts';
import type { LoadedPlugin, PluginFile, PluginMetadata } from '../../plugins/plugin.ts';
import { type PluginBytes, pluginOfArchive, pluginOfFile, signedBytes } from '../../plugins/plugin-bytes.ts';
import { describeByKind } from '../../plugins/plugin-kinds.ts';
import { orderPlugins } from '../../plugins/plugin-order.ts';
import { type InstalledPlugin, PluginStore } from '../../plugins/plugin-store.ts';
import type { PrivateFolder } from '../../plugins/private-folder.ts';
import { evaluateSignature, requireTrust, type SignatureVerdict } from '../../plugins/signature.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { readPackageFile } from './find-package.ts';

/** A plugin as it was found, loaded or not. */
export interface ListedPlugin {
  name: string;
  /** Null if its package cannot be read. */
  kind: PluginFile['kind'] | null;
  version: string;
  path: string;
  sha256: string;
  source: string;
  signature: Pick<SignatureVerdict, 'publisher' | 'fingerprint'> & {
    state: SignatureVerdict['state'] | 'unknown';
  };
  loaded: boolean;
  /** Why it is not loaded. */
  error: string | null;
  /** What its package may do. */
  permissions: string[];
  stage: ModuleType | null;
  /** Switched off: by `plugins.disabled`, or on this machine. */
  disabled: boolean;
  /** ISO 8601 UTC; null for one that is not installed. */
  installed_at: string | null;
  /** Version for a rollback. */
  previous: string | null;
}

export interface LoadContext {
  config: Pick<Config, 'plugins'>;
  license: License;
  /** Names of builtin modules, which no plugin may have. */
  builtin: readonly string[];
  /** Where the verified bytes are placed. */
  folder: PrivateFolder;
  /** Installed ones besides rules and those with a stage are left out unless a file requires them, if `files`. */
  modules?: 'all' | 'files';
  /** What is known of the configured gRPC plugins; by default each is asked once. */
  remote?: readonly GrpcPlugin[];
  /** Starts the plugin and asks it for its module. */
  describe?: (file: PluginFile, settings: Config['plugins']) => Promise<PluginMetadata | null>;
}

export interface LoadedPlugins {
  /** Installed ones first, configured ones last. */
  listed: ListedPlugin[];
  /** In the order of their requirements. */
  plugins: LoadedPlugin[];
}

/** A plugin that has, or wants, a name. */
interface Named {
  name: string;
  row: ListedPlugin;
}

/** A plugin on its way. */
interface Candidate extends Named {
  requires: string[];
  file: PluginFile | null;
  added: boolean;
}

/**
 * Loads the installed plugins and those of files: hashes and signatures are checked anew, and the bytes that were
 * checked are those that scans load. A plugin that is refused has its reason in the list; the others are loaded.
 * @param files paths of packages and bare files, which join every graph
 * @throws PortolanError `configuration` if the registry of installed plugins is damaged
 */
export async function loadPlugins(files: readonly string[], context: LoadContext): Promise<LoadedPlugins> {
  const store = new PluginStore(pluginsFolder(context.config));
  const installed: Candidate[] = [];
  const given: Candidate[] = [];
  // One after the other: packages are large.
  for (const plugin of await store.list()) installed.push(await openInstalled(plugin, store, context));
  for (const path of files) given.push(await openFile(path, context));
  const candidates = [...installed.filter((each) => !given.some((other) => isSame(each, other))), ...given];
  refuseTakenNames(candidates, context.builtin);
  const { ordered, refused } = orderPlugins(candidates.filter(({ row }) => row.error === null));
  for (const { name, row } of candidates) row.error ??= refused.get(name) ?? null;
  const wanted = context.modules === 'files' ? neededByFiles(ordered) : ordered;
  const byModule = new Map<string, Named>();
  const plugins = await describeAll(wanted, context, byModule);
  const rows = candidates.map(({ row }) => row);
  const remote = context.remote ?? (await askOnce(context.config.plugins));
  const { disabled } = context.config.plugins;
  const configured = addConfigured(remote, { rows, builtin: context.builtin, byModule, disabled });
  return {
    listed: [...rows, ...configured.map(({ row }) => row)],
    plugins: [...plugins, ...configured.flatMap(({ plugin }) => plugin ?? [])],
  };
}

/** Whether both are the same plugin, in whatever version: then the file counts. */
function isSame(installed: Candidate, given: Candidate): boolean {
  const [one, other] = [installed, given].map(({ name }) => name.replaceAll('-', '_'));
  return one === other && installed.row.kind === given.row.kind;
}

function neededByFiles(ordered: readonly Candidate[]): Candidate[] {
  const needed = new Set<string>();
  for (const { name, row, requires, added } of [...ordered].reverse()) {
    if (!added && row.kind !== 'rules' && row.stage === null && !needed.has(name)) continue;
    for (const each of [name, ...requires]) needed.add(each);
  }
  return ordered.filter(({ name }) => needed.has(name));
}

async function openInstalled(
  { name, current, previous, disabled = false }: InstalledPlugin,
  store: PluginStore,
  context: LoadContext,
): Promise<Candidate> {
  const { version, sha256, source } = current;
  const row = newRow({ name, version, sha256, source, path: store.folderOf(name, version) });
  row.installed_at = current.installed_at;
  row.previous = previous?.version ?? null;
  row.disabled = disabled;
  return open(row, false, context, async () => pluginOfArchive(await store.load(name, current), 'installed'));
}

function openFile(path: string, context: LoadContext): Promise<Candidate> {
  const row = newRow({ name: path, version: '', sha256: '', source: `file ${path}`, path });
  return open(row, true, context, async () => pluginOfFile(path, await readPackageFile(path)));
}

function newRow(row: Pick<ListedPlugin, 'name' | 'version' | 'sha256' | 'source' | 'path'>): ListedPlugin {
  const signature = { state: 'unknown', publisher: null, fingerprint: null } as const;
  const facts = { permissions: [], stage: null, disabled: false, installed_at: null, previous: null };
  return { ...row, kind: null, signature, loaded: false, error: null, ...facts };
}

async function open(
  row: ListedPlugin,
  added: boolean,
  { config, license, folder }: LoadContext,
  read: () => Promise<PluginBytes>,
): Promise<Candidate> {
  const candidate: Candidate = { name: row.name, row, requires: [], file: null, added };
  try {
    const plugin = await read();
    const { name, version, kind, sha256, permissions, stage = null } = plugin.file;
    const disabled = row.disabled || (!added && config.plugins.disabled.includes(name));
    Object.assign(row, { name, version, kind, sha256, permissions, stage, disabled });
    Object.assign(candidate, { name, requires: plugin.requires });
    const verdict = evaluateSignature(signedBytes(plugin), plugin.signature, config.plugins);
    const { state, publisher, fingerprint } = verdict;
    row.signature = { state, publisher, fingerprint };
    try {
      if (config.plugins.require_signature) license.demand('plugin_signatures');
      requireTrust(`${name} ${version}`, verdict, config.plugins);
    } catch (error) {
      // A scan that was accepted earlier must not find what is refused now.
      folder.forget(plugin.file);
      throw error;
    }
    candidate.file = await folder.place(plugin);
  } catch (error) {
    row.error = reasonOf(error);
  }
  return candidate;
}

function refuseTakenNames(candidates: readonly Candidate[], builtin: readonly string[]): void {
  const taken = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { name, row } = candidate;
    if (row.error !== null) continue;
    const other = taken.get(name);
    if (builtin.includes(name)) row.error = `"${name}" is the name of a builtin module`;
    else if (other) {
      const kinds = `${row.kind} ${row.path}, ${other.row.kind} ${other.row.path}`;
      row.error = `the name "${name}" is that of another plugin (${kinds}): rename one of them`;
    } else taken.set(name, candidate);
  }
}

async function describeAll(
  ordered: readonly Candidate[],
  context: LoadContext,
  byModule: Map<string, Named>,
): Promise<LoadedPlugin[]> {
  const { config, builtin, describe = describeByKind } = context;
  const plugins: LoadedPlugin[] = [];
  const loaded = new Set<string>();
  for (const candidate of ordered) {
    const { name, row, added } = candidate;
    try {
      const lacking = candidate.requires.find((required) => !loaded.has(required));
      if (lacking !== undefined)
        throw refusal(`it requires "${lacking}", which is refused (${name} -> ${lacking})`);
      const given = candidate.file as PluginFile;
      const described = await describe(given, config.plugins);
      if (described !== null) takeModule(described.name, candidate, builtin, byModule);
      // A plugin has one version, wherever it is shown: that of its package, else what it says itself.
      const version = given.archive || described === null ? given.version : described.version;
      const file = { ...given, version };
      const metadata = described && { ...described, version };
      row.version = version;
      row.loaded = true;
      loaded.add(name);
      plugins.push({ file, metadata, added, off: row.disabled });
    } catch (error) {
      row.error = reasonOf(error);
    }
  }
  return plugins;
}

async function askOnce({ list, limits }: Config['plugins']): Promise<readonly GrpcPlugin[]> {
  if (list.length === 0) return [];
  const { GrpcPlugins } = await import('../../plugins/grpc/grpc-plugins.ts');
  const plugins = new GrpcPlugins({ entries: list, limits });
  await plugins.start();
  await plugins.close();
  return plugins.list();
}

/** A configured plugin needs no signature: it runs where its operator started it, and nothing of it is loaded. */
function addConfigured(
  remote: readonly GrpcPlugin[],
  taken: {
    rows: readonly ListedPlugin[];
    builtin: readonly string[];
    byModule: Map<string, Named>;
    disabled: readonly string[];
  },
): { row: ListedPlugin; plugin: LoadedPlugin | null }[] {
  return remote.map((each) => {
    const plugin = loadedGrpc(each);
    const { name, version, sha256, source, entry: path } = plugin.file;
    const { loaded, error } = each;
    const row: ListedPlugin = {
      ...newRow({ name, version, sha256, source, path }),
      kind: 'grpc',
      disabled: taken.disabled.includes(name),
      loaded,
      error,
    };
    row.signature.state = 'unsigned';
    try {
      const other = taken.rows.find((one) => one.name === name);
      if (other) throw refusal(`the name "${name}" is that of another plugin (${other.path})`);
      takeModule(plugin.metadata.name, { name, row }, taken.builtin, taken.byModule);
      return { row, plugin: { ...plugin, off: row.disabled } };
    } catch (problem) {
      return { row: { ...row, loaded: false, error: reasonOf(problem) }, plugin: null };
    }
  });
}

function takeModule(
  module: string,
  candidate: Named,
  builtin: readonly string[],
  taken: Map<string, Named>,
): void {
  if (builtin.includes(module)) throw refusal(`its module "${module}" has the name of a builtin one`);
  const other = taken.get(module);
  if (other) {
    throw refusal(
      `its module "${module}" (${candidate.row.path}) is also that of ${other.name} (${other.row.path})`,
    );
  }
  taken.set(module, candidate);
}

function refusal(reason: string): PortolanError {
  return new PortolanError('configuration', reason);
}

/** @throws what is a bug */
function reasonOf(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  if ((error as NodeJS.ErrnoException | null)?.syscall !== undefined) return (error as Error).message;
  throw error;
}

/** @throws PortolanError `configuration` with every file that was refused */
export function requireFiles({ listed }: LoadedPlugins, files: readonly string[]): void {
  const refused = listed.filter(({ path, error }) => error !== null && files.includes(path));
  if (refused.length === 0) return;
  throw refusal(refused.map(({ path, error }) => `--plugin ${path}: ${error}`).join('\n'));
}
