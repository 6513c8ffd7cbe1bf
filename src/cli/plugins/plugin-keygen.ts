import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { createSigningKeys } from '../../plugins/signature.ts';
import { folderMode, writeFileAtomic } from '../../workspace/atomic-file.ts';
import { printable } from '../terminal/draw/printable.ts';
import { note, print } from '../terminal/output.ts';

/** Prints the fingerprint, for `plugins.trusted_publishers`. */
export async function createPublisherKeys(folder: string, force: boolean): Promise<number> {
  const files = { private: join(folder, 'plugin-private.pem'), public: join(folder, 'plugin-public.pem') };
  for (const file of Object.values(files)) {
    const there = await lstat(file).catch(() => null);
    if (there && !force) throw new PortolanError('conflict', `${file} exists; --force replaces it`);
  }
  const { privateKey, publicKey, fingerprint } = createSigningKeys();
  await mkdir(folder, { recursive: true, mode: folderMode });
  await writeFileAtomic(files.private, privateKey);
  await writeFileAtomic(files.public, publicKey);
  note(`${printable(files.private)} signs plugins: do not store it on machines that scan`);
  print(`${fingerprint}\n`);
  return 0;
}
