import type { Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';

/** Work that one of many servers does at a time: whoever holds its lease. */
export class LeaseTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Takes or renews a lease, unless somebody else holds one that has not expired.
   *
   * @param now by the clock of the database, epoch milliseconds
   * @returns whether the caller holds it now
   */
  async claim(name: string, holder: string, now: number, leaseMs: number): Promise<boolean> {
    const lease_until = now + leaseMs;
    const row = await this.#db
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

  /** The holder of a lease, expired or not; null when nobody ever had it. */
  async holder(name: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('leases')
      .select('holder')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.holder ?? null;
  }

  /** Lets go of a lease, so that others need not wait for its end. */
  async release(name: string, holder: string): Promise<void> {
    await this.#db
      .updateTable('leases')
      .set({ lease_until: 0 })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .execute();
  }
}
