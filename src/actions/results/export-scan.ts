import { invalidRequest } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import { isReportFormat } from '../../report/render-report.ts';
import { evaluatesVulnerabilities } from '../../scan-run/plan/plan-scan.ts';
import { type OpenResults, openResults, type RecordObserver } from '../../scan-run/results/open-results.ts';
import { type ResultFormat, resultFormats, streamResults } from '../../scan-run/results/stream-results.ts';
import type { License } from '../../workspace/license/read-license.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { resultHead } from '../../workspace/render/result-head.ts';
import type { ReportExport } from './export-report.ts';
import { storedRequest } from './stored-request.ts';

/** Export formats: media type and file extension. */
export const exportFormats = {
  json: { mediaType: 'application/json', extension: 'json' },
  jsonl: { mediaType: 'application/x-ndjson', extension: 'jsonl' },
  csv: { mediaType: 'text/csv; charset=utf-8', extension: 'csv' },
  html: { mediaType: 'text/html; charset=utf-8', extension: 'html' },
  pdf: { mediaType: 'application/pdf', extension: 'pdf' },
  markdown: { mediaType: 'text/markdown; charset=utf-8', extension: 'md' },
  nmap: { mediaType: 'application/xml', extension: 'xml' },
  sarif: { mediaType: 'application/sarif+json', extension: 'sarif' },
  'tar.gz': { mediaType: 'application/gzip', extension: 'tar.gz' },
} as const;

export type ExportFormat = keyof typeof exportFormats;

/** Aliases of formats. */
const aliases: Record<string, ExportFormat> = { artifacts: 'tar.gz' };

/** @throws PortolanError `license_required`, or `invalid_request`, listing the formats */
export function exportFormatOf(text: string, license: Pick<License, 'demand'>): ExportFormat {
  requireFormatLicense(text, license);
  if (Object.hasOwn(exportFormats, text)) return text as ExportFormat;
  const meant = Object.hasOwn(aliases, text) ? aliases[text] : undefined;
  if (meant) return meant;
  const known = [...Object.keys(exportFormats), ...Object.keys(aliases)];
  const reason = `must be one of ${known.join(', ')}`;
  throw invalidRequest(`format ${reason}`, [{ field: 'format', reason }]);
}

export interface ExportOptions extends Omit<ReportExport, 'format'> {
  /** Aborts the reading with its reason, even while there is no output for long. */
  signal?: AbortSignal | undefined;
  /** Only hosts that have an open port. */
  onlyOpen?: boolean;
}

/**
 * A scan as the bytes or text of one file, streamed, of any size. An unfinished scan and a damaged record return
 * their results so far, marked as partial; a scan deleted meanwhile what was read. `json` is the object that the API
 * returns as `data`.
 * @throws PortolanError `not_found` for a scan that is deleted meanwhile, `internal_error` for a damaged record as
 * CSV. The rows of a large unverified record fail with that error at the first damage; from then on the damage is
 * known.
 */
export async function exportScan(
  scan: Scan,
  record: ScanRecord,
  format: ExportFormat,
  observer: RecordObserver,
  options: ExportOptions = {},
): Promise<AsyncIterable<string | Uint8Array>> {
  const { signal = new AbortController().signal } = options;
  // Rows are streamed at once; reports and raw files are verified first.
  const verification = isResultFormat(format) ? 'while-reading' : 'first';
  const results = await openResults(scan, record, observer, verification);
  if (options.onlyOpen) {
    const { onlyOpen } = await import('../../scan-run/results/only-open.ts');
    results.narrow(onlyOpen);
  }
  try {
    const content = await contentOf(results, record, format, options, signal);
    return closedAtEnd(content, results, signal);
  } catch (error) {
    await results.close();
    throw error;
  }
}

/** @throws PortolanError `license_required` */
export function requireFormatLicense(format: string, license: Pick<License, 'demand'>): void {
  if (format === 'pdf') license.demand('pdf_reporter');
}

function isResultFormat(format: ExportFormat): format is ResultFormat {
  return (resultFormats as readonly string[]).includes(format);
}

async function contentOf(
  results: OpenResults,
  record: ScanRecord,
  format: ExportFormat,
  options: ExportOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<string | Uint8Array>> {
  const rows = () => abortable(results.rows(), signal);
  if (isReportFormat(format)) {
    const { exportReport } = await import('./export-report.ts');
    return await exportReport(results, record, rows, { ...options, format }, signal);
  }
  switch (format) {
    case 'tar.gz':
      return await record.archive(damageNote(results));
    case 'nmap': {
      const { renderNmapXml } = await import('../../workspace/render/nmap-xml.ts');
      const { repeatCommand } = await import('../../report/model/methods/repeat-command.ts');
      const request = await storedRequest(record);
      const command = request && repeatCommand(request);
      return renderNmapXml(reportHead(results), rows(), { command, stages: results.scan.stages });
    }
    case 'sarif': {
      const { renderSarif } = await import('../../workspace/render/sarif.ts');
      return renderSarif(reportHead(results), rows());
    }
    default:
      return streamResults(results, format);
  }
}

function reportHead({ scan, summary }: OpenResults) {
  const head = resultHead(summary, scan);
  const evaluated = evaluatesVulnerabilities(scan.vuln, scan.warnings);
  return { ...head, title: scan.name, failure: scan.error?.message ?? null, evaluated };
}

/** Damage note of an archive; null for an intact record. */
function damageNote({ scan, damage }: OpenResults): string | null {
  if (damage === null) return null;
  return `${JSON.stringify({ scan_id: scan.scan_id, partial: true, warnings: [damage] }, null, 2)}\n`;
}

/** Closes the results when the content ends, or if nobody starts to read it. */
function closedAtEnd<T>(
  content: AsyncIterable<T>,
  results: OpenResults,
  signal: AbortSignal,
): AsyncIterable<T> {
  let begun = false;
  const abandoned = () => {
    if (!begun) void results.close();
  };
  if (signal.aborted) abandoned();
  else signal.addEventListener('abort', abandoned, { once: true });
  async function* items(): AsyncGenerator<T> {
    begun = true;
    try {
      yield* content;
    } finally {
      await results.close();
    }
  }
  return items();
}

/**
 * Items that end, and close their source, once the signal is aborted. An asynchronous generator that reads them would
 * otherwise notice only at its next item.
 */
function abortable<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  const end = async (): Promise<IteratorResult<T>> =>
    (await iterator.return?.()) ?? { done: true, value: undefined };
  const next = async () => {
    if (!signal.aborted) return await iterator.next();
    await end();
    throw signal.reason;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}
