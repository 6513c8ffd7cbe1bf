/**
 * The owner of a scan as the worker of one of its shards sees it. A rejection is a PortolanError `conflict` or
 * `not_found` when the lease is lost or the shard is done, `invalid_request` when the data will never be accepted;
 * everything else is worth a retry.
 */
export interface ShardHome {
  /** All rows of earlier attempts, as chunks of JSON Lines. @throws PortolanError */
  rows(): Promise<AsyncIterable<Uint8Array>>;
  /** Checkpoint of earlier attempts; null when none was saved. @throws PortolanError */
  checkpoint(): Promise<Buffer | null>;
  /**
   * Uploads new rows.
   * @param first number of rows before them
   * @returns the number of rows that the owner has on disk
   * @throws PortolanError `conflict` with `details.rows` when the owner lacks rows before them
   */
  putRows(first: number, lines: Buffer): Promise<number>;
  /** @throws PortolanError */
  putCheckpoint(bytes: Buffer): Promise<void>;
}
