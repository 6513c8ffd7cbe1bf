import { lstat } from 'node:fs/promises';
import type { SummaryRow } from '../../domain/result.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { isFinished, type OpenRecord, openRecordFile, recordPieces } from './open-record.ts';
import { compressRecord, resolveBoth, unpackRecord } from './record-compress.ts';
import { blockEnd, linesOf, type RecordFiles, readBlock, readIndex, recordFiles } from './record-files.ts';
import { readMember } from './record-members.ts';
import { finishedIndex } from './record-recovery.ts';
import { openRecord } from './record-writer.ts';
import { parseRow } from './row-line.ts';

/**
 * Damage of the record of a finished scan: `missing`; `torn`, its end is lost; `twice`, a replacement by the
 * compressed form was interrupted; `index`, the index of its rows is lost; `damaged`, some rows are unreadable.
 */
export type RecordFault = 'missing' | 'torn' | 'twice' | 'index' | 'damaged';

/** Verifies every byte of the record; changes nothing. */
export async function recordFaults(folder: ScanFolder): Promise<RecordFault[]> {
  const files = recordFiles(folder.path);
  const record = await openRecordFile(files);
  if (record === null) return ['missing'];
  try {
    const faults: RecordFault[] = [];
    if (record.members === null && (await isThere(files.compressed))) faults.push('twice');
    if (record.summaryLine === null) faults.push('torn');
    else if (!(await hasIndex(files, record))) faults.push('index');
    if (!(await isSound(files, record))) faults.push('damaged');
    return faults;
  } finally {
    await record.file.close();
  }
}

async function hasIndex(files: RecordFiles, record: OpenRecord): Promise<boolean> {
  if (record.members !== null) return record.members.length > 0;
  const { size } = await record.file.stat();
  return blockEnd((await readIndex(files.index)).at(-1)) === size;
}

/** By the checksums of the index, or without it by reading every row. */
async function isSound(files: RecordFiles, record: OpenRecord): Promise<boolean> {
  const { file, members } = record;
  if (members !== null && members.length > 0) {
    for (const member of members) if ((await readMember(file, member)) === null) return false;
    return true;
  }
  if (isFinished(record) && members === null && (await hasIndex(files, record))) {
    for (const block of await readIndex(files.index)) if (!(await readBlock(file, block)).sound) return false;
    return true;
  }
  return await hasReadableRows(record);
}

async function hasReadableRows(record: OpenRecord): Promise<boolean> {
  for await (const bytes of recordPieces(record)) {
    for (const { start, end } of linesOf(bytes)) {
      if (parseRow(bytes.toString('utf8', start, end)) === null) return false;
    }
  }
  return true;
}

/**
 * Repairs what can be repaired without losing a readable row: merges two forms into one, rebuilds the index, and ends
 * a torn record after its last complete row with the given summary.
 */
export async function repairRecord(
  folder: ScanFolder,
  fault: RecordFault,
  summary: SummaryRow,
): Promise<void> {
  if (fault === 'twice') await resolveBoth(folder);
  if (fault === 'index') await repairIndex(folder);
  if (fault === 'torn') await endTorn(folder, summary);
}

async function repairIndex(folder: ScanFolder): Promise<void> {
  const files = recordFiles(folder.path);
  const record = await openRecordFile(files);
  if (record === null) return;
  try {
    if (record.members === null) await finishedIndex(files, record.file);
  } finally {
    await record.file.close();
  }
  if (await unpackRecord(folder)) await compressRecord(folder);
}

async function endTorn(folder: ScanFolder, summary: SummaryRow): Promise<void> {
  const files = recordFiles(folder.path);
  // A compressed record is unpacked into a plain one, whose end can be repaired.
  const compressed = await unpackRecord(folder);
  const record = await openRecordFile(files);
  if (record === null || record.members !== null) return await record?.file.close();
  try {
    // Complete rows count even if they were never sealed, or their block lost its end.
    await finishedIndex(files, record.file);
  } finally {
    await record.file.close();
  }
  const writer = await openRecord(folder);
  try {
    if (!writer.finished) await writer.finish(summary);
  } finally {
    await writer.close();
  }
  if (compressed) await compressRecord(folder);
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
