import type { Kysely, QueryCreator } from 'kysely';
import type { LeasedShard } from '../domain/shard.ts';
import { runPrepared } from './prepared-statement.ts';
import type { ResultBlockTableRow, Tables } from './schema/tables.ts';

/** Rows of one shard, in the order in which the blocks of its scan were stored. */
export type ResultBlock = Omit<ResultBlockTableRow, 'scan_id'>;

/** Why rows were not stored. `no_plan`: the rows of the scan are on the disk of its server, or it no longer exists. */
export type BlockRejection = 'lost' | 'gap' | 'no_plan';

/**
 * Rows and checkpoints of the shards of unfinished scans. A write is accepted from the worker that holds the shard only;
 * call it in a transaction.
 */
export class ShardResultTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Appends rows after the first `first` of the shard. @returns null once they are stored */
  async append(
    held: LeasedShard,
    first: number,
    { rows, bytes }: Pick<ResultBlock, 'rows' | 'bytes'>,
  ): Promise<BlockRejection | null> {
    const { scanId, shard } = held;
    const counting = leasedShard(this.#db, held)
      .set({ rows: first + rows })
      .where('rows', '=', first)
      .returning('shard');
    const counted = await runPrepared(this.#db, counting);
    if (counted.length === 0) return (await this.rowsOf(held)) === null ? 'lost' : 'gap';
    const number = await this.#nextNumber(scanId);
    if (number === null) return 'no_plan';
    const block = { scan_id: scanId, number, shard, rows, bytes };
    await runPrepared(this.#db, this.#db.insertInto('result_blocks').values(block));
    return null;
  }

  /** Locks the plan: block n + 1 is stored after block n, so readers miss none. */
  async #nextNumber(scanId: string): Promise<number | null> {
    const counting = this.#db
      .updateTable('shard_plans')
      .set((e) => ({ blocks: e('blocks', '+', 1) }))
      .where('scan_id', '=', scanId)
      .where('blocks', 'is not', null)
      .returning('blocks');
    const [plan] = await runPrepared(this.#db, counting);
    return plan?.blocks ?? null;
  }

  /** Rows of the shard that are stored; null if it belongs to another worker or has ended. */
  async rowsOf({ scanId, shard, attempt }: LeasedShard): Promise<number | null> {
    const row = await this.#db
      .selectFrom('shards')
      .select('rows')
      .where('scan_id', '=', scanId)
      .where('shard', '=', shard)
      .where('attempt', '=', attempt)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return row ? Number(row.rows) : null;
  }

  /** @returns false if the shard belongs to another worker or has ended */
  async putCheckpoint(held: LeasedShard, bytes: Buffer): Promise<boolean> {
    const { scanId: scan_id, shard } = held;
    // Locks the shard: nobody claims it before the checkpoint is stored.
    const leased = await leasedShard(this.#db, held)
      .set((e) => ({ rows: e.ref('rows') }))
      .executeTakeFirst();
    if (leased.numUpdatedRows === 0n) return false;
    await this.#db
      .insertInto('shard_checkpoints')
      .values({ scan_id, shard, bytes })
      .onConflict((conflict) => conflict.columns(['scan_id', 'shard']).doUpdateSet({ bytes }))
      .execute();
    return true;
  }

  async checkpoint(scanId: string, shard: number): Promise<Buffer | null> {
    const row = await this.#db
      .selectFrom('shard_checkpoints')
      .select('bytes')
      .where('scan_id', '=', scanId)
      .where('shard', '=', shard)
      .executeTakeFirst();
    return row ? Buffer.from(row.bytes) : null;
  }

  /** The next blocks of a scan, or of one of its shards. @param after number of the last block that the caller has */
  async blocks(scanId: string, after: number, limit: number, shard?: number): Promise<ResultBlock[]> {
    const found = await this.#db
      .selectFrom('result_blocks')
      .select(['number', 'shard', 'rows', 'bytes'])
      .where('scan_id', '=', scanId)
      .where('number', '>', after)
      .$if(shard !== undefined, (query) => query.where('shard', '=', shard ?? 0))
      .orderBy('number')
      .limit(limit)
      .execute();
    return found.map((block) => ({ ...block, bytes: bufferOf(block.bytes) }));
  }

  /** Whether the scan has its results here; null for one that is not divided. */
  async hasBlocks(scanId: string): Promise<boolean | null> {
    const plan = await this.#db
      .selectFrom('shard_plans')
      .select('blocks')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return plan ? plan.blocks !== null : null;
  }

  /** Stores what a server of an earlier version has on disk of a shard, instead of what is here. */
  async importShard(
    scanId: string,
    shard: number,
    { rows, blocks, checkpoint }: ImportedShard,
    firstNumber: number,
  ): Promise<void> {
    const place = { scan_id: scanId, shard };
    await this.#db
      .updateTable('shards')
      .set({ rows })
      .where('scan_id', '=', scanId)
      .where('shard', '=', shard)
      .execute();
    for (const [at, block] of blocks.entries())
      await this.#db
        .insertInto('result_blocks')
        .values({ ...place, number: firstNumber + at, ...block })
        .execute();
    if (checkpoint !== null)
      await this.#db
        .insertInto('shard_checkpoints')
        .values({ ...place, bytes: checkpoint })
        .execute();
  }

  /** From now on the scan has its results here. @param blocks number of those that it has */
  async setBlocks(scanId: string, blocks: number): Promise<void> {
    await this.#db.updateTable('shard_plans').set({ blocks }).where('scan_id', '=', scanId).execute();
  }

  async deleteOf(scanId: string): Promise<void> {
    await this.#db.deleteFrom('result_blocks').where('scan_id', '=', scanId).execute();
    await this.#db.deleteFrom('shard_checkpoints').where('scan_id', '=', scanId).execute();
  }
}

/** The same bytes, not a copy. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** An update of a shard that takes place while its worker holds it only. */
export function leasedShard(db: QueryCreator<Tables>, { scanId, shard, attempt }: LeasedShard) {
  return db
    .updateTable('shards')
    .where('scan_id', '=', scanId)
    .where('shard', '=', shard)
    .where('attempt', '=', attempt)
    .where('state', '=', 'running');
}

/** What a server of an earlier version has of a shard. */
export interface ImportedShard {
  rows: number;
  blocks: Pick<ResultBlock, 'rows' | 'bytes'>[];
  checkpoint: Buffer | null;
}
