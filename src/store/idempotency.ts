import type { IdempotencyTableRow } from './schema/tables.ts';
import { ViewedTable } from './store-table.ts';

/** Lifetime of a key, milliseconds. */
export const idempotencyKeyTtlMs = 24 * 3_600_000;

/** A client's key, with the first body sent with it and the resulting scan or job. */
export type KeyRecord = IdempotencyTableRow;

/** Without `response`, the columns hold everything that the response needs. */
export type NewKey = Omit<KeyRecord, 'response'> & { response?: string };

/** Idempotency keys of submissions. They outlive a deleted scan, which is not created again. */
export class IdempotencyTable extends ViewedTable {
  /** @param owner id of a token; '' for clients without one */
  async find(owner: string, key: string, now: number): Promise<KeyRecord | null> {
    const row = await this.db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('owner', '=', this.#ownerInView(owner))
      .where('key', '=', key)
      .where('created_at', '>', oldestKept(now))
      .executeTakeFirst();
    return row ?? null;
  }

  /** Stores a key and deletes expired ones: the table holds the keys of one day. */
  async insert(record: NewKey, now: number): Promise<void> {
    await this.db.deleteFrom('idempotency_keys').where('created_at', '<=', oldestKept(now)).execute();
    const owner = this.#ownerInView(record.owner);
    await this.db
      .insertInto('idempotency_keys')
      .values({ response: null, ...record, owner })
      .execute();
  }

  /** Neither tenants nor token ids contain a slash. */
  #ownerInView(owner: string): string {
    return this.view ? `${this.view}/${owner}` : owner;
  }
}

function oldestKept(now: number): string {
  return new Date(now - idempotencyKeyTtlMs).toISOString();
}
