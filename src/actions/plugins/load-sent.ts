import type { Config } from '../../config/schema.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { LoadedPlugin, PluginFile, PluginMetadata } from '../../plugins/plugin.ts';
import { pluginOfFile, signedBytes } from '../../plugins/plugin-bytes.ts';
import type { PrivateFolder } from '../../plugins/private-folder.ts';
import { evaluateSignature, requireTrust } from '../../plugins/signature.ts';
import type { Store } from '../../store/open.ts';
import type { License } from '../../workspace/license/read-license.ts';

/** A plugin that a client sends along with one scan. */
export interface SentPlugin {
  /** Name of the file: its end says what it is. */
  file: string;
  /** Base64. */
  content: string;
  /** Text of `FILE.sig`. */
  signature?: string | undefined;
}

export interface SentContext {
  config: Pick<Config, 'plugins'>;
  license: License;
  /** Names of builtin modules, which no plugin may have. */
  builtin: readonly string[];
  /** Names of the plugins that are loaded. */
  loaded: readonly string[];
  folder: PrivateFolder;
  describe(file: PluginFile, settings: Config['plugins']): Promise<PluginMetadata | null>;
  /** Where the processes of scans find it; null = it is looked at only. */
  store: Pick<Store, 'pluginPackages'> | null;
}

/** Source of a plugin that came with its scan. */
const source = 'sent with the scan';

/**
 * Loads the plugins of one scan, in the sandbox and by the rules of installed ones.
 * @throws PortolanError `invalid_request` with the reason for each file, `license_required`
 */
export async function loadSent(sent: readonly SentPlugin[], context: SentContext): Promise<LoadedPlugin[]> {
  if (context.config.plugins.require_signature) context.license.demand('plugin_signatures');
  const plugins: LoadedPlugin[] = [];
  for (const [at, each] of sent.entries()) {
    try {
      plugins.push(await loadOne(each, plugins, context));
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      const reason = `${each.file}: ${error.message}`;
      throw invalidRequest(`plugins: ${reason}`, [{ field: `plugins[${at}]`, reason }]);
    }
  }
  return plugins;
}

async function loadOne(
  {
    file: name,
    content,
    signature: given = null,
  }: Omit<SentPlugin, 'signature'> & { signature?: string | null | undefined },
  before: readonly LoadedPlugin[],
  { config, builtin, loaded, folder, describe, store }: SentContext,
): Promise<LoadedPlugin> {
  const plugin = await pluginOfFile(
    name,
    { archive: Buffer.from(content, 'base64'), signature: given },
    source,
  );
  const { signature } = plugin;
  const verdict = evaluateSignature(signedBytes(plugin), signature, config.plugins);
  requireTrust(plugin.file.name, verdict, config.plugins);
  const there = [...loaded, ...before.map(({ file }) => file.name)];
  const missing = plugin.requires.find((each) => !there.includes(each));
  if (missing !== undefined) throw refusal(`it requires "${missing}", which is not there`);
  const placed = await folder.place(plugin);
  const described = await describe(placed, config.plugins);
  const module = described?.name ?? plugin.file.name;
  if (builtin.includes(module)) throw refusal(`its module "${module}" has the name of a builtin one`);
  const other = before.find(({ file, metadata }) => (metadata?.name ?? file.name) === module);
  if (other) throw refusal(`${other.file.entry} has the same name, "${module}"`);
  const version = placed.archive || described === null ? placed.version : described.version;
  const file = { ...placed, version };
  await store?.pluginPackages.put({
    name: file.name,
    version,
    sha256: file.sha256,
    source,
    signature,
    bytes: plugin.bytes,
    file_name: file.archive ? null : name,
    state: 'kept',
    installed_at: new Date().toISOString(),
  });
  return { file, metadata: described && { ...described, version }, added: true };
}

function refusal(reason: string): PortolanError {
  return new PortolanError('configuration', reason);
}
