import { PortolanError } from '../../domain/errors.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';

/** Null for a record without it, and for a damaged one: results can do without. */
export async function storedRequest(record: Pick<ScanRecord, 'request'>): Promise<ScanRequest | null> {
  try {
    return await record.request();
  } catch (error) {
    if (error instanceof PortolanError) return null;
    throw error;
  }
}
