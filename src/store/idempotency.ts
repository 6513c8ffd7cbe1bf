import type { Kysely } from 'kysely';
import type { IdempotencyTableRow, Tables } from './tables.ts';

/** How long a key is kept, milliseconds. */
export const keptMs = 24 * 3_600_000;

/** What a client's key stands for: the first body sent with it and the scan that came of it. */
export type KeyRecord = IdempotencyTableRow;

/** The keys by which clients repeat a submission safely. Not bound to the scan: a deleted one is not made again. */
export class IdempotencyTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** @param owner id of a token, or '' for clients without */
  async find(owner: string, key: string, now: number): Promise<KeyRecord | null> {
    const row = await this.#db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('owner', '=', owner)
      .where('key', '=', key)
      .where('created_at', '>', oldestKept(now))
      .executeTakeFirst();
    return row ?? null;
  }

  /** Stores a key and sweeps those that are too old, so that the table holds a day of keys at most. */
  async insert(record: KeyRecord, now: number): Promise<void> {
    await this.#db.deleteFrom('idempotency_keys').where('created_at', '<=', oldestKept(now)).execute();
    await this.#db.insertInto('idempotency_keys').values(record).execute();
  }
}

function oldestKept(now: number): string {
  return new Date(now - keptMs).toISOString();
}
