import { type Kysely, sql } from 'kysely';
import { backUpStore } from './backup.ts';
import { IdempotencyTable } from './idempotency.ts';
import { JobOrderTable } from './job-orders.ts';
import { JobTable } from './jobs.ts';
import { migrate, type StoreVersion, storeVersion } from './migrations.ts';
import { OutboxTable } from './outbox.ts';
import { ScanTable } from './scans.ts';
import { type Database, openDatabase } from './sqlite-dialect.ts';
import type { Tables } from './tables.ts';
import type { TenantView } from './tenant-view.ts';
import { TokenTable } from './tokens.ts';

/** What the service remembers beside the results themselves. Results are files, never rows. */
export interface Store {
  readonly scans: ScanTable;
  readonly tokens: TokenTable;
  readonly jobs: JobTable;
  readonly jobOrders: JobOrderTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  /**
   * The same store as one tenant sees it, or, with null, as clients of a service without tenants do: nothing else can
   * be read or changed through it, and what is stored through it is theirs. What `openStore` gives sees everything.
   */
  forTenant(tenant: string | null): Store;
  /**
   * Runs `work` in one write transaction; an exception rolls everything back. Transactions run one after another.
   * Inside, only the given store may be used: a call to the outer one would wait for this transaction for ever.
   * Called on the given store, `work` joins the running transaction.
   */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Text that is another one after every change of anything stored, by this process at once, by another one after
   * 10 ms: what was read after it was asked for holds for as long as it stays the same.
   */
  version(): string;
  /**
   * Writes what waits in the write-ahead log to its place and gives the disk its room back (https://www.sqlite.org/wal.html).
   * On a full disk changes may be possible after it that were not before.
   */
  emptyLog(): Promise<void>;
  /** Gives pages of the file that hold nothing any more back to the disk, 4 MiB at the most. */
  releasePages(): Promise<void>;
  close(): Promise<void>;
}

/** Pages of 4 KiB that one call gives back: more would hold up other writers for longer than some milliseconds. */
const maxReleasedPages = 1024;

/**
 * Opens the SQLite store (WAL, every commit on the disk before it is acknowledged), creating or migrating it. An older
 * store is copied to `backups/<its last migration>/` first.
 *
 * @throws PortolanError `configuration` when the file is not usable or was written by a newer version
 */
export async function openStore(file: string): Promise<Store> {
  const { db, ...found } = openDatabase<Tables>(file);
  try {
    await backUpOlder(db, file);
    await migrate(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return new KyselyStore(db, found, undefined);
}

async function backUpOlder(db: Kysely<Tables>, file: string): Promise<void> {
  const { applied, pending } = await storeVersion(db);
  const last = applied.at(-1);
  if (last !== undefined && pending.length > 0) await backUpStore(file, last);
}

/** Which migrations a store file has had; nothing is changed. @throws PortolanError `configuration` */
export async function readStoreVersion(file: string): Promise<StoreVersion> {
  const { db } = openDatabase<Tables>(file);
  try {
    return await storeVersion(db);
  } finally {
    await db.destroy();
  }
}

type DatabaseFile = Omit<Database<Tables>, 'db'>;

class KyselyStore implements Store {
  readonly scans: ScanTable;
  readonly tokens: TokenTable;
  readonly jobs: JobTable;
  readonly jobOrders: JobOrderTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  readonly #db: Kysely<Tables>;
  readonly #file: DatabaseFile;
  readonly #view: TenantView;

  constructor(db: Kysely<Tables>, file: DatabaseFile, view: TenantView) {
    this.#db = db;
    this.#file = file;
    this.#view = view;
    this.scans = new ScanTable(db, view, (work) => this.transaction((store) => work(store.scans)));
    this.tokens = new TokenTable(db, view);
    this.jobs = new JobTable(db, view);
    this.jobOrders = new JobOrderTable(db, view);
    this.idempotency = new IdempotencyTable(db, view);
    this.outbox = new OutboxTable(db, view);
  }

  forTenant(tenant: string | null): Store {
    return new KyselyStore(this.#db, this.#file, tenant);
  }

  async transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (this.#db.isTransaction) return await work(this);
    return await this.#db
      .transaction()
      .execute((transaction) => work(new KyselyStore(transaction, this.#file, this.#view)));
  }

  version(): string {
    return this.#file.version();
  }

  async emptyLog(): Promise<void> {
    await sql`pragma wal_checkpoint(truncate)`.execute(this.#db);
  }

  async releasePages(): Promise<void> {
    await this.#db.connection().execute(async () => this.#file.releasePages(maxReleasedPages));
  }

  async close(): Promise<void> {
    if (!this.#db.isTransaction) await this.#db.destroy();
  }
}
