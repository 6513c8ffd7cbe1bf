import { PortolanError } from '../domain/errors.ts';
import type { LeasedShard } from '../domain/shard.ts';
import type { Store } from '../store/open.ts';
import type { BlockRejection } from '../store/shard-results.ts';
import type { HeldScan } from '../store/undivided-results.ts';
import { linesOf } from '../workspace/record/record-files.ts';
import { blockBytes, blockLines } from './block-bytes.ts';

/** Blocks read at once. */
const blocksAtOnce = 8;

type ResultStore = Pick<Store, 'shardResults' | 'undividedResults' | 'transaction'>;

/** How whoever runs a shard, or a whole scan, writes its results. */
interface ResultWriting {
  append(
    store: ResultStore,
    first: number,
    block: { rows: number; bytes: Buffer },
  ): Promise<BlockRejection | null>;
  putCheckpoint(store: ResultStore, bytes: Buffer): Promise<boolean>;
  /** Rows that are stored; null if it belongs to somebody else or has ended. */
  rows(store: ResultStore): Promise<number | null>;
}

/**
 * The stored results of a shard or of an undivided scan, for the worker or the server that holds it. Throws a PortolanError:
 * `conflict` when it no longer does; everything else is worth a retry.
 */
export class ShardResults {
  readonly #store: ResultStore;
  readonly #place: Pick<LeasedShard, 'scanId' | 'shard'>;
  readonly #writing: ResultWriting;

  constructor(store: ResultStore, place: Pick<LeasedShard, 'scanId' | 'shard'>, writing: ResultWriting) {
    this.#store = store;
    this.#place = place;
    this.#writing = writing;
  }

  /** Of a shard, for its worker. */
  static ofShard(store: ResultStore, held: LeasedShard): ShardResults {
    return new ShardResults(store, held, {
      append: ({ shardResults }, first, block) => shardResults.append(held, first, block),
      putCheckpoint: ({ shardResults }, bytes) => shardResults.putCheckpoint(held, bytes),
      rows: ({ shardResults }) => shardResults.rowsOf(held),
    });
  }

  /** Of an undivided scan, for its server. */
  static ofUndivided(store: ResultStore, held: HeldScan): ShardResults {
    return new ShardResults(
      store,
      { scanId: held.scanId, shard: 0 },
      {
        append: ({ undividedResults }, first, block) => undividedResults.append(held, first, block),
        putCheckpoint: ({ undividedResults }, bytes) => undividedResults.putCheckpoint(held, bytes),
        rows: ({ undividedResults }) => undividedResults.rowsHeld(held),
      },
    );
  }

  /** All rows of earlier attempts, as JSON Lines. */
  async *lines(): AsyncGenerator<Buffer> {
    const { scanId, shard } = this.#place;
    for (let after = 0; ; ) {
      const blocks = await this.#store.shardResults.blocks(scanId, after, blocksAtOnce, shard);
      for (const { bytes } of blocks) yield await blockLines(bytes);
      if (blocks.length < blocksAtOnce) return;
      after = blocks.at(-1)?.number ?? after;
    }
  }

  /** Of earlier attempts; null when none was saved. */
  async checkpoint(): Promise<Buffer | null> {
    return await this.#store.shardResults.checkpoint(this.#place.scanId, this.#place.shard);
  }

  /**
   * Stores new rows.
   * @param first number of rows before them
   * @returns the number of rows that are stored
   * @throws PortolanError `conflict` with `details.rows` when rows before them are missing
   */
  async putRows(first: number, lines: Buffer): Promise<number> {
    const rows = lineCount(lines);
    const rejection = await this.#append(first, rows, lines);
    if (rejection === null) return first + rows;
    if (rejection === 'lost') throw lost();
    if (rejection === 'no_plan')
      throw new PortolanError('unavailable', 'The server of the scan is of an earlier version.');
    const stored = await this.#writing.rows(this.#store);
    if (stored === null) throw lost();
    if (stored < first)
      throw new PortolanError('conflict', `Missing rows: ${stored} of ${first} are stored.`, {
        rows: stored,
      });
    // The database stored them, but its acknowledgement was lost.
    return stored >= first + rows ? stored : await this.putRows(stored, withoutLines(lines, stored - first));
  }

  async #append(first: number, rows: number, lines: Buffer): Promise<BlockRejection | null> {
    const block = { rows, bytes: await blockBytes(lines) };
    try {
      await this.#store.transaction(async (inside) => {
        const rejection = await this.#writing.append(inside, first, block);
        if (rejection !== null) throw new Rejected(rejection);
      }, 'read committed');
      return null;
    } catch (error) {
      if (error instanceof Rejected) return error.rejection;
      throw error;
    }
  }

  async putCheckpoint(bytes: Buffer): Promise<void> {
    const put = (inside: ResultStore) => this.#writing.putCheckpoint(inside, bytes);
    if (!(await this.#store.transaction(put, 'read committed'))) throw lost();
  }
}

/** Rolls back what `append` has written. */
class Rejected extends Error {
  readonly rejection: BlockRejection;

  constructor(rejection: BlockRejection) {
    super(rejection);
    this.rejection = rejection;
  }
}

function lineCount(lines: Buffer): number {
  let count = 0;
  for (const _ of linesOf(lines)) count += 1;
  return count;
}

function withoutLines(lines: Buffer, count: number): Buffer {
  const { end } = [...linesOf(lines)][count - 1] ?? { end: -1 };
  return lines.subarray(end + 1);
}

function lost(): PortolanError {
  return new PortolanError('conflict', 'Lease lost: results rejected.');
}
