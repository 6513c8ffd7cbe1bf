import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32, gzip } from 'node:zlib';
import { diskError, fileMode, syncFolder, writeFully } from '../atomic-file.ts';
import { openPlain } from '../plain-file.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { openRecordFile, recordPieces } from './open-record.ts';
import {
  type Block,
  blockEnd,
  blockLastRow,
  linesOf,
  newLine,
  type RecordFiles,
  readBlock,
  readSummaryLine,
  recordFiles,
} from './record-files.ts';
import { type GzipMember, memberLine, readMembers, unpackedStream } from './record-members.ts';
import { finishedIndex } from './record-recovery.ts';

const pack = promisify(gzip);

/**
 * Replaces the finished record of a scan by its compressed form. An unfinished or already compressed record stays
 * unchanged. The plain file is removed only when the compressed one is durable: a crash leaves the plain one, or
 * both, and the next call completes the work.
 * @throws PortolanError `insufficient_storage`; Error if a block of the record is damaged. The plain record stays
 * intact
 */
export async function compressRecord(folder: ScanFolder): Promise<void> {
  const files = recordFiles(folder.path);
  const data = await openPlain(files.data).catch(() => null);
  if (data === null) return;
  try {
    if ((await readSummaryLine(data)) === null) return;
    if (!(await isCompressed(files, data))) await writeCompressed(files, data);
    await rm(files.data);
    await rm(files.index, { force: true });
    await syncFolder(folder.path);
  } catch (error) {
    for (const path of [files.newCompressed, files.newMembers]) await rm(path, { force: true });
    throw diskError(error);
  } finally {
    await data.close();
  }
}

/**
 * Completes an interrupted replacement: the compressed file stays if it contains all of the plain one, else the plain
 * one. @returns whether both existed
 */
export async function resolveBoth(folder: ScanFolder): Promise<boolean> {
  const files = recordFiles(folder.path);
  const data = await openPlain(files.data).catch(() => null);
  if (data === null) return false;
  try {
    const compressed = await openPlain(files.compressed).catch(() => null);
    if (compressed === null) return false;
    await compressed.close();
    const whole = await isCompressed(files, data);
    for (const path of whole ? [files.data, files.index] : [files.compressed, files.members]) {
      await rm(path, { force: true });
    }
    await syncFolder(folder.path);
    return true;
  } finally {
    await data.close();
  }
}

/**
 * Converts a compressed record back to a plain one. Without its index all of it must be readable: otherwise rows
 * after the damage would be lost.
 * @returns whether it was compressed
 */
export async function unpackRecord(folder: ScanFolder): Promise<boolean> {
  const files = recordFiles(folder.path);
  const record = await openRecordFile(files);
  if (record === null) return false;
  const { file, members } = record;
  try {
    if (members === null) return false;
    await writePieces(files.newData, members.length > 0 ? recordPieces(record) : unpackedStream(file, true));
    await rename(files.newData, files.data);
    await syncFolder(folder.path);
    await rm(files.compressed);
    await rm(files.members, { force: true });
    return true;
  } catch (error) {
    await rm(files.newData, { force: true });
    throw diskError(error);
  } finally {
    await file.close();
  }
}

async function openNew(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  return await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, fileMode);
}

async function writePieces(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const file = await openNew(path);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Whether the compressed file exists with all bytes of the plain one. */
async function isCompressed(files: RecordFiles, data: FileHandle): Promise<boolean> {
  const file = await openPlain(files.compressed).catch(() => null);
  if (file === null) return false;
  try {
    const members = await readMembers(files.members, file);
    return blockEnd(members.at(-1)) === (await data.stat()).size && (await matches(members, data));
  } finally {
    await file.close();
  }
}

/** Comparing the last rows suffices: nothing else is ever partially written. */
async function matches(members: readonly GzipMember[], data: FileHandle): Promise<boolean> {
  const last = members.at(-1);
  return last !== undefined && (await readBlock(data, last)).sound;
}

async function writeCompressed(files: RecordFiles, data: FileHandle): Promise<void> {
  const blocks = await finishedIndex(files, data);
  const packed = await openNew(files.newCompressed);
  try {
    const index = await openNew(files.newMembers);
    try {
      await writeMembers(packed, index, data, blocks);
    } finally {
      await index.close();
    }
  } finally {
    await packed.close();
  }
  // The index first: the compressed file never exists without it.
  await rename(files.newMembers, files.members);
  await rename(files.newCompressed, files.compressed);
  await syncFolder(dirname(files.compressed));
}

async function writeMembers(
  packed: FileHandle,
  index: FileHandle,
  data: FileHandle,
  blocks: readonly Block[],
): Promise<void> {
  let at = 0;
  let indexEnd = 0;
  for (const [number, block] of blocks.entries()) {
    const { bytes, sound } = await readBlock(data, block);
    if (!sound) throw new Error(`block ${number + 1} of the record is damaged`);
    for (const part of number === blocks.length - 1 ? withoutSummary(block, bytes) : [{ block, bytes }]) {
      const member = await pack(part.bytes);
      await writeFully(packed, member, at);
      const line = Buffer.from(memberLine({ ...part.block, at, size: member.length }));
      await writeFully(index, line, indexEnd);
      at += member.length;
      indexEnd += line.length;
    }
  }
  await packed.sync();
  await index.sync();
}

/** Splits the last block: its rows, and the summary alone, which is read most often. */
function withoutSummary(block: Block, bytes: Buffer): { block: Block; bytes: Buffer }[] {
  const cut = bytes.lastIndexOf(newLine, bytes.length - 2) + 1;
  const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].filter((part) => part.length > 0);
  let { offset, first_row } = block;
  return parts.map((part) => {
    const rows = [...linesOf(part)].length;
    const described = { offset, length: part.length, first_row, rows, crc32: crc32(part) };
    offset = blockEnd(described);
    first_row = blockLastRow(described) + 1;
    return { block: described, bytes: part };
  });
}
