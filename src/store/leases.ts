import { StoreTable } from './store-table.ts';

/** Leases on work that only one server may do at a time. */
export class LeaseTable extends StoreTable {
  /**
   * Takes or renews a lease, unless another holder has one that has not expired.
   *
   * @param now by the database clock, epoch milliseconds
   * @returns whether the caller holds it now
   */
  async claim(name: string, holder: string, now: number, leaseMs: number): Promise<boolean> {
    const lease_until = now + leaseMs;
    const row = await this.db
      .insertInto('leases')
      .values({ name, holder, lease_until })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ holder, lease_until })
          .where((e) => e.or([e('leases.holder', '=', holder), e('leases.lease_until', '<', now)])),
      )
      .returning('holder')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Holder of a lease, expired or not; null if nobody ever held it. */
  async holder(name: string): Promise<string | null> {
    const row = await this.db
      .selectFrom('leases')
      .select('holder')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.holder ?? null;
  }

  /** Releases a lease before it expires, for others to take. */
  async release(name: string, holder: string): Promise<void> {
    await this.db
      .updateTable('leases')
      .set({ lease_until: 0 })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute();
  }
}
