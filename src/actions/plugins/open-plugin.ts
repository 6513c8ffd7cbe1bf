import { lstat } from 'node:fs/promises';
import { writePackage } from '../../plugins/package-archive.ts';
import { type PluginBytes, pluginOfArchive, pluginOfFile } from '../../plugins/plugin-bytes.ts';
import { readPackageFile } from './find-package.ts';
import { readPluginFolder } from './plugin-folder.ts';

/** A bare file, a package, or a folder as `plugin pack` would pack it. @throws PortolanError */
export async function openPlugin(path: string): Promise<PluginBytes> {
  const facts = await lstat(path).catch(() => null);
  if (!facts?.isDirectory()) return pluginOfFile(path, await readPackageFile(path));
  const archive = await writePackage(await readPluginFolder(path));
  return pluginOfArchive({ archive, signature: null }, `folder ${path}`);
}
