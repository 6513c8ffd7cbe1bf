import { pluginsFolder } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { PluginKind, PluginManifest } from '../../plugins/manifest.ts';
import { type InstalledPlugin, PluginStore } from '../../plugins/plugin-store.ts';
import { evaluateSignature, requireTrust, type SignatureVerdict } from '../../plugins/signature.ts';
import type { License } from '../../workspace/license/read-license.ts';

/** An installed plugin as it is now: hashes and signature are checked anew. */
export interface ListedPlugin {
  name: string;
  /** Null if its package cannot be read. */
  kind: PluginKind | null;
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
}

export interface PluginDetails extends ListedPlugin {
  installed_at: string;
  /** Version for a rollback. */
  previous: string | null;
  manifest: (Omit<PluginManifest, 'files'> & { files: Record<string, string> }) | null;
}

/** @throws PortolanError `configuration` if the registry is damaged */
export async function listPlugins(
  config: Pick<Config, 'plugins'>,
  license: License,
): Promise<ListedPlugin[]> {
  const listed: ListedPlugin[] = [];
  for (const plugin of await storeOf(config).list()) {
    // One after the other: packages are large.
    const {
      installed_at: _at,
      previous: _previous,
      manifest: _manifest,
      ...row
    } = await examine(plugin, config, license);
    listed.push(row);
  }
  return listed;
}

/** @throws PortolanError `usage`, `not_found`, `configuration` */
export async function showPlugin(
  name: string,
  config: Pick<Config, 'plugins'>,
  license: License,
): Promise<PluginDetails> {
  return examine(await storeOf(config).get(name), config, license);
}

/** @throws PortolanError `usage`, `not_found`, `configuration` */
export function removePlugin(name: string, config: Pick<Config, 'plugins'>): Promise<InstalledPlugin> {
  return storeOf(config).remove(name);
}

function storeOf(config: Pick<Config, 'plugins'>): PluginStore {
  return new PluginStore(pluginsFolder(config));
}

async function examine(
  { name, current, previous }: InstalledPlugin,
  config: Pick<Config, 'plugins'>,
  license: License,
): Promise<PluginDetails> {
  const { version, sha256, source, installed_at } = current;
  const store = storeOf(config);
  const details: PluginDetails = {
    name,
    kind: null,
    version,
    path: store.folderOf(name, version),
    sha256,
    source,
    signature: { state: 'unknown', publisher: null, fingerprint: null },
    loaded: false,
    error: null,
    installed_at,
    previous: previous?.version ?? null,
    manifest: null,
  };
  try {
    const stored = await store.load(name, current);
    const { manifest } = stored.package;
    details.kind = manifest.kind;
    details.manifest = { ...manifest, files: Object.fromEntries(manifest.files) };
    const verdict = evaluateSignature(stored.archive, stored.signature, config.plugins);
    details.signature = {
      state: verdict.state,
      publisher: verdict.publisher,
      fingerprint: verdict.fingerprint,
    };
    if (config.plugins.require_signature) license.demand('plugin_signatures');
    requireTrust(`${name} ${version}`, verdict, config.plugins);
    details.error = `this build installs plugins of kind ${manifest.kind}, but does not run them yet`;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    details.error = error.message;
  }
  return details;
}
