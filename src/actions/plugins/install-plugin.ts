import { pluginsFolder } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { packageRefused } from '../../plugins/archive-names.ts';
import { checkPluginName, type PluginManifest } from '../../plugins/manifest.ts';
import { type PluginPackage, readPackage } from '../../plugins/package-archive.ts';
import { pluginOfArchive, signedBytes } from '../../plugins/plugin-bytes.ts';
import { type InstalledPlugin, PluginStore } from '../../plugins/plugin-store.ts';
import { evaluateSignature, requireTrust, type SignatureVerdict } from '../../plugins/signature.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { type FoundPackage, findPackages, type PackageOrder } from './find-package.ts';

/** What decides whether a plugin may be installed. */
export interface PluginContext {
  config: Pick<Config, 'plugins'>;
  license: License;
  /** Names of builtin modules, which no plugin may have. */
  builtin: readonly string[];
}

export interface PluginChange extends InstalledPlugin {
  signature: SignatureVerdict;
  manifest: Pick<PluginManifest, 'kind' | 'stage' | 'permissions'>;
}

/** A package that may be installed. */
interface CheckedPackage {
  found: FoundPackage;
  content: PluginPackage;
  signature: SignatureVerdict;
}

/**
 * Installs a package, or all of a category of the index.
 * @throws PortolanError before anything is written: see `findPackages`, `readPackage`, `requireTrust`
 */
export async function installPlugin(
  order: PackageOrder & { force: boolean },
  context: PluginContext,
): Promise<PluginChange[]> {
  const rules = context.config.plugins;
  if (rules.require_signature) context.license.demand('plugin_signatures');
  const store = new PluginStore(pluginsFolder(context.config));
  const checked: CheckedPackage[] = [];
  for (const found of await findPackages(order, rules, store)) checked.push(await check(found, context));
  for (const { content } of checked) await requireKind(content.manifest, store);
  if (!order.force) await requireOthers(checked, store);
  const changes: PluginChange[] = [];
  for (const { found, content, signature } of checked)
    changes.push({
      ...(await store.install(content, found, found.source, order.force)),
      signature,
      manifest: content.manifest,
    });
  return changes;
}

async function check(found: FoundPackage, { config, builtin }: PluginContext): Promise<CheckedPackage> {
  // The bytes that are judged are the bytes that are parsed and stored.
  const plugin = await pluginOfArchive(found, found.source);
  const signature = evaluateSignature(signedBytes(plugin), found.signature, config.plugins);
  requireTrust('plugin package', signature, config.plugins);
  const content = await readPackage(found.archive);
  const { name } = content.manifest;
  if (builtin.includes(name)) throw packageRefused(`"${name}" is the name of a builtin module`);
  const { names } = found;
  if (names.length > 0 && !names.includes(name)) throw packageRefused(`it is "${name}", not "${names[0]}"`);
  return { found, content, signature };
}

/** A name stays that of one plugin: rules are no later version of a script. @throws PortolanError `conflict` */
async function requireKind({ name, kind }: PluginManifest, store: PluginStore): Promise<void> {
  const installed = (await store.list()).find((plugin) => plugin.name === name);
  // Whatever a damaged one was, it is replaced.
  const before = installed && (await store.load(name, installed.current).catch(() => null));
  if (!before || before.package.manifest.kind === kind) return;
  throw new PortolanError(
    'conflict',
    `${name} is installed and of kind ${before.package.manifest.kind}, this one is of kind ${kind}: remove it first (portolan plugin remove ${name}), or give this one another --name`,
  );
}

/** @throws PortolanError `configuration` with the command that installs what is missing */
async function requireOthers(checked: readonly CheckedPackage[], store: PluginStore): Promise<void> {
  const there = new Set((await store.list()).map(({ name }) => name));
  for (const { content } of checked) there.add(content.manifest.name);
  for (const { name, requires } of checked.map(({ content }) => content.manifest)) {
    const missing = requires.filter((each) => !there.has(each));
    if (missing.length === 0) continue;
    const commands = missing.map((each) => `portolan plugin install ${each}`).join('; ');
    throw new PortolanError(
      'configuration',
      `plugin ${name} requires ${missing.join(', ')}, not installed. Run first: ${commands}`,
    );
  }
}

/** Installs the version of the index. @throws PortolanError as `installPlugin`, `not_found` if it is not installed */
export async function updatePlugin(
  name: string,
  { sha256, force }: { sha256: string | null; force: boolean },
  context: PluginContext,
): Promise<PluginChange[]> {
  await new PluginStore(pluginsFolder(context.config)).get(checkPluginName(name));
  return installPlugin({ source: name, sha256, force, byName: true }, context);
}

/** Makes the previous version the current one if it may be loaded. @throws PortolanError */
export async function rollBackPlugin(
  name: string,
  { config, license }: PluginContext,
): Promise<PluginChange[]> {
  const rules = config.plugins;
  if (rules.require_signature) license.demand('plugin_signatures');
  const store = new PluginStore(pluginsFolder(config));
  const { previous } = await store.get(name);
  if (!previous) throw new PortolanError('conflict', `${name} has no previous version`);
  const stored = await store.load(name, previous);
  const plugin = await pluginOfArchive(stored, 'installed');
  const signature = evaluateSignature(signedBytes(plugin), stored.signature, rules);
  requireTrust(`${name} ${previous.version}`, signature, rules);
  return [{ ...(await store.rollBack(name)), signature, manifest: stored.package.manifest }];
}
