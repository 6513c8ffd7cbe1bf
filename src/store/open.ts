import { CompiledQuery, type Kysely } from 'kysely';
import { AlertStateTable } from './alert-states.ts';
import { ClientJobTable } from './client-jobs/client-jobs.ts';
import { JobRunTable } from './client-jobs/job-runs.ts';
import { JobScheduleTable } from './client-jobs/job-schedules.ts';
import type { Database, Isolation } from './database.ts';
import { HostTable } from './hosts.ts';
import { IdempotencyTable } from './idempotency.ts';
import { LeaseTable } from './leases.ts';
import { OutboxTable } from './outbox.ts';
import { PluginPackageTable } from './plugin-packages.ts';
import { isPostgresUrl } from './postgres/postgres-url.ts';
import { ResultObjectTable } from './result-objects.ts';
import { RowCounts } from './row-counts.ts';
import { ScanPauseTable } from './scan-pauses.ts';
import { ScanQueueTable } from './scan-queue.ts';
import { ScanTakeoverTable } from './scan-takeovers.ts';
import { ScanAges } from './scans/scan-ages.ts';
import { ScanRemovalTable } from './scans/scan-removals.ts';
import { ScanTable } from './scans/scans.ts';
import { migrate, type StoreVersion, storeVersion } from './schema/migrations.ts';
import { TableRows } from './schema/table-rows.ts';
import type { Tables } from './schema/tables.ts';
import { ShardResultTable } from './shard-results.ts';
import { ShardTable } from './shards.ts';
import { backUpStore } from './sqlite/backup.ts';
import { openDatabase } from './sqlite/sqlite-dialect.ts';
import type { TenantView } from './tenant-view.ts';
import { TokenTable } from './tokens.ts';
import { UndividedResultTable } from './undivided-results.ts';

/** The service's database. Results are files; what servers share of them is stored as bytes that no query looks into. */
export interface Store {
  readonly scans: ScanTable;
  readonly scanAges: ScanAges;
  readonly scanRemovals: ScanRemovalTable;
  readonly rowCounts: RowCounts;
  readonly tokens: TokenTable;
  readonly scanQueue: ScanQueueTable;
  readonly scanPauses: ScanPauseTable;
  readonly scanTakeovers: ScanTakeoverTable;
  readonly clientJobs: ClientJobTable;
  readonly jobRuns: JobRunTable;
  readonly jobSchedules: JobScheduleTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  /** Parts of scans that workers on many hosts share; never shown to clients. */
  readonly shards: ShardTable;
  readonly shardResults: ShardResultTable;
  readonly undividedResults: UndividedResultTable;
  readonly resultObjects: ResultObjectTable;
  readonly hosts: HostTable;
  /** Global to the service, as are leases and plugins. */
  readonly alertStates: AlertStateTable;
  readonly leases: LeaseTable;
  readonly pluginPackages: PluginPackageTable;
  /** Raw rows of all tenants, see `TableRows`. */
  readonly rows: TableRows;
  /**
   * The same store as seen by one tenant, or with null by clients of a service without tenants: it reads and writes
   * only their rows. The store that `openStore` returns sees all rows.
   */
  forTenant(tenant: string | null): Store;
  /**
   * Runs `work` in one write transaction; an exception rolls everything back. After a conflict with another transaction it runs
   * again: it changes nothing but the store. Inside, use only the given store: a call to the outer one would deadlock. If called
   * on the given store, `work` joins the running transaction.
   */
  transaction<T>(work: (store: Store) => Promise<T>, isolation?: Isolation): Promise<T>;
  /**
   * Changes after every write: of this process at once, of another one within 10 ms. Data that was read after this
   * call is current while it stays the same.
   */
  version(): string;
  /**
   * Checkpoints the write-ahead log and returns its space to the disk (https://www.sqlite.org/wal.html). On a full
   * disk this can make room for writes.
   */
  emptyLog(): Promise<void>;
  /** Releases free pages of the file to the disk, at most 4 MiB. */
  releasePages(): Promise<void>;
  /**
   * Runs a statement of a library that has its own tables in the same database, within this store's transaction.
   * `text` has `$1` for the first of `values`.
   */
  execute(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** `executor` of the scans that this process creates. */
  readonly executor: string;
  close(): Promise<void>;
}

/** Pages of 4 KiB released per call: more would block other writers for several milliseconds. */
const maxReleasedPages = 1024;

/**
 * Opens the store and creates or migrates it: a SQLite file (WAL, each commit durable before it is acknowledged), or
 * a PostgreSQL database. Before a migration, an older file is copied to `backups/<its last migration>/`; operators
 * back up PostgreSQL themselves.
 *
 * @param place path of a file, or `postgres://…`
 * @param home id of the server that opens a shared database: its scans are bound to it
 * @param isServerStart whether that server starts; else another program in its workspace
 * @throws PortolanError `configuration` if it is not usable, was written by a newer version, or would be migrated
 *   under servers of another major version; `unavailable`
 */
export async function openStore(
  place: string,
  home: string | null = null,
  isServerStart = false,
): Promise<Store> {
  if (isPostgresUrl(place)) {
    // Loads the PostgreSQL client only when used.
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

/** The store in an open PostgreSQL database; closing it closes both. @param admit called before anything changes */
async function storeOn(
  database: Database<Tables>,
  admit: (db: Kysely<Tables>) => Promise<void>,
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

/** Migrations that a store file has had. Read-only. @throws PortolanError `configuration` */
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
  readonly scanRemovals: ScanRemovalTable;
  readonly rowCounts: RowCounts;
  readonly tokens: TokenTable;
  readonly scanQueue: ScanQueueTable;
  readonly scanPauses: ScanPauseTable;
  readonly scanTakeovers: ScanTakeoverTable;
  readonly clientJobs: ClientJobTable;
  readonly jobRuns: JobRunTable;
  readonly jobSchedules: JobScheduleTable;
  readonly idempotency: IdempotencyTable;
  readonly outbox: OutboxTable;
  readonly shards: ShardTable;
  readonly shardResults: ShardResultTable;
  readonly undividedResults: UndividedResultTable;
  readonly resultObjects: ResultObjectTable;
  readonly hosts: HostTable;
  readonly alertStates: AlertStateTable;
  readonly leases: LeaseTable;
  readonly pluginPackages: PluginPackageTable;
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
    this.scanRemovals = new ScanRemovalTable(db, view);
    this.rowCounts = new RowCounts(db, view);
    this.tokens = new TokenTable(db, view);
    this.scanQueue = new ScanQueueTable(db, view);
    this.scanPauses = new ScanPauseTable(db, view);
    this.scanTakeovers = new ScanTakeoverTable(db);
    this.clientJobs = new ClientJobTable(db, view);
    this.jobRuns = new JobRunTable(db, view);
    this.jobSchedules = new JobScheduleTable(db, view);
    this.idempotency = new IdempotencyTable(db, view);
    this.outbox = new OutboxTable(db, view);
    this.shards = new ShardTable(db);
    this.shardResults = new ShardResultTable(db);
    this.undividedResults = new UndividedResultTable(db);
    this.resultObjects = new ResultObjectTable(db);
    this.hosts = new HostTable(db);
    this.alertStates = new AlertStateTable(db);
    this.leases = new LeaseTable(db);
    this.pluginPackages = new PluginPackageTable(db);
    this.rows = new TableRows(db);
  }

  get executor(): string {
    return this.#database.executor;
  }

  forTenant(tenant: string | null): Store {
    return new KyselyStore(this.#db, this.#database, tenant);
  }

  async transaction<T>(
    work: (store: Store) => Promise<T>,
    isolation: Isolation = 'serializable',
  ): Promise<T> {
    if (this.#db.isTransaction) return await work(this);
    return await this.#database.transaction(
      (transaction) => work(new KyselyStore(transaction, this.#database, this.#view)),
      isolation,
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
