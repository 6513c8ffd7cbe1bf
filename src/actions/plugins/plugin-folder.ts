import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { maxPackageBytes } from '../../plugins/package-archive.ts';

/** What a package of a folder holds: hidden files are left out, links are an error. @throws PortolanError `usage` */
export async function readPluginFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new PortolanError('usage', `cannot read ${folder}: ${error.code ?? error.message}`);
    },
  );
  const files = new Map<string, Buffer>();
  let size = 0;
  for (const entry of entries) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (entry.isDirectory() || /(?:^|\/)\./.test(path)) continue;
    if (!entry.isFile()) throw new PortolanError('usage', `${path} is neither a file nor a folder`);
    await using file = await open(join(folder, path), 'r');
    size += (await file.stat()).size;
    if (size > maxPackageBytes)
      throw new PortolanError('usage', `${folder} holds more than ${maxPackageBytes} bytes`);
    files.set(path, await file.readFile());
  }
  return files;
}
