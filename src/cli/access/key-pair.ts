import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { folderMode, writeFileAtomic } from '../../workspace/atomic-file.ts';

/** Flags of a command that creates a key pair. */
export interface KeyPairFlags {
  output: string;
  force?: boolean;
}

/**
 * Writes `<owner>-private.pem` and `<owner>-public.pem` into the folder `output`, and returns their paths.
 * @throws PortolanError `conflict` for an existing file without `force`
 */
export async function writeKeyPair(
  owner: 'license' | 'plugin',
  { privateKey, publicKey }: { privateKey: string; publicKey: string },
  { output, force }: KeyPairFlags,
): Promise<{ private: string; public: string }> {
  const files = {
    private: join(output, `${owner}-private.pem`),
    public: join(output, `${owner}-public.pem`),
  };
  for (const file of Object.values(files)) {
    const there = await lstat(file).catch(() => null);
    if (there && !force) throw new PortolanError('conflict', `${file} exists; --force replaces it`);
  }
  await mkdir(output, { recursive: true, mode: folderMode });
  await writeFileAtomic(files.private, privateKey);
  await writeFileAtomic(files.public, publicKey);
  return files;
}
