import { createHash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar';
import { fileMode, folderMode, isMissing } from '../atomic-file.ts';
import { isPlainFolder } from '../plain-file.ts';
import { sealedBytes } from '../record/sealed-bytes.ts';
import type { ScanFolder } from '../scan-folder.ts';

/** Temporary files, which are not part of a scan. */
const draft = /^results\.[\w.]+\.new$|\.[0-9a-f]{12}\.tmp$|\.part$/;

/**
 * The whole folder of a scan as tar.gz, every name below `<scan_id>/`. Skips links and special files. Of a running
 * scan, files are archived as they are at their turn, and the record up to its last sealed row. Files deleted
 * meanwhile are missing; the archive is valid anyway.
 * @param damage text of `damage.json`, for incomplete results
 */
export function archiveScan(folder: ScanFolder, damage: string | null = null): Readable {
  const gzip = createGzip();
  // An error or an early end reaches both sides; the reader gets it from the stream.
  pipeline(
    Readable.from(tarBytes((controller) => packScan(controller, folder, damage))),
    gzip,
    () => undefined,
  );
  return gzip;
}

/** The bytes of a tar archive, as they are packed. */
export async function* tarBytes(
  pack: (controller: TarPackController) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const packing = pack(controller).then(
    () => controller.finalize(),
    (error: unknown) => controller.error(error),
  );
  try {
    yield* readable;
  } finally {
    await packing;
  }
}

async function packScan(
  controller: TarPackController,
  { path }: ScanFolder,
  damage: string | null,
): Promise<void> {
  const name = basename(path);
  if (damage !== null) await packText(controller, `${name}/damage.json`, damage);
  await packFolder(controller, path, name);
}

/** What of a folder is archived, and who is told of each file. */
export interface PackOptions {
  /** By name within the archive. */
  skips?: (name: string) => boolean;
  packed?: (file: PackedFile) => void;
}

export interface PackedFile {
  name: string;
  size: number;
  sha256: string;
}

export async function packText(controller: TarPackController, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const header = { name, type: 'file', size: bytes.length, mode: fileMode, mtime: new Date() } as const;
  const writer = controller.add(header).getWriter();
  await writer.write(bytes);
  await writer.close();
}

export async function packFolder(
  controller: TarPackController,
  path: string,
  name: string,
  options: PackOptions = {},
): Promise<void> {
  // A link could point outside the workspace.
  if (!(await isPlainFolder(path))) return;
  const entries = await entriesOf(path);
  if (entries === null) return;
  const { mtime } = await stat(path).catch(() => ({ mtime: new Date() }));
  await addEntry(controller, { name: `${name}/`, type: 'directory', size: 0, mode: folderMode, mtime }, null);
  for (const entry of entries) {
    const inner = { path: join(path, entry.name), name: `${name}/${entry.name}` };
    if (options.skips?.(inner.name)) continue;
    if (entry.isDirectory()) await packFolder(controller, inner.path, inner.name, options);
    else if (entry.isFile() && !draft.test(entry.name))
      await packFile(controller, inner.path, inner.name, options);
  }
}

/** Null if the folder is gone. */
async function entriesOf(path: string): Promise<Dirent[] | null> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export async function packFile(
  controller: TarPackController,
  path: string,
  name: string,
  { packed }: PackOptions = {},
): Promise<void> {
  const file = await openPlain(path);
  if (file === null) return;
  try {
    const entry = await file.stat();
    // It was a file when the folder was read.
    if (!entry.isFile()) return;
    const size = Math.min(entry.size, await sealedBytes(path));
    const header = { name, type: 'file', size, mode: fileMode, mtime: entry.mtime } as const;
    const sha256 = await addEntry(controller, header, file);
    packed?.({ name, size, sha256 });
  } finally {
    await file.close();
  }
}

/** Null if the file is gone, or was replaced by a link. */
async function openPlain(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (isMissing(error) || error.code === 'ELOOP') return null;
    throw error;
  });
}

/** Chunk size, bytes. */
const pieceBytes = 64 * 1024;

/**
 * Writes exactly the announced bytes: ignores growth, and fills missing bytes with zeros.
 * @returns SHA-256 of what was written
 */
async function addEntry(
  controller: TarPackController,
  header: TarHeader,
  file: FileHandle | null,
): Promise<string> {
  const hash = createHash('sha256');
  const writer = controller.add(header).getWriter();
  let left = header.size;
  while (file !== null && left > 0) {
    const piece = Buffer.alloc(Math.min(pieceBytes, left));
    const { bytesRead } = await file.read(piece, 0, piece.length, header.size - left);
    const bytes = bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    await writer.write(bytes);
    hash.update(bytes);
    left -= bytes.length;
  }
  await writer.close();
  return hash.digest('hex');
}
