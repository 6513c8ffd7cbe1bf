import type { Kysely } from 'kysely';
import { IdempotencyTable } from './idempotency.ts';
import { JobTable } from './jobs.ts';
import { migrate } from './migrations.ts';
import { ScanTable } from './scans.ts';
import { openDatabase } from './sqlite-dialect.ts';
import type { Tables } from './tables.ts';
import { TokenTable } from './tokens.ts';

/** What the service remembers beside the results themselves. Results are files, never rows. */
export interface Store {
  readonly scans: ScanTable;
  readonly tokens: TokenTable;
  readonly jobs: JobTable;
  readonly idempotency: IdempotencyTable;
  /**
   * Runs `work` in one write transaction; an exception rolls everything back. Transactions run one after another.
   * Inside, only the given store may be used: a call to the outer one would wait for this transaction for ever.
   * Called on the given store, `work` joins the running transaction.
   */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the SQLite store (WAL, every commit on the disk before it is acknowledged), creating or migrating it.
 *
 * @throws PortolanError `configuration` when the file is not usable or was written by a newer version
 */
export async function openStore(file: string): Promise<Store> {
  const db = openDatabase<Tables>(file);
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return new KyselyStore(db);
}

class KyselyStore implements Store {
  readonly scans: ScanTable;
  readonly tokens: TokenTable;
  readonly jobs: JobTable;
  readonly idempotency: IdempotencyTable;
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
    this.scans = new ScanTable(db, (work) => this.transaction((store) => work(store.scans)));
    this.tokens = new TokenTable(db);
    this.jobs = new JobTable(db);
    this.idempotency = new IdempotencyTable(db);
  }

  async transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (this.#db.isTransaction) return await work(this);
    return await this.#db.transaction().execute((transaction) => work(new KyselyStore(transaction)));
  }

  async close(): Promise<void> {
    if (!this.#db.isTransaction) await this.#db.destroy();
  }
}
