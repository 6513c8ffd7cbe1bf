import { PortolanError } from '../domain/errors.ts';
import { writeCheckpointBytes } from '../workspace/record/checkpoint.ts';
import { linesOf } from '../workspace/record/record-files.ts';
import { openRecord } from '../workspace/record/record-writer.ts';
import { parseRow } from '../workspace/record/row-line.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ShardResults } from './shard-results.ts';

/**
 * Writes the rows of earlier attempts at a shard into the folder of a new one, which then resumes like an interrupted
 * scan.
 *
 * @param folder without a record
 * @param rows of earlier attempts, as the claim says
 * @returns number of rows written, which is how many are stored
 * @throws PortolanError `unavailable` while fewer rows are stored than `rows`
 */
export async function writeEarlierRows(
  folder: ScanFolder,
  results: ShardResults,
  rows: number,
): Promise<number> {
  // The checkpoint first: rows newer than the checkpoint do no harm, missing ones would.
  const checkpoint = await results.checkpoint();
  const record = await openRecord(folder, { isDurable: false });
  try {
    for await (const piece of results.lines())
      for (const { start, end } of linesOf(piece)) {
        const row = parseRow(piece.toString('utf8', start, end));
        if (row === null || row.type === 'summary')
          throw new PortolanError('internal_error', 'The store has an invalid row of the shard.');
        await record.append(row);
      }
    if (record.rows < rows)
      throw new PortolanError('unavailable', 'The rows of earlier attempts are not in the store yet.');
    if (record.rows > 0) await record.seal();
    if (checkpoint) await writeCheckpointBytes(folder, checkpoint);
    return record.rows;
  } finally {
    await record.close();
  }
}
