import type { Scan } from '../../domain/scan.ts';
import type { HeldRecord } from '../../workspace/record/scan-record.ts';
import type { ScanFile } from '../../workspace/result-store/fetched-scans.ts';
import type { EventRun, RecordPosition } from './watch-scan.ts';

/** A scan that is being followed. */
export interface FollowedRecord {
  /**
   * Runs of consecutive events up to and with `end`; read once. They stop without `end` when the scan is deleted, or on abort.
   * @throws PortolanError `unavailable` when the record cannot be reached any more
   */
  readonly events: AsyncIterable<EventRun>;
  /** Releases the record. Idempotent. */
  close(): void;
}

/** Records of the scans of a tenant, to be read from their start to their end or in pages. */
export interface RecordHolder {
  /**
   * The record of a scan: from this server, the result store, or of a running one from the database.
   * @param part artifacts in a result store are only fetched with the whole scan
   * @throws PortolanError `unavailable`, `insufficient_storage`, or `internal_error` for damaged results
   */
  hold(scan: Pick<Scan, 'scan_id' | 'status'>, part?: ScanFile): Promise<HeldRecord>;
}

/** The one way to read and follow records and events of scans, wherever they lie. */
export interface RecordReader extends RecordHolder {
  /**
   * Follows a scan; the caller must close the result.
   * @throws PortolanError `not_found`, `unavailable`
   */
  follow(scanId: string, from: RecordPosition, signal: AbortSignal): Promise<FollowedRecord>;
}
