import { PortolanError } from '../domain/errors.ts';
import { writeCheckpointBytes } from '../workspace/record/checkpoint.ts';
import { linesOf } from '../workspace/record/record-files.ts';
import { openRecord } from '../workspace/record/record-writer.ts';
import { parseRow } from '../workspace/record/row-line.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ShardHome } from './shard-home.ts';

/**
 * Lays what earlier attempts at a shard found into the folder of a new one, so that it goes on like a scan after an
 * interruption.
 *
 * @param folder holds no record yet
 * @returns rows that it begins with, as many as the home has
 * @throws PortolanError
 */
export async function writeEarlierRows(folder: ScanFolder, home: ShardHome): Promise<number> {
  // The checkpoint first: rows that come after it was taken do no harm, missing ones would.
  const checkpoint = await home.checkpoint();
  const record = await openRecord(folder);
  try {
    for await (const line of wholeLines(await home.rows())) {
      const row = parseRow(line);
      if (row === null || row.type === 'summary')
        throw new PortolanError('network', 'the home of the scan sent what is no row');
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
  if (rest.length > 0) throw new PortolanError('network', 'the rows of the home end in the middle of one');
}
