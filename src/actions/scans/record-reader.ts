import type { RecordPosition, ScanEvent } from './watch-scan.ts';

/** A scan that is being followed. */
export interface FollowedRecord {
  /**
   * Events up to and with `end`; read once. They stop without `end` when the scan is deleted, or on abort.
   * @throws PortolanError `unavailable` when the server that has the record goes away
   */
  readonly events: AsyncIterable<ScanEvent>;
  /** Releases the record. Idempotent. */
  close(): void;
}

/** The one way to follow records and events of scans, wherever they lie: here, in a result store, on another server. */
export interface RecordReader {
  /**
   * Follows a scan; the caller must close the result.
   * @throws PortolanError `not_found`, `unavailable`
   */
  follow(scanId: string, from: RecordPosition, signal: AbortSignal): Promise<FollowedRecord>;
}
