import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeFileAtomic } from '../atomic-file.ts';
import {
  type Block,
  BlockMemory,
  blockEnd,
  blockLastRow,
  indexLine,
  linesOf,
  type RecordFiles,
  readBlock,
  readIndex,
  wholeLines,
} from './record-files.ts';

/**
 * The blocks that survived a crash. It can only tear the end of synced ones, so the last sound one decides; of the unsynced ones at the
 * end it may have taken any.
 */
export async function soundBlocks(data: FileHandle, blocks: readonly Block[]): Promise<Block[]> {
  const synced = blocks.findLastIndex(({ unsynced }) => !unsynced) + 1;
  const sound = await soundRun(data, blocks.slice(synced));
  if (sound > 0) return blocks.slice(0, synced + sound);
  for (let count = synced; count > 0; count--) {
    const { sound } = await readBlock(data, blocks[count - 1] as Block);
    if (sound) return blocks.slice(0, count);
  }
  return [];
}

/** Number of blocks up to the first one that is not sound. */
async function soundRun(data: FileHandle, blocks: readonly Block[]): Promise<number> {
  const memory = new BlockMemory();
  for (const [at, block] of blocks.entries())
    if (!(await readBlock(data, block, memory.for(block))).sound) return at;
  return blocks.length;
}

/**
 * The index of a finished record. A crash between the renames of data and index leaves the old one; it is then
 * rebuilt.
 */
export async function finishedIndex(files: RecordFiles, data: FileHandle): Promise<Block[]> {
  const { size } = await data.stat();
  const blocks = await readIndex(files.index);
  const fits = blockEnd(blocks.at(-1)) === size && (await soundBlocks(data, blocks)).length === blocks.length;
  if (fits) return blocks;
  const renewed = await describeLines(data);
  await writeFileAtomic(files.index, renewed.map(indexLine).join(''));
  return renewed;
}

/** Blocks for the complete lines of a file whose index is lost. */
export async function describeLines(data: FileHandle): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const bytes of wholeLines(data)) {
    const last = blocks.at(-1);
    blocks.push({
      offset: blockEnd(last),
      length: bytes.length,
      first_row: blockLastRow(last) + 1,
      rows: [...linesOf(bytes)].length,
      crc32: crc32(bytes),
    });
  }
  return blocks;
}
