import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ParsedTarEntry } from 'modern-tar';
import { PortolanError } from '../../domain/errors.ts';
import { GenerationLock } from '../../knowledge/vulndb/generation/generation-lock.ts';
import {
  manifestOf,
  readCurrentManifest,
  readPointer,
} from '../../knowledge/vulndb/generation/generation-pointer.ts';
import { publishGeneration, writeDurably } from '../../knowledge/vulndb/generation/generation-writer.ts';
import {
  type GenerationFile,
  type GenerationManifest,
  generationFiles,
  maxGenerationManifestBytes,
  newerFiles,
  readGenerationManifest,
} from '../../knowledge/vulndb/generation/manifest.ts';
import { fileMode, folderMode } from '../../workspace/atomic-file.ts';
import { packFile, tarBytes } from '../../workspace/render/archive.ts';
import { saveEntry, tarEntries } from '../../workspace/unpack-tar.ts';

/** Maximum size of a bundle, bytes. */
const maxBundleBytes = 8 * 1024 * 1024 * 1024;
const manifestFile = 'manifest.json';
/** Place of `ustar` in the first header of a tar archive, bytes. */
const magicAt = 257;

/** Whether a file begins as a bundle does. */
export async function isBundle(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return false;
  try {
    const { buffer } = await file.read(Buffer.alloc(magicAt + 5), 0, magicAt + 5, 0);
    const text = buffer.toString('latin1');
    return text.startsWith(`${manifestFile}\0`) && text.endsWith('ustar');
  } finally {
    await file.close();
  }
}

/**
 * Writes the current generation into one file: a tar archive with the manifest first, which has the SHA-256 of each file.
 * @returns null when nothing was imported
 * @throws PortolanError `conflict` while an import runs, or if the data is damaged
 */
export async function exportBundle(dir: string, path: string): Promise<GenerationManifest | null> {
  const lock = GenerationLock.acquire(dir);
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const generation = readPointer(dir);
    if (generation === null) return null;
    const folder = join(dir, generation);
    const manifest = manifestOf(folder, generation);
    const packed = ({ name, sha256 }: { name: string; sha256: string }) => {
      const known = manifest.files[name];
      if (known && known.sha256 !== sha256) throw damaged(`${name} differs from its checksum`);
    };
    const bytes = tarBytes(async (controller) => {
      for (const name of [manifestFile, ...Object.keys(manifest.files)])
        await packFile(controller, join(folder, name), name, { packed });
    });
    const out = createWriteStream(part, { flags: 'wx', mode: fileMode, flush: true });
    await pipeline(Readable.from(bytes), out);
    renameSync(part, path);
    return manifest;
  } finally {
    rmSync(part, { force: true });
    lock.release();
  }
}

/**
 * Puts the generation of a bundle in place of the current one, after all of its checksums have been verified.
 * @param force also if the current data is newer or damaged
 * @throws PortolanError `invalid_request`, `conflict`
 */
export async function importBundle(dir: string, path: string, force: boolean): Promise<GenerationManifest> {
  const lock = GenerationLock.acquire(dir);
  const staging = join(dir, `.staging-${randomBytes(6).toString('hex')}`);
  const source = createReadStream(path);
  try {
    const current = force ? null : readCurrentManifest(dir);
    const { size } = await stat(path);
    if (size > maxBundleBytes) throw damaged('it is too large');
    const folder = join(staging, 'generation');
    const manifest = await unpack(source, folder, (found) => {
      if (current && current.created_at > found.created_at)
        throw new PortolanError(
          'conflict',
          `The data of ${current.created_at} is newer than the bundle of ${found.created_at}; --replace imports it.`,
        );
      mkdirSync(folder, { recursive: true, mode: folderMode });
      checkSpace(dir, size);
    }).catch((error: unknown) => {
      throw error instanceof PortolanError ? error : damaged((error as Error).message);
    });
    publishGeneration(dir, staging, manifest.generation);
    return manifest;
  } finally {
    source.destroy();
    rmSync(staging, { recursive: true, force: true });
    lock.release();
  }
}

/**
 * Each file that the manifest names, once, and no other.
 * @param begin called with the manifest, which comes first, before anything is written
 */
async function unpack(
  source: Readable,
  folder: string,
  begin: (manifest: GenerationManifest) => void,
): Promise<GenerationManifest> {
  let manifest: GenerationManifest | null = null;
  const wanted = new Set<string>();
  for await (const entry of tarEntries(source)) {
    const { name, size } = entry.header;
    if (manifest === null) {
      const text = name === manifestFile && size <= maxGenerationManifestBytes ? await textOf(entry) : '';
      manifest = manifestIn(text);
      begin(manifest);
      writeDurably(join(folder, manifestFile), text);
      for (const file of manifest.newer ? [...generationFiles, ...newerFiles] : generationFiles)
        wanted.add(file);
      continue;
    }
    const known = manifest.files[name];
    if (!known || known.size !== size || !wanted.delete(name as GenerationFile))
      throw damaged('it has a file that its manifest does not name');
    if ((await saveEntry(entry, join(folder, name))) !== known.sha256)
      throw damaged(`${name} differs from its checksum`);
  }
  if (manifest === null) throw damaged('it has no manifest');
  if (wanted.size > 0) throw damaged('a file is missing');
  return manifest;
}

async function textOf({ body }: ParsedTarEntry): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>)).toString();
}

function manifestIn(text: string): GenerationManifest {
  try {
    return readGenerationManifest(text);
  } catch {
    throw damaged('it has no manifest that can be read');
  }
}

function checkSpace(dir: string, size: number): void {
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < size)
    throw new PortolanError('insufficient_storage', 'Too little free space for the bundle.');
}

function damaged(reason: string): PortolanError {
  return new PortolanError('invalid_request', `The bundle cannot be used: ${reason}; nothing was imported.`);
}
