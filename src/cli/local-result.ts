import { provisionalSummary, streamResults } from '../actions/stream-results.ts';
import type { Scan } from '../domain/scan.ts';
import { mergedRows, recordSummary } from '../workspace/record-reader.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ResultFormat } from './output.ts';
import { csvSafe, jsonSafe } from './printable.ts';
import { renderTable, type TableStyle } from './result-table.ts';

/** The results of a scan on this machine in the asked format, safe to print. */
export async function* renderResult(
  format: ResultFormat,
  folder: ScanFolder,
  scan: Scan,
  style: TableStyle,
): AsyncIterable<string> {
  if (format === 'text') {
    const summary = (await recordSummary(folder)) ?? provisionalSummary(scan);
    yield* renderTable(mergedRows(folder), summary, style);
  } else {
    yield* makeSafe(format, await streamResults(scan, folder, format));
  }
}

/** Results as the API sends them, with every control character escaped or visible, and a line end at the end. */
export async function* makeSafe(
  format: Exclude<ResultFormat, 'text'>,
  chunks: AsyncIterable<string>,
): AsyncIterable<string> {
  const safe = format === 'csv' ? csvSafe : jsonSafe;
  let last = '\n';
  for await (const chunk of chunks) {
    if (chunk === '') continue;
    yield safe(chunk);
    last = chunk;
  }
  if (!last.endsWith('\n')) yield '\n';
}
