import type { Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';

/** PostgreSQL limits a statement to 65,535 parameters. */
const idsAtOnce = 5000;

/** A scan that another server has now. */
export interface TakenScan {
  scanId: string;
  tenant: string | null;
  attempt: number;
  /** Its cancel was requested: it only has to be ended, and then finished in the queue. */
  isCanceled: boolean;
}

/** Scans of servers that are gone. */
export class ScanTakeoverTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Gives a scan that waits to another server, which ends it. @param executor of that one */
  async adopt(scanId: string, executor: string): Promise<void> {
    await this.#db
      .updateTable('scans')
      .set({ executor })
      .where('scan_id', '=', scanId)
      .where('status', 'in', ['pending', 'running'])
      .execute();
  }

  /**
   * Gives the unfinished scans of a server to another one, where they wait; canceled ones count as
   * running until they are ended. Those whose rows are on the disk of their server stay. Call it in a transaction.
   *
   * @param to id and executor of the other server
   */
  async take(from: string, to: { id: string; executor: string }): Promise<TakenScan[]> {
    const rows = await this.#db
      .updateTable('scan_queue')
      .set((e) => ({
        owner_server: to.id,
        state: e
          .case()
          .when('cancel_requested', '=', 1)
          .then('running' as const)
          .else('waiting' as const)
          .end(),
        lease_until: null,
        worker: null,
      }))
      .where('owner_server', '=', from)
      .where('state', 'in', ['waiting', 'running'])
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('shard_plans')
              .select('shard_plans.scan_id')
              .whereRef('shard_plans.scan_id', '=', 'scan_queue.scan_id')
              .where('shard_plans.blocks', 'is', null),
          ),
        ),
      )
      .returning(['scan_id', 'tenant', 'attempt', 'cancel_requested'])
      .execute();
    const ids = rows.map(({ scan_id }) => scan_id);
    for (let at = 0; at < ids.length; at += idsAtOnce)
      await this.#db
        .updateTable('scans')
        .set({ executor: to.executor })
        .where('scan_id', 'in', ids.slice(at, at + idsAtOnce))
        .execute();
    return rows.map(({ scan_id, tenant, attempt, cancel_requested }) => ({
      scanId: scan_id,
      tenant,
      attempt,
      isCanceled: cancel_requested === 1,
    }));
  }
}
