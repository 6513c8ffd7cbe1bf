import type { ReportWishes } from '../../actions/results/report-order.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { onlyOpen } from '../../scan-run/results/only-open.ts';
import { type Client, unexpected } from '../session/client.ts';
import { readLines } from '../session/event-stream.ts';
import { rowShape } from '../session/row-shapes.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { unwrapData } from './envelope.ts';
import { makeSafe, portListOf } from './local-result.ts';
import { renderTable, type TableOptions } from './result-table.ts';

/** Results of a scan on a server in the requested format, streamed. */
export async function* fetchResult(
  client: Client,
  { scan_id }: Pick<Scan, 'scan_id'>,
  format: OutputFormat,
  style: TerminalStyle,
  wishes: ReportWishes = {},
  table: TableOptions = {},
  isOpenOnly = false,
): AsyncIterable<string | Uint8Array> {
  const path = `${scanPath(scan_id)}/results`;
  const results = (form: string) => client.download(`${path}?format=${form}`);
  const rows = async () => {
    const all = readRows(await results('jsonl'));
    return isOpenOnly ? onlyOpen(all) : all;
  };
  switch (format) {
    case 'text':
      return yield* renderTable(await rows(), null, style, table);
    case 'json':
    case 'yaml':
      return yield* makeSafe(format, unwrapData(await results('json')));
    case 'jsonl':
    case 'csv':
      return yield* makeSafe(format, await results(format));
    case 'hostport':
    case 'list':
      return yield* portListOf(format, readRows(await results('jsonl')));
    case 'grepable': {
      const { renderNmapGrepable } = await import('../../workspace/render/nmap-grepable.ts');
      return yield* renderNmapGrepable(await rows(), null);
    }
    case 'pdf':
      return yield* await client.downloadBytes(exportPath(scan_id, format, wishes));
    default:
      yield* makeSafe(format, await client.download(exportPath(scan_id, format, wishes)));
  }
}

/** Rows of a scan on a server, in the order of its record, the summary last. */
export async function fetchRows(client: Client, scanId: string): Promise<AsyncIterable<ResultRow>> {
  return readRows(await client.download(`${scanPath(scanId)}/results?format=jsonl`));
}

/** The folder of a scan on a server, as tar.gz. */
export async function* fetchArchive(client: Client, scanId: string): AsyncIterable<Uint8Array> {
  yield* await client.downloadBytes(exportPath(scanId, 'tar.gz'));
}

/** Path of a scan in the API. */
export function scanPath(scanId: string): string {
  return `/api/v1/scans/${encodeURIComponent(scanId)}`;
}

function exportPath(scanId: string, format: string, wishes: ReportWishes = {}): string {
  const query = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(wishes)) if (value !== undefined) query.set(name, String(value));
  return `/api/v1/workspace/scans/${encodeURIComponent(scanId)}/export?${query}`;
}

/** Rows of JSON Lines. @throws PortolanError `network` for anything else */
export async function* readRows(chunks: AsyncIterable<string>): AsyncIterable<ResultRow> {
  for await (const line of readLines(chunks)) {
    if (line === '') continue;
    const row = parsed(line);
    const problem = rowShape(row, 'a row');
    if (problem !== null) throw unexpected(`the server: ${problem}`);
    yield row as ResultRow;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new PortolanError(
      'network',
      'the server sent a result that is not JSON Lines, or the connection broke',
    );
  }
}
