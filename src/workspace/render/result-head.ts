import type { SummaryRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';

/** What a rendering says beside the rows. */
export interface ResultHead {
  scan_id: string;
  timestamp: string;
  status: string;
  /** The scan is not finished or did not reach everything. */
  partial: boolean;
  targets: string[];
  summary: Omit<SummaryRow, 'type' | 'timestamp' | 'host' | 'scan_id' | 'status' | 'partial'>;
  warnings: ScanWarning[];
}

/** The head that a summary row and the scan it belongs to make. */
export function resultHead(
  row: SummaryRow,
  scan: { targets: string[]; warnings: ScanWarning[] },
): ResultHead {
  const { type: _type, timestamp, host: _host, scan_id, status, partial, ...summary } = row;
  return { scan_id, timestamp, status, partial, targets: scan.targets, summary, warnings: scan.warnings };
}
