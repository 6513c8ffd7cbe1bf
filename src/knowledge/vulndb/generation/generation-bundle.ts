import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../../domain/errors.ts';
import { GenerationLock } from './generation-lock.ts';
import { manifestOf, readCurrentManifest, readPointer } from './generation-pointer.ts';
import { publishGeneration, writeDurably } from './generation-writer.ts';
import {
  type GenerationFile,
  type GenerationManifest,
  generationFiles,
  maxGenerationManifestBytes,
  newerFiles,
  readGenerationManifest,
} from './manifest.ts';

/** Blocks of a tar archive (POSIX.1-1988, ustar), bytes. */
const block = 512;
const magicAt = 257;
/** Bytes that are copied at once. */
const copyBytes = 1024 * 1024;
/** Maximum size of a bundle, bytes. */
const maxBundleBytes = 8 * 1024 * 1024 * 1024;

/** Whether a file begins as a bundle does. */
export async function isBundle(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(block), 0, block, 0);
    return (
      bytesRead === block &&
      nameOf(buffer) === 'manifest.json' &&
      buffer.toString('latin1', magicAt, magicAt + 5) === 'ustar'
    );
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
    const target = await open(part, 'wx', 0o600);
    try {
      for (const name of ['manifest.json', ...Object.keys(manifest.files)])
        await append(target, folder, name, manifest);
      await target.write(Buffer.alloc(2 * block));
      await target.sync();
    } finally {
      await target.close();
    }
    renameSync(part, path);
    return manifest;
  } finally {
    rmSync(part, { force: true });
    lock.release();
  }
}

async function append(
  target: FileHandle,
  folder: string,
  name: string,
  manifest: GenerationManifest,
): Promise<void> {
  const source = await open(join(folder, name), 'r');
  try {
    const { size } = await source.stat();
    const hash = createHash('sha256');
    await target.write(headerOf(name, size));
    for await (const bytes of readParts(source, 0, size)) {
      hash.update(bytes);
      await target.writeFile(bytes);
    }
    const known = manifest.files[name];
    if (known && known.sha256 !== hash.digest('hex')) throw damaged(`${name} differs from its checksum`);
    await target.write(Buffer.alloc((block - (size % block)) % block));
  } finally {
    await source.close();
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
  const source = await open(path, 'r');
  try {
    const current = force ? null : readCurrentManifest(dir);
    const { size } = await source.stat();
    if (size > maxBundleBytes) throw damaged('it is too large');
    const bundle = await readManifest(source, size);
    if (current && current.created_at > bundle.manifest.created_at)
      throw new PortolanError(
        'conflict',
        `The data of ${current.created_at} is newer than the bundle of ${bundle.manifest.created_at}; --replace imports it.`,
      );
    const folder = join(staging, 'generation');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkSpace(dir, size);
    await unpack(source, bundle, size, folder);
    writeDurably(join(folder, 'manifest.json'), bundle.text);
    publishGeneration(dir, staging, bundle.manifest.generation);
    return bundle.manifest;
  } finally {
    await source.close();
    rmSync(staging, { recursive: true, force: true });
    lock.release();
  }
}

interface BundleHead {
  manifest: GenerationManifest;
  text: string;
  /** Offset of the first file. */
  end: number;
}

async function readManifest(source: FileHandle, size: number): Promise<BundleHead> {
  const entry = await readHeader(source, 0, size);
  if (entry?.name !== 'manifest.json' || entry.size > maxGenerationManifestBytes)
    throw damaged('it has no manifest');
  const parts: Buffer[] = [];
  for await (const bytes of readParts(source, block, entry.size)) parts.push(Buffer.from(bytes));
  const text = Buffer.concat(parts).toString();
  try {
    return { manifest: readGenerationManifest(text), text, end: entry.end };
  } catch {
    throw damaged('its manifest cannot be read');
  }
}

/** Each file that the manifest names, once, and no other. */
async function unpack(
  source: FileHandle,
  { manifest, end }: BundleHead,
  size: number,
  folder: string,
): Promise<void> {
  const wanted = new Set<string>(manifest.newer ? [...generationFiles, ...newerFiles] : generationFiles);
  let at = end;
  for (
    let entry = await readHeader(source, at, size);
    entry !== null;
    entry = await readHeader(source, at, size)
  ) {
    const known = manifest.files[entry.name];
    if (!known || known.size !== entry.size || !wanted.delete(entry.name as GenerationFile))
      throw damaged('it has a file that its manifest does not name');
    const hash = createHash('sha256');
    const file = await open(join(folder, entry.name), 'wx', 0o600);
    try {
      for await (const bytes of readParts(source, at + block, entry.size)) {
        hash.update(bytes);
        await file.writeFile(bytes);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (hash.digest('hex') !== known.sha256) throw damaged(`${entry.name} differs from its checksum`);
    at = entry.end;
  }
  if (wanted.size > 0) throw damaged('a file is missing');
}

/** @returns null at the end of the archive */
async function readHeader(source: FileHandle, at: number, size: number) {
  const { buffer, bytesRead } = await source.read(Buffer.alloc(block), 0, block, at);
  if (bytesRead < block) throw damaged('it is cut off');
  if (buffer.every((byte) => byte === 0)) return null;
  const length = Number.parseInt(buffer.toString('latin1', 124, 135), 8);
  const end = at + block + Math.ceil(length / block) * block;
  if (!Number.isSafeInteger(length) || end + block > size) throw damaged('it is cut off');
  return { name: nameOf(buffer), size: length, end };
}

async function* readParts(source: FileHandle, from: number, length: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.min(copyBytes, Math.max(1, length)));
  for (let done = 0; done < length; ) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, length - done), from + done);
    if (bytesRead === 0) throw damaged('it is cut off');
    yield buffer.subarray(0, bytesRead);
    done += bytesRead;
  }
}

function nameOf(header: Buffer): string {
  return header.toString('latin1', 0, 100).split('\0', 1)[0] ?? '';
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, length: number) => value.toString(8).padStart(length, '0');
  header.write(name, 0, 'latin1');
  header.write(
    `${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(0, 11)}\0`,
    100,
    'latin1',
  );
  header.write('        0', 148, 'latin1');
  header.write('ustar\x0000', magicAt, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return header;
}

function checkSpace(dir: string, size: number): void {
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < size)
    throw new PortolanError('insufficient_storage', 'Too little free space for the bundle.');
}

function damaged(reason: string): PortolanError {
  return new PortolanError('invalid_request', `The bundle cannot be used: ${reason}; nothing was imported.`);
}
