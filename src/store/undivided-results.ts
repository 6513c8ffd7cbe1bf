import { isPostgres } from './database.ts';
import type { BlockRejection, ResultBlock } from './shard-results.ts';
import { StoreTable } from './store-table.ts';

/** A scan that its server runs undivided. Writes are accepted while that server has this attempt at it only. */
export interface HeldScan {
  scanId: string;
  attempt: number;
  /** Id of the server. */
  owner: string;
}

/** Rows and checkpoints of unfinished scans that their server runs undivided: those of their shard 0, which no worker has. */
export class UndividedResultTable extends StoreTable {
  /** Appends rows after the first `first`. Call it in a transaction. @returns null once they are stored */
  async append(
    held: HeldScan,
    first: number,
    { rows, bytes }: Pick<ResultBlock, 'rows' | 'bytes'>,
  ): Promise<BlockRejection | null> {
    if (!(await this.holds(held))) return 'lost';
    const { rows: stored, blocks } = await this.#stored(held.scanId);
    if (stored !== first) return 'gap';
    const place = { scan_id: held.scanId, number: blocks + 1, shard: 0 };
    await this.db
      .insertInto('result_blocks')
      .values({ ...place, rows, bytes })
      .execute();
    return null;
  }

  /** Call it in a transaction. @returns false if another server has the scan, or it has ended */
  async putCheckpoint(held: HeldScan, bytes: Buffer): Promise<boolean> {
    if (!(await this.holds(held))) return false;
    await this.db
      .insertInto('shard_checkpoints')
      .values({ scan_id: held.scanId, shard: 0, bytes })
      .onConflict((conflict) => conflict.columns(['scan_id', 'shard']).doUpdateSet({ bytes }))
      .execute();
    return true;
  }

  /** Rows that are stored; null if another server has the scan, or it has ended. */
  async rowsHeld(held: HeldScan): Promise<number | null> {
    return (await this.holds(held)) ? await this.rowsOf(held.scanId) : null;
  }

  async rowsOf(scanId: string): Promise<number> {
    return (await this.#stored(scanId)).rows;
  }

  /** Call it in a transaction: nobody takes the scan over before its end. */
  async holds({ scanId, attempt, owner }: HeldScan): Promise<boolean> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select('scan_id')
      .where('scan_id', '=', scanId)
      .where('attempt', '=', attempt)
      .where('owner_server', '=', owner)
      .where('state', '=', 'running')
      .$if(isPostgres(this.db), (query) => query.forUpdate())
      .executeTakeFirst();
    return row !== undefined;
  }

  async #stored(scanId: string): Promise<{ rows: number; blocks: number }> {
    const { rows, blocks } = await this.db
      .selectFrom('result_blocks')
      .select((e) => [e.fn.sum<number>('rows').as('rows'), e.fn.max('number').as('blocks')])
      .where('scan_id', '=', scanId)
      .executeTakeFirstOrThrow();
    return { rows: Number(rows ?? 0), blocks: Number(blocks ?? 0) };
  }
}
