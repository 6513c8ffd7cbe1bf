/**
 * The home of a scan as the worker of one of its shards sees it. What a home refuses is a PortolanError `conflict` or
 * `not_found` when the shard is somebody else's or over, `invalid_request` when it will never take what was brought;
 * everything else may go better later.
 */
export interface ShardHome {
  /** All rows of earlier attempts, as pieces of JSON Lines. @throws PortolanError */
  rows(): Promise<AsyncIterable<Uint8Array>>;
  /** How far earlier attempts came; null when none said. @throws PortolanError */
  checkpoint(): Promise<Buffer | null>;
  /**
   * Brings rows that are new.
   * @param first rows before them
   * @returns the rows that the home has on its disk
   * @throws PortolanError `conflict` with `details.rows` when rows before them are missing there
   */
  putRows(first: number, lines: Buffer): Promise<number>;
  /** @throws PortolanError */
  putCheckpoint(bytes: Buffer): Promise<void>;
}
