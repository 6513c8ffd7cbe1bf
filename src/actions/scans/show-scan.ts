import { PortolanError } from '../../domain/errors.ts';
import { type Scan, scanIdPattern } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';

/** The details of a scan. @throws PortolanError `not_found`; a malformed ID never reaches the store */
export async function showScan(store: Store, scanId: string): Promise<Scan> {
  const scan = scanIdPattern.test(scanId) ? await store.scans.get(scanId) : null;
  if (scan === null) throw noSuchScan();
  return scan;
}

export function noSuchScan(): PortolanError {
  return new PortolanError('not_found', 'There is no such scan.');
}
