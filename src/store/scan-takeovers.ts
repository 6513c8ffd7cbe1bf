import type { ExpressionBuilder } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { StoreTable } from './store-table.ts';

/** A scan that another server has now. */
export interface TakenScan {
  scanId: string;
  tenant: string | null;
  attempt: number;
  /** Its cancel was requested: it only has to be ended, and then finished in the queue. */
  isCanceled: boolean;
}

/** Scans of servers that are gone. */
export class ScanTakeoverTable extends StoreTable {
  /** Gives a scan that waits to another server, which ends it. @param executor of that one */
  async adopt(scanId: string, executor: string): Promise<void> {
    await this.db
      .updateTable('scans')
      .set({ executor })
      .where('scan_id', '=', scanId)
      .where('status', 'in', ['pending', 'running'])
      .execute();
  }

  /** Whether another server could take scans of a server, as `take` does. */
  async isLeft(from: string, { resumesUndivided }: { resumesUndivided: boolean }): Promise<boolean> {
    const query = this.db.selectNoFrom((e) => unfinishedOf(e, from, resumesUndivided).limit(1).as('scan_id'));
    return ((await query.executeTakeFirst())?.scan_id ?? null) !== null;
  }

  /**
   * Gives the unfinished scans of a server to another one, where they wait; canceled ones count as
   * running until they are ended. Those whose rows are on the disk of their server stay. Call it in a transaction.
   *
   * @param to id and executor of the other server, and whether it can go on with scans that run undivided
   * @param most maximum number of them, below 65,535: the parameters of a statement of PostgreSQL
   */
  async take(
    from: string,
    to: { id: string; executor: string; resumesUndivided: boolean },
    most: number,
  ): Promise<TakenScan[]> {
    const rows = await this.db
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
      .where('scan_id', 'in', (e) => unfinishedOf(e, from, to.resumesUndivided).limit(most))
      // Another server may have been first.
      .where('owner_server', '=', from)
      .returning(['scan_id', 'tenant', 'attempt', 'cancel_requested'])
      .execute();
    const ids = rows.map(({ scan_id }) => scan_id);
    if (ids.length > 0)
      await this.db.updateTable('scans').set({ executor: to.executor }).where('scan_id', 'in', ids).execute();
    return rows.map(({ scan_id, tenant, attempt, cancel_requested }) => ({
      scanId: scan_id,
      tenant,
      attempt,
      isCanceled: cancel_requested === 1,
    }));
  }
}

function unfinishedOf(
  e: Pick<ExpressionBuilder<Tables, 'scan_queue'>, 'selectFrom'>,
  server: string,
  includesUndivided: boolean,
) {
  const owned = e
    .selectFrom('scan_queue as owned')
    .select('owned.scan_id')
    .where('owned.owner_server', '=', server)
    .where('owned.state', 'in', ['waiting', 'running'])
    .where((inner) =>
      inner.not(
        inner.exists(
          inner
            .selectFrom('shard_plans')
            .select('shard_plans.scan_id')
            .whereRef('shard_plans.scan_id', '=', 'owned.scan_id')
            .where('shard_plans.blocks', 'is', null),
        ),
      ),
    );
  if (includesUndivided) return owned;
  return owned.where((inner) =>
    inner.or([
      inner.exists(
        inner
          .selectFrom('shard_plans')
          .select('shard_plans.scan_id')
          .whereRef('shard_plans.scan_id', '=', 'owned.scan_id'),
      ),
      inner.exists(
        inner
          .selectFrom('scans')
          .select('scans.scan_id')
          .whereRef('scans.scan_id', '=', 'owned.scan_id')
          .where('scans.status', '=', 'pending'),
      ),
    ]),
  );
}
