import { PortolanError } from '../domain/errors.ts';
import { writeCheckpointBytes } from '../workspace/record/checkpoint.ts';
import { linesOf } from '../workspace/record/record-files.ts';
import { openRecord } from '../workspace/record/record-writer.ts';
import { parseRow } from '../workspace/record/row-line.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ShardHome } from './shard-home.ts';

/**
 * Writes the rows of earlier attempts at a shard into the folder of a new one, which then resumes like an interrupted
 * scan.
 *
 * @param folder without a record
 * @returns number of rows written, which is what the owner has
 * @throws PortolanError
 */
export async function writeEarlierRows(folder: ScanFolder, home: ShardHome): Promise<number> {
  // The checkpoint first: rows newer than the checkpoint do no harm, missing ones would.
  const checkpoint = await home.checkpoint();
  const record = await openRecord(folder);
  try {
    for await (const line of wholeLines(await home.rows())) {
      const row = parseRow(line);
      if (row === null || row.type === 'summary')
        throw new PortolanError('network', 'the owner server of the scan sent an invalid row');
      await record.append(row);
    }
    if (record.rows > 0) await record.seal();
    if (checkpoint) await writeCheckpointBytes(folder, checkpoint);
    return record.rows;
  } finally {
    await record.close();
  }
}

async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    let end = 0;
    for (const line of linesOf(bytes)) {
      yield bytes.toString('utf8', line.start, line.end);
      end = line.end + 1;
    }
    rest = bytes.subarray(end);
  }
  if (rest.length > 0)
    throw new PortolanError('network', 'the rows of the owner server end in the middle of one');
}
