import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeFileAtomic } from '../atomic-file.ts';
import {
  type Block,
  blockEnd,
  blockLastRow,
  indexLine,
  linesOf,
  type RecordFiles,
  readBlock,
  readIndex,
  wholeLines,
} from './record-files.ts';

/** The blocks that survived a crash: it can only tear the end, so the last valid block decides. */
export async function soundBlocks(data: FileHandle, blocks: readonly Block[]): Promise<Block[]> {
  for (let count = blocks.length; count > 0; count--) {
    const { sound } = await readBlock(data, blocks[count - 1] as Block);
    if (sound) return blocks.slice(0, count);
  }
  return [];
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
