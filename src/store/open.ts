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
import { ShardJobTable } from './shard-jobs.ts';
import { ShardResultTable } from './shard-results.ts';
import { ShardTable } from './shards.ts';
import { backUpStore } from './sqlite/backup.ts';
import { openDatabase } from './sqlite/sqlite-dialect.ts';
import { damagedStore, isDamage } from './sqlite/sqlite-file.ts';
import type { TenantView } from './tenant-view.ts';
import { TokenTable } from './tokens.ts';
import { UndividedResultTable } from './undivided-results.ts';

/** The tables of a store. @param atomically runs work in a write transaction */
function tablesOn(
  db: Kysely<Tables>,
  view: TenantView,
  executor: string,
  atomically: <T>(work: (scans: ScanTable) => Promise<T>) => Promise<T>,
) {
  return {
    scans: new ScanTable(db, view, executor, atomically),
    scanAges: new ScanAges(db, view, executor),
    scanRemovals: new ScanRemovalTable(db, view),
    rowCounts: new RowCounts(db, view),
    tokens: new TokenTable(db, view),
    scanQueue: new ScanQueueTable(db, view),
    scanPauses: new ScanPauseTable(db, view),
    scanTakeovers: new ScanTakeoverTable(db),
    clientJobs: new ClientJobTable(db, view),
    jobRuns: new JobRunTable(db, view),
    jobSchedules: new JobScheduleTable(db, view),
    idempotency: new IdempotencyTable(db, view),
    outbox: new OutboxTable(db, view),
    /** Parts of scans that workers on many hosts share; never shown to clients. */
    shards: new ShardTable(db),
    shardJobs: new ShardJobTable(db),
    shardResults: new ShardResultTable(db),
    undividedResults: new UndividedResultTable(db),
    resultObjects: new ResultObjectTable(db),
    hosts: new HostTable(db),
    /** Global to the service, as are leases and plugins. */
    alertStates: new AlertStateTable(db),
    leases: new LeaseTable(db),
    pluginPackages: new PluginPackageTable(db),
    /** Raw rows of all tenants, see `TableRows`. */
    rows: new TableRows(db),
  };
}

/** The service's database. Results are files; what servers share of them is stored as bytes that no query looks into. */
export interface Store extends Readonly<ReturnType<typeof tablesOn>> {
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
  /** Calls `listener`, the one of the process, with the reason whenever a statement finds the file damaged. */
  onDamage(listener: (reason: string) => void): void;
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
    const { openPostgres, orderTextsByByte } = await import('./postgres/postgres-dialect.ts');
    const startingServer = isServerStart ? home : null;
    return await prepared(await openPostgres<Tables>(place, home), async (db) => {
      const { requireCompatiblePrograms, programVersion } = await import('./postgres/other-versions.ts');
      await requireCompatiblePrograms(db, { startingServer, version: programVersion() });
      await migrate(db);
      await orderTextsByByte(db);
    });
  }
  return await prepared(openDatabase<Tables>(place), async (db) => {
    try {
      await backUpOlder(db, place);
      await migrate(db);
    } catch (error) {
      throw isDamage(error) ? damagedStore(place, error) : error;
    }
  });
}

/** The store in an open database; closing it closes both. */
async function prepared(
  database: Database<Tables>,
  prepare: (db: Kysely<Tables>) => Promise<void>,
): Promise<Store> {
  try {
    await prepare(database.db);
  } catch (error) {
    await database.db.destroy();
    throw error;
  }
  return createStore(database.db, database, undefined);
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

function createStore(db: Kysely<Tables>, database: Database<Tables>, view: TenantView): Store {
  const store: Store = {
    ...tablesOn(db, view, database.executor, (work) => store.transaction(({ scans }) => work(scans))),
    executor: database.executor,
    forTenant: (tenant) => createStore(db, database, tenant),
    async transaction(work, isolation = 'serializable') {
      if (db.isTransaction) return await work(store);
      return await database.transaction(
        (transaction) => work(createStore(transaction, database, view)),
        isolation,
      );
    },
    version: () => database.version(),
    emptyLog: () => database.emptyLog(),
    onDamage: (listener) => database.onDamage(listener),
    releasePages: () => database.releasePages(maxReleasedPages),
    async execute(text, values) {
      const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...values]));
      return { rows };
    },
    async close() {
      if (!db.isTransaction) await db.destroy();
    },
  };
  return store;
}
