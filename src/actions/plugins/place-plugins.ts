import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import { isRemote, type PlacedPlugin, type PlannedPlugin, type PluginFile } from '../../plugins/plugin.ts';
import { pluginOfArchive, pluginOfFile, signedBytes } from '../../plugins/plugin-bytes.ts';
import type { PrivateFolder } from '../../plugins/private-folder.ts';
import { evaluateSignature, requireTrust } from '../../plugins/signature.ts';
import { plannedPlugins } from '../../scan-run/plan/plan-plugins.ts';
import type { Store } from '../../store/open.ts';
import type { License } from '../../workspace/license/read-license.ts';

export interface PlaceContext {
  store: Pick<Store, 'pluginPackages'>;
  config: Pick<Config, 'plugins'>;
  license: License;
  folder: PrivateFolder;
}

/**
 * Places the plugins that a scan was planned with on this machine, from the database if they are not there yet. Hash
 * and signature are checked by the settings of this machine.
 */
export function placePlugins(request: ScanRequest, context: PlaceContext): Promise<PlacedPlugin[]> {
  const local = plannedPlugins(request).filter(({ file }) => !isRemote(file));
  return Promise.all(local.map((plugin) => placeOne(plugin, context)));
}

async function placeOne({ file }: PlannedPlugin, context: PlaceContext): Promise<PlacedPlugin> {
  const { name, sha256 } = file;
  try {
    const there = await context.folder.find(file);
    return { name, sha256, file: there ?? (await fetchPackage(file, context)), problem: null };
  } catch (error) {
    return { name, sha256, file: null, problem: (error as Error).message };
  }
}

async function fetchPackage(
  file: Omit<PluginFile, 'folder'>,
  { store, config, license, folder }: PlaceContext,
): Promise<PluginFile> {
  const { name, version, sha256, source } = file;
  const row = await store.pluginPackages.get({ name, version, sha256 });
  if (row === null)
    throw new PortolanError(
      'not_found',
      'its package is no longer in the database; install it and scan again',
    );
  const stored = { archive: Buffer.from(row.bytes), signature: row.signature };
  const plugin = file.archive
    ? await pluginOfArchive(stored, source)
    : await pluginOfFile(row.file_name ?? file.entry, stored, source);
  if (plugin.file.sha256 !== sha256)
    throw new PortolanError(
      'configuration',
      `its package in the database was altered: ${plugin.file.sha256}`,
    );
  if (config.plugins.require_signature) license.demand('plugin_signatures');
  const verdict = evaluateSignature(signedBytes(plugin), plugin.signature, config.plugins);
  requireTrust(`${name} ${version}`, verdict, config.plugins);
  return { ...(await folder.place(plugin)), version };
}
