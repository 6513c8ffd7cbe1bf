import { lstat, open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { maxPackageBytes, readPackage, writePackage } from '../../plugins/package-archive.ts';
import { writeFileAtomic } from '../../workspace/atomic-file.ts';
import { usage } from '../terminal/failure.ts';
import { note, print } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';

/** Prints the SHA-256 of the package. */
export async function pack(
  folder: string,
  { output, force }: { output?: string; force?: boolean },
): Promise<number> {
  const archive = await writePackage(await readFolder(folder));
  const { manifest, sha256 } = await readPackage(archive);
  const file = output ?? `${manifest.name}-${manifest.version}.tar.gz`;
  const there = await lstat(file).catch(() => null);
  if (there && !force) throw new PortolanError('conflict', `${file} exists; --force replaces it`);
  await writeFileAtomic(file, archive);
  note(`${printable(file)} written, ${manifest.files.size} files`);
  print(`${sha256}\n`);
  return 0;
}

/** Hidden files are left out; links are an error. */
async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      throw usage(`cannot read ${folder}: ${error.code ?? error.message}`);
    },
  );
  const files = new Map<string, Buffer>();
  let size = 0;
  for (const entry of entries) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (entry.isDirectory() || /(?:^|\/)\./.test(path)) continue;
    if (!entry.isFile()) throw usage(`${path} is neither a file nor a folder`);
    await using file = await open(join(folder, path), 'r');
    size += (await file.stat()).size;
    if (size > maxPackageBytes) throw usage(`${folder} holds more than ${maxPackageBytes} bytes`);
    files.set(path, await file.readFile());
  }
  return files;
}
