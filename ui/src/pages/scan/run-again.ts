import { searchText } from '../../url/search-text.ts';
import type { Scan } from './use-scan.ts';

/** The last step of the wizard, filled with what this scan was submitted with. */
export function runAgainPath({ scan_id }: Pick<Scan, 'scan_id'>): string {
  return `/scans/new/review${searchText({ from: scan_id })}`;
}

/** A new job, filled with what this scan was submitted with. */
export function schedulePath({ scan_id }: Pick<Scan, 'scan_id'>): string {
  return `/jobs/new${searchText({ from: scan_id })}`;
}
