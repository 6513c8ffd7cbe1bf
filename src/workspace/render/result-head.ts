import type { SummaryRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';

/** Head of a rendering, besides the rows. */
export interface ResultHead {
  scan_id: string;
  timestamp: string;
  status: string;
  /** The scan is unfinished or incomplete. */
  partial: boolean;
  targets: string[];
  summary: Omit<SummaryRow, 'type' | 'timestamp' | 'host' | 'scan_id' | 'status' | 'partial'>;
  warnings: ScanWarning[];
}

/** The head from a summary row and its scan. */
export function resultHead(
  row: SummaryRow,
  scan: { targets: string[]; warnings: ScanWarning[] },
): ResultHead {
  const { type: _type, timestamp, host: _host, scan_id, status, partial, ...summary } = row;
  return { scan_id, timestamp, status, partial, targets: scan.targets, summary, warnings: scan.warnings };
}
