import { lstat } from 'node:fs/promises';
import { readPluginFolder } from '../../actions/plugins/plugin-folder.ts';
import { PortolanError } from '../../domain/errors.ts';
import { readPackage, writePackage } from '../../plugins/package-archive.ts';
import { writeFileAtomic } from '../../workspace/atomic-file.ts';
import { printable } from '../terminal/draw/printable.ts';
import { note, print } from '../terminal/output.ts';

/** Prints the SHA-256 of the package. */
export async function pack(
  folder: string,
  { output, force }: { output?: string; force?: boolean },
): Promise<void> {
  const archive = await writePackage(await readPluginFolder(folder));
  const { manifest, sha256 } = await readPackage(archive);
  const file = output ?? `${manifest.name}-${manifest.version}.tar.gz`;
  const there = await lstat(file).catch(() => null);
  if (there && !force) throw new PortolanError('conflict', `${file} exists; --force replaces it`);
  await writeFileAtomic(file, archive);
  note(`${printable(file)} written, ${manifest.files.size} files`);
  print(`${sha256}\n`);
}
