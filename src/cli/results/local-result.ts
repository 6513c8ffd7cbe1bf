import type { ReportOrder } from '../../actions/results/export-report.ts';
import type { ResultRow } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { type OpenResults, openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { jsonSafe, linesSafe } from '../terminal/draw/printable.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import type { OutputFormat } from '../terminal/output.ts';
import type { TableOptions } from './result-table.ts';

/** The results of a local scan in the requested format, safe to print. */
export async function* renderResult(
  format: OutputFormat,
  record: ScanRecord,
  scan: Scan,
  style: TerminalStyle,
  observer: RecordObserver,
  order: ReportOrder | null = null,
  table: TableOptions = {},
  onlyOpen = false,
): AsyncIterable<string | Uint8Array> {
  if (format === 'text') {
    const { renderTable } = await import('./result-table.ts');
    const results = await openResults(scan, record, observer);
    if (onlyOpen) await narrowToOpen(results);
    try {
      yield* renderTable(results.rowsWithDamage(), results.summary, style, { scan, ...table });
    } finally {
      await results.close();
    }
  } else if (isPortList(format)) {
    const results = await openResults(scan, record, observer);
    try {
      yield* portListOf(format, results.rows());
    } finally {
      await results.close();
    }
  } else if (format === 'grepable') {
    const { renderNmapGrepable } = await import('../../workspace/render/nmap-grepable.ts');
    const results = await openResults(scan, record, observer);
    if (onlyOpen) await narrowToOpen(results);
    try {
      yield* renderNmapGrepable(results.rowsWithDamage(), results.summary);
    } finally {
      await results.close();
    }
  } else {
    const { exportScan } = await import('../../actions/results/export-scan.ts');
    const options = { ...(order !== null && { order }), onlyOpen };
    const content = await exportScan(scan, record, format === 'yaml' ? 'json' : format, observer, options);
    if (format === 'pdf') yield* content;
    else yield* makeSafe(format, content as AsyncIterable<string>);
  }
}

type PortList = 'hostport' | 'list';

export function isPortList(format: OutputFormat): format is PortList {
  return format === 'hostport' || format === 'list';
}

/** Open ports in a format of the command line alone. */
export async function* portListOf(format: PortList, rows: AsyncIterable<ResultRow>): AsyncIterable<string> {
  const { renderHostPorts, renderPortList } = await import('../../workspace/render/port-lists.ts');
  const lines = format === 'hostport' ? renderHostPorts(rows) : renderPortList(rows);
  for await (const line of lines) yield linesSafe(line);
}

/**
 * Results as the API sends them, with every control character escaped or visible, and a trailing line break. YAML is
 * converted from JSON.
 */
export async function* makeSafe(
  format: Exclude<OutputFormat, 'text' | 'grepable' | PortList>,
  chunks: AsyncIterable<string>,
): AsyncIterable<string> {
  const isJson = format === 'json' || format === 'jsonl' || format === 'sarif';
  const safe = isJson ? jsonSafe : linesSafe;
  let last = '\n';
  for await (const chunk of format === 'yaml' ? asYaml(chunks) : chunks) {
    if (chunk === '') continue;
    yield safe(chunk);
    last = chunk;
  }
  if (!last.endsWith('\n')) yield '\n';
}

async function narrowToOpen(results: OpenResults): Promise<void> {
  const { onlyOpen } = await import('../../scan-run/results/only-open.ts');
  results.narrow(onlyOpen);
}

async function* asYaml(json: AsyncIterable<string>): AsyncIterable<string> {
  const { yamlOfJson } = await import('./yaml-text.ts');
  yield* yamlOfJson(json);
}
