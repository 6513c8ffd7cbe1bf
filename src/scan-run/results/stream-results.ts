import { PortolanError } from '../../domain/errors.ts';
import { countsAs } from '../../domain/finding-order.ts';
import { doubtOf, isOpen, type ResultRow, type UnidentifiedCounts } from '../../domain/result.ts';
import type { Scan } from '../../domain/scan.ts';
import { renderCsv } from '../../workspace/render/csv.ts';
import { renderJson } from '../../workspace/render/json.ts';
import { renderJsonl } from '../../workspace/render/jsonl.ts';
import { resultHead } from '../../workspace/render/result-head.ts';
import type { OpenResults } from './open-results.ts';

export const resultFormats = ['json', 'jsonl', 'csv'] as const;
export type ResultFormat = (typeof resultFormats)[number];

/**
 * The results of a scan as text, streamed whatever their size. An unfinished scan returns its results so far, marked
 * as partial, and so does a damaged record. `json` is the object that the API returns as `data`.
 * @throws PortolanError `internal_error` for a damaged record as CSV, which cannot express that
 */
export function streamResults(results: OpenResults, format: ResultFormat): AsyncIterable<string> {
  const { scan, summary, damage } = results;
  if (format === 'csv') {
    if (damage)
      throw new PortolanError(
        'internal_error',
        `${damage.message} The JSON export contains what is left of them.`,
      );
    return renderCsv(results.rows());
  }
  if (format === 'jsonl') return renderJsonl(results.rowsWithDamage(), summary);
  return renderJson(resultHead(summary, scan), results.rows());
}

/** Counts the rows of a record. */
export async function countRows(
  rows: AsyncIterable<ResultRow>,
): Promise<Pick<Scan, 'results' | 'severity_counts'> & { unidentified: UnidentifiedCounts }> {
  const results = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  const unidentified: UnidentifiedCounts = { timeout: 0, rate: 0, cut: 0 };
  const severity_counts = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
  for await (const row of rows) {
    if (row.type === 'host') results.live_hosts++;
    if (row.type === 'port') {
      if (isOpen(row)) results.open_ports++;
      const doubt = doubtOf(row);
      if (doubt) unidentified[doubt] = (unidentified[doubt] ?? 0) + 1;
    }
    if (row.type === 'vulnerability') {
      results.vulnerabilities++;
      severity_counts[countsAs(row.vulnerability)]++;
    }
  }
  return { results, severity_counts, unidentified };
}
