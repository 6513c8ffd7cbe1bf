import { isOpen, type ResultRow } from '../../domain/result.ts';

/**
 * The rows without ports that are not open and hosts that have no open one. `rows` are in the order of `RecordView.rows`; the rows of one host up to
 * its first open port lie in memory.
 */
export async function* onlyOpen(rows: AsyncIterable<ResultRow>): AsyncGenerator<ResultRow> {
  let host: string | null = null;
  let waiting: ResultRow[] = [];
  for await (const row of rows) {
    if (row.type === 'port' && !isOpen(row)) continue;
    const isOfHost = row.type === 'host' || row.type === 'port' || row.type === 'vulnerability';
    if (!isOfHost) {
      waiting = [];
      host = null;
      yield row;
      continue;
    }
    if (row.host !== host) {
      host = row.host;
      waiting = row.type === 'port' ? [] : [row];
      if (row.type === 'port') yield row;
      else continue;
    } else if (row.type === 'port') {
      yield* waiting;
      waiting = [];
      yield row;
    } else if (waiting.length > 0) waiting.push(row);
    else yield row;
  }
}
