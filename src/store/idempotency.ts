import type { Kysely } from 'kysely';
import type { IdempotencyTableRow, Tables } from './schema/tables.ts';
import type { TenantView } from './tenant-view.ts';

/** Lifetime of a key, milliseconds. */
export const idempotencyKeyTtlMs = 24 * 3_600_000;

/** What a client's key stands for: the first body sent with it and the scan or the job that came of it. */
export type KeyRecord = IdempotencyTableRow;

/** Without `response` the columns hold all that a response needs. */
export type NewKey = Omit<KeyRecord, 'response'> & { response?: string };

/** The keys by which clients repeat a submission safely. Not bound to the scan: a deleted one is not made again. */
export class IdempotencyTable {
  readonly #db: Kysely<Tables>;
  readonly #view: TenantView;

  constructor(db: Kysely<Tables>, view: TenantView) {
    this.#db = db;
    this.#view = view;
  }

  /** @param owner id of a token, or '' for clients without */
  async find(owner: string, key: string, now: number): Promise<KeyRecord | null> {
    const row = await this.#db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('owner', '=', this.#ownerInView(owner))
      .where('key', '=', key)
      .where('created_at', '>', oldestKept(now))
      .executeTakeFirst();
    return row ?? null;
  }

  /** Stores a key and sweeps those that are too old, so that the table holds a day of keys at most. */
  async insert(record: NewKey, now: number): Promise<void> {
    await this.#db.deleteFrom('idempotency_keys').where('created_at', '<=', oldestKept(now)).execute();
    const owner = this.#ownerInView(record.owner);
    await this.#db
      .insertInto('idempotency_keys')
      .values({ response: null, ...record, owner })
      .execute();
  }

  /** Neither a tenant nor the id of a token has a slash in it. */
  #ownerInView(owner: string): string {
    return this.#view ? `${this.#view}/${owner}` : owner;
  }
}

function oldestKept(now: number): string {
  return new Date(now - idempotencyKeyTtlMs).toISOString();
}
