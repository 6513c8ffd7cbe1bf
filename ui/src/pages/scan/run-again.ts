import { searchText } from '../../url/search-text.ts';
import type { Scan } from './use-scan.ts';

/** The wizard, filled with what this scan was submitted with. */
export function runAgainPath({ scan_id }: Pick<Scan, 'scan_id'>): string {
  return `/scans/new${searchText({ from: scan_id })}`;
}
