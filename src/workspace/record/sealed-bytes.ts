import { dirname } from 'node:path';
import { openRecordFile } from './open-record.ts';
import { blockEnd, readIndex, recordFiles } from './record-files.ts';

/** Valid size of a growing record, bytes; `Infinity` for any other file: all of it is valid. */
export async function sealedBytes(path: string): Promise<number> {
  const files = recordFiles(dirname(path));
  if (path !== files.data) return Number.POSITIVE_INFINITY;
  const record = await openRecordFile(files);
  if (record === null) return Number.POSITIVE_INFINITY;
  await record.file.close();
  return record.summaryLine === null
    ? blockEnd((await readIndex(files.index)).at(-1))
    : Number.POSITIVE_INFINITY;
}
