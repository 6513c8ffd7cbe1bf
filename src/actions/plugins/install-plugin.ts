import { pluginsFolder } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { checkPluginName } from '../../plugins/manifest.ts';
import { readPackage } from '../../plugins/package-archive.ts';
import { type InstalledPlugin, PluginStore } from '../../plugins/plugin-store.ts';
import { evaluateSignature, requireTrust, type SignatureVerdict } from '../../plugins/signature.ts';
import type { License } from '../../workspace/license/read-license.ts';
import { findPackage, type PackageOrder } from './find-package.ts';

/** What decides whether a plugin may be installed. */
export interface PluginContext {
  config: Pick<Config, 'plugins'>;
  license: License;
  /** Names of builtin modules, which no plugin may have. */
  builtin: readonly string[];
}

export interface PluginChange extends InstalledPlugin {
  signature: SignatureVerdict;
}

/** @throws PortolanError before anything is written: see `findPackage`, `readPackage`, `requireTrust` */
export async function installPlugin(
  order: PackageOrder & { force: boolean },
  { config, license, builtin }: PluginContext,
  expectedName: string | null = null,
): Promise<PluginChange> {
  const rules = config.plugins;
  if (rules.require_signature) license.demand('plugin_signatures');
  const store = new PluginStore(pluginsFolder(config));
  const found = await findPackage(order, rules, store);
  // The bytes that are judged are the bytes that are parsed and stored.
  const signature = evaluateSignature(found.archive, found.signature, rules);
  requireTrust('plugin package', signature, rules);
  const content = await readPackage(found.archive);
  const { name } = content.manifest;
  if (builtin.includes(name)) {
    throw new PortolanError(
      'configuration',
      `plugin package refused: "${name}" is the name of a builtin module`,
    );
  }
  const wanted = expectedName ?? (/[/.:]/.test(order.source) ? name : order.source);
  if (name !== wanted) {
    throw new PortolanError('configuration', `plugin package refused: it is "${name}", not "${wanted}"`);
  }
  const installed = await store.install(content, found, found.source, order.force);
  return { ...installed, signature };
}

/** Installs the version of the index. @throws PortolanError as `installPlugin`, `not_found` if it is not installed */
export async function updatePlugin(
  name: string,
  { sha256, force }: { sha256: string | null; force: boolean },
  context: PluginContext,
): Promise<PluginChange> {
  await new PluginStore(pluginsFolder(context.config)).get(checkPluginName(name));
  return installPlugin({ source: name, sha256, force }, context, name);
}

/** Makes the previous version the current one if it may be loaded. @throws PortolanError */
export async function rollBackPlugin(
  name: string,
  { config, license }: PluginContext,
): Promise<PluginChange> {
  const rules = config.plugins;
  if (rules.require_signature) license.demand('plugin_signatures');
  const store = new PluginStore(pluginsFolder(config));
  const { previous } = await store.get(name);
  if (!previous) throw new PortolanError('conflict', `${name} has no previous version`);
  const stored = await store.load(name, previous);
  const signature = evaluateSignature(stored.archive, stored.signature, rules);
  requireTrust(`${name} ${previous.version}`, signature, rules);
  return { ...(await store.rollBack(name)), signature };
}
