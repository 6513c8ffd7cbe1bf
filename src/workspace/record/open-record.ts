import { type FileHandle, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNoPlainFile, isPlainFolder, openIfThere } from '../plain-file.ts';
import { type RecordFiles, readSummaryLine, wholeLines } from './record-files.ts';
import { type GzipMember, lastLine, readMembers, unpackedPieces } from './record-members.ts';

/** A record opened for reading: its data file and an index of its valid bytes. */
export interface OpenRecord {
  file: FileHandle;
  /** The summary line if the record is finished. */
  summaryLine: string | null;
  /** Null for an uncompressed file; the members of a compressed one, none if their index is damaged. */
  members: readonly GzipMember[] | null;
}

/** Whether the record takes no more rows. A compressed one never does, even if damage removed its summary. */
export function isFinished({ summaryLine, members }: OpenRecord): boolean {
  return summaryLine !== null || members !== null;
}

/** Null if nothing was recorded yet, or if its path is not a regular file. */
export async function openRecordFile(files: RecordFiles): Promise<OpenRecord | null> {
  if (!(await isPlainFolder(dirname(files.data)))) return null;
  // Compression puts the new file in place before it removes the plain one, so one of them is found.
  return (await openUncompressed(files)) ?? (await openCompressed(files));
}

async function openUncompressed(files: RecordFiles): Promise<OpenRecord | null> {
  const file = await openOrNull(files.data);
  return (
    file &&
    (await orClosed(file, async () => ({ file, summaryLine: await readSummaryLine(file), members: null })))
  );
}

async function openCompressed(files: RecordFiles): Promise<OpenRecord | null> {
  const file = await openOrNull(files.compressed);
  return file && (await orClosed(file, () => describeCompressed(files, file)));
}

async function describeCompressed(files: RecordFiles, file: FileHandle): Promise<OpenRecord> {
  const members = await readMembers(files.members, file);
  const line = await lastLine(file, members);
  return { file, summaryLine: line?.startsWith('{"type":"summary",') ? line : null, members };
}

async function openOrNull(path: string): Promise<FileHandle | null> {
  try {
    return await openIfThere(path);
  } catch (error) {
    if (isNoPlainFile(error)) return null;
    throw error;
  }
}

/** Closes the file if `work` fails. */
async function orClosed<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A finished record from its start in chunks of complete lines; skips unreadable parts. */
export function recordPieces({ file, members }: OpenRecord): AsyncGenerator<Buffer> {
  return members === null ? wholeLines(file) : unpackedPieces(file, members);
}

/**
 * Whether the path still points to the open file. Finishing renames the data file before the index, so an index read
 * before a `true` belongs to the open file.
 */
export async function isCurrent(files: RecordFiles, record: OpenRecord): Promise<boolean> {
  const [opened, named] = await Promise.all([record.file.stat(), stat(files.data).catch(() => null)]);
  return named !== null && opened.ino === named.ino && opened.dev === named.dev;
}
