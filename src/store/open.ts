import { CompiledQuery, type Kysely } from 'kysely';
import { AlertStateTable } from './alert-states.ts';
import { ClientJobTable } from './client-jobs/client-jobs.ts';
import { JobRunTable } from './client-jobs/job-runs.ts';
import { JobScheduleTable } from './client-jobs/job-schedules.ts';
import type { Database } from './database.ts';
import { HostTable } from './hosts.ts';
import { IdempotencyTable } from './idempotency.ts';
import { LeaseTable } from './leases.ts';
import { OutboxTable } from './outbox.ts';
import { isPostgresUrl } from './postgres/postgres-url.ts';
import { RowCounts } from './row-counts.ts';
import { ScanPauseTable } from './scan-pauses.ts';
import { ScanQueueTable } from './scan-queue.ts';
import { ScanAges } from './scans/scan-ages.ts';
import { ScanTable } from './scans/scans.ts';
import { migrate, type StoreVersion, storeVersion } from './schema/migrations.ts';
import { TableRows } from './schema/table-rows.ts';
import type { Tables } from './schema/tables.ts';
import { ShardTable } from './shards.ts';
import { backUpStore } from './sqlite/backup.ts';
import { openDatabase } from './sqlite/sqlite-dialect.ts';
import type { TenantView } from './tenant-view.ts';
import { TokenTable } from './tokens.ts';

/** What the service remembers beside the results themselves. Results are files, never rows. */
export interface Store {
  readonly scans: ScanTable;
  readonly scanAges: ScanAges;
  readonly rowCounts: RowCounts;
  readonly tokens: TokenTable;
  readonly scanQueue: ScanQueueTable;
  readonly scanPauses: ScanPauseTable;
  readonly clientJobs: ClientJobTable;
  readonly jobRuns: JobRunTable;
  readonly jobSchedules: JobScheduleTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  /** Parts of scans that workers on many hosts share; what stands there is never shown to clients. */
  readonly shards: ShardTable;
  readonly hosts: HostTable;
  /** Of the whole service, as are leases. */
  readonly alertStates: AlertStateTable;
  readonly leases: LeaseTable;
  /** Everything that is stored, whoever's it is, as rows; see there. */
  readonly rows: TableRows;
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
  /**
   * Runs a statement of a library that keeps tables of its own in the same database, as part of this store's
   * transaction. `text` has `$1` for the first of `values`.
   */
  execute(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** What `executor` says of the scans that this process makes. */
  readonly executor: string;
  close(): Promise<void>;
}

/** Pages of 4 KiB that one call gives back: more would hold up other writers for longer than some milliseconds. */
const maxReleasedPages = 1024;

/**
 * Opens the store, creating or migrating it: a SQLite file (WAL, every commit on the disk before it is acknowledged), or
 * a PostgreSQL database. An older file is copied to `backups/<its last migration>/` first; copies of a database are the
 * business of who runs it.
 *
 * @param place path of a file, or `postgres://…`
 * @param home id of the server that opens it, where several share a database: the scans that it makes are its own
 * @param isServerStart that server starts; else another program in its workspace
 * @throws PortolanError `configuration` when it is not usable, was written by a newer version, or would be migrated under
 *   servers of another major version; `unavailable`
 */
export async function openStore(
  place: string,
  home: string | null = null,
  isServerStart = false,
): Promise<Store> {
  if (isPostgresUrl(place)) {
    // The client of PostgreSQL is loaded by those only who use one.
    const { openPostgres } = await import('./postgres/postgres-dialect.ts');
    const startingServer = isServerStart ? home : null;
    return await storeOn(await openPostgres<Tables>(place, home), async (db) => {
      const { requireCompatiblePrograms, programVersion } = await import('./postgres/other-versions.ts');
      await requireCompatiblePrograms(db, { startingServer, version: programVersion() });
    });
  }
  const database = openDatabase<Tables>(place);
  return await prepared(database, async ({ db }) => {
    await backUpOlder(db, place);
    await migrate(db);
  });
}

/** The store in an open PostgreSQL database; both are closed as one. @param admit called before anything changes */
export async function storeOn(
  database: Database<Tables>,
  admit: (db: Kysely<Tables>) => Promise<void> = async () => undefined,
): Promise<Store> {
  return await prepared(database, async ({ db }) => {
    await admit(db);
    await migrate(db);
    const { orderTextsByByte } = await import('./postgres/postgres-dialect.ts');
    await orderTextsByByte(db);
  });
}

async function prepared(
  database: Database<Tables>,
  prepare: (database: Database<Tables>) => Promise<void>,
): Promise<Store> {
  try {
    await prepare(database);
  } catch (error) {
    await database.db.destroy();
    throw error;
  }
  return new KyselyStore(database.db, database, undefined);
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

class KyselyStore implements Store {
  readonly scans: ScanTable;
  readonly scanAges: ScanAges;
  readonly rowCounts: RowCounts;
  readonly tokens: TokenTable;
  readonly scanQueue: ScanQueueTable;
  readonly scanPauses: ScanPauseTable;
  readonly clientJobs: ClientJobTable;
  readonly jobRuns: JobRunTable;
  readonly jobSchedules: JobScheduleTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  readonly shards: ShardTable;
  readonly hosts: HostTable;
  readonly alertStates: AlertStateTable;
  readonly leases: LeaseTable;
  readonly rows: TableRows;
  readonly #db: Kysely<Tables>;
  readonly #database: Database<Tables>;
  readonly #view: TenantView;

  constructor(db: Kysely<Tables>, database: Database<Tables>, view: TenantView) {
    this.#db = db;
    this.#database = database;
    this.#view = view;
    this.scans = new ScanTable(db, view, database.executor, (work) =>
      this.transaction((store) => work(store.scans)),
    );
    this.scanAges = new ScanAges(db, view, database.executor);
    this.rowCounts = new RowCounts(db, view);
    this.tokens = new TokenTable(db, view);
    this.scanQueue = new ScanQueueTable(db, view);
    this.scanPauses = new ScanPauseTable(db, view);
    this.clientJobs = new ClientJobTable(db, view);
    this.jobRuns = new JobRunTable(db, view);
    this.jobSchedules = new JobScheduleTable(db, view);
    this.idempotency = new IdempotencyTable(db, view);
    this.outbox = new OutboxTable(db, view);
    this.shards = new ShardTable(db);
    this.hosts = new HostTable(db);
    this.alertStates = new AlertStateTable(db);
    this.leases = new LeaseTable(db);
    this.rows = new TableRows(db);
  }

  get executor(): string {
    return this.#database.executor;
  }

  forTenant(tenant: string | null): Store {
    return new KyselyStore(this.#db, this.#database, tenant);
  }

  async transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (this.#db.isTransaction) return await work(this);
    return await this.#database.transaction((transaction) =>
      work(new KyselyStore(transaction, this.#database, this.#view)),
    );
  }

  version(): string {
    return this.#database.version();
  }

  async emptyLog(): Promise<void> {
    await this.#database.emptyLog();
  }

  async releasePages(): Promise<void> {
    await this.#database.releasePages(maxReleasedPages);
  }

  async execute(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }> {
    const { rows } = await this.#db.executeQuery(CompiledQuery.raw(text, [...values]));
    return { rows };
  }

  async close(): Promise<void> {
    if (!this.#db.isTransaction) await this.#db.destroy();
  }
}
