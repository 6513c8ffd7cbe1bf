import { invalidRequest, PortolanError } from '../domain/errors.ts';
import type { Scan } from '../domain/scan.ts';
import { mergedRows } from '../workspace/record-reader.ts';
import { resultHead } from '../workspace/render/result-head.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { looksForVulnerabilities } from './plan-scan.ts';
import { streamResults, summaryOf } from './stream-results.ts';

/** The formats of an export: media type and extension of its file. */
export const exportFormats = {
  json: { mediaType: 'application/json', extension: 'json' },
  jsonl: { mediaType: 'application/x-ndjson', extension: 'jsonl' },
  csv: { mediaType: 'text/csv; charset=utf-8', extension: 'csv' },
  html: { mediaType: 'text/html; charset=utf-8', extension: 'html' },
  nmap: { mediaType: 'application/xml', extension: 'xml' },
  sarif: { mediaType: 'application/sarif+json', extension: 'sarif' },
  'tar.gz': { mediaType: 'application/gzip', extension: 'tar.gz' },
} as const;

export type ExportFormat = keyof typeof exportFormats;

/** Other words for formats. */
const aliases: Record<string, ExportFormat> = { artifacts: 'tar.gz' };

/** Known, but absent from this build. */
const laterFormats = ['pdf'];

/** @throws PortolanError `not_implemented` or `invalid_request`, listing the formats */
export function exportFormatOf(text: string): ExportFormat {
  if (Object.hasOwn(exportFormats, text)) return text as ExportFormat;
  const meant = Object.hasOwn(aliases, text) ? aliases[text] : undefined;
  if (meant) return meant;
  if (laterFormats.includes(text))
    throw new PortolanError('not_implemented', `This build cannot export ${text}.`, { format: text });
  const known = [...Object.keys(exportFormats), ...Object.keys(aliases), ...laterFormats];
  const reason = `must be one of ${known.join(', ')}`;
  throw invalidRequest(`format ${reason}`, [{ field: 'format', reason }]);
}

/**
 * A scan as the bytes or text of one file, read while it is written out, whatever its size. An unfinished scan gives
 * what is there; a scan that is deleted meanwhile what was read. `json` is the object that the API sends as `data`.
 *
 * @param signal ends the reading with its reason, also while there is nothing to hand on for long
 */
export async function exportScan(
  scan: Scan,
  folder: ScanFolder,
  format: ExportFormat,
  signal: AbortSignal = new AbortController().signal,
): Promise<AsyncIterable<string> | AsyncIterable<Uint8Array>> {
  const rows = () => abortable(mergedRows(folder), signal);
  switch (format) {
    case 'tar.gz': {
      const { archiveScan } = await import('../workspace/render/archive.ts');
      return archiveScan(folder);
    }
    case 'html': {
      const { renderHtml } = await import('../workspace/render/html.ts');
      return renderHtml(await reportHead(scan, folder), rows);
    }
    case 'nmap': {
      const { renderNmapXml } = await import('../workspace/render/nmap-xml.ts');
      return renderNmapXml(await reportHead(scan, folder), rows());
    }
    case 'sarif': {
      const { renderSarif } = await import('../workspace/render/sarif.ts');
      return renderSarif(await reportHead(scan, folder), rows());
    }
    default:
      return await streamResults(scan, folder, format);
  }
}

async function reportHead(scan: Scan, folder: ScanFolder) {
  const head = resultHead(await summaryOf(scan, folder), scan);
  const evaluated = looksForVulnerabilities(scan.vuln, scan.warnings);
  return { ...head, title: scan.name, failure: scan.error?.message ?? null, evaluated };
}

/**
 * Items that end, and let go of their source, once the signal is aborted. An asynchronous generator that reads them is
 * otherwise told to end only when it has something to give.
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
