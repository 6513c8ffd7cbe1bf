import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SummaryRow } from '../../domain/result.ts';
import { diskError, fileMode, syncFolder } from '../atomic-file.ts';
import { BlockBuffer, BlockWriter } from './block-writer.ts';
import { type Block, blockLastRow, type RecordFiles } from './record-files.ts';
import { mergeRecord } from './record-merge.ts';
import { SequenceTable } from './record-sequence.ts';
import { rowLine } from './row-line.ts';

/**
 * Replaces the growing record by the finished one. Until the second step the growing record is untouched; the second
 * step finishes the record; a crash before the third leaves a stale index, which the next writer rebuilds.
 * @throws PortolanError `insufficient_storage`; the growing record is then still intact
 */
export async function finishRecord(
  files: RecordFiles,
  data: FileHandle,
  blocks: readonly Block[],
  summary: SummaryRow,
): Promise<void> {
  try {
    await writeFinished(files, data, blocks, summary);
    for (const publish of publishSteps(files)) await publish();
  } catch (error) {
    await removeUnpublished(files);
    throw diskError(error);
  }
}

/** Publishes the files of the finished record one by one. */
export function publishSteps(files: RecordFiles): (() => Promise<void>)[] {
  const publish = async (from: string, to: string) => {
    await rename(from, to);
    await syncFolder(dirname(to));
  };
  return [
    () => publish(files.newSequence, files.sequence),
    () => publish(files.newData, files.data),
    () => publish(files.newIndex, files.index),
  ];
}

export async function removeUnpublished(files: RecordFiles): Promise<void> {
  const { newData, newIndex, newSequence, newCompressed, newMembers } = files;
  for (const path of [newData, newIndex, newSequence, newCompressed, newMembers])
    await rm(path, { force: true });
}

/** Writes the finished record next to the growing one, durably. */
export async function writeFinished(
  files: RecordFiles,
  data: FileHandle,
  blocks: readonly Block[],
  summary: SummaryRow,
): Promise<void> {
  await removeUnpublished(files);
  const newData = await open(files.newData, 'wx', fileMode);
  try {
    const newIndex = await open(files.newIndex, 'wx', fileMode);
    try {
      const sequence = await writeRows(newData, newIndex, data, blocks, summary);
      await writeFile(files.newSequence, sequence.toBytes(), { mode: fileMode, flush: true, flag: 'wx' });
    } finally {
      await newIndex.close();
    }
  } finally {
    await newData.close();
  }
}

/** The summary of a record with lost rows. */
export function damagedSummary(summary: SummaryRow): SummaryRow {
  return { ...summary, partial: true, damaged: true };
}

async function writeRows(
  newData: FileHandle,
  newIndex: FileHandle,
  data: FileHandle,
  blocks: readonly Block[],
  summary: SummaryRow,
): Promise<SequenceTable> {
  const writer = new BlockWriter(newData, newIndex, undefined, 0);
  const buffer = new BlockBuffer();
  const sequence = new SequenceTable(blockLastRow(blocks.at(-1)));
  let offset = 0;
  let damaged = false;
  for await (const { row, lastRow } of mergeRecord(data, blocks, () => (damaged = true))) {
    const line = rowLine(row);
    const length = Buffer.byteLength(line);
    sequence.set({ sequence: lastRow, offset, length });
    offset += length + 1;
    buffer.add(line);
    if (buffer.isFull) await writer.write([buffer.take()]);
  }
  // Rows lost before the end would otherwise look as if they had never been found.
  buffer.add(rowLine(damaged ? damagedSummary(summary) : summary));
  await writer.write([buffer.take()]);
  await writer.sync();
  return sequence;
}
