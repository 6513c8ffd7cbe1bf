import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Scan, ScanRequest } from '../../domain/scan.ts';
import { migrationNames } from '../schema/migration-names.ts';
import { openDatabaseFile, translated } from '../sqlite/sqlite-file.ts';
import { listingOf } from './scan-listing.ts';
import { newScanRow, pendingScan, statesBefore, toRow } from './scan-row.ts';

/** Store access of a scan that runs in its own process; the whole store implements it too. */
export interface ScanRows {
  scans: {
    insert(request: ScanRequest, executor: string): Promise<unknown>;
    update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): Promise<boolean>;
    setSize(scanId: string, bytes: number): Promise<boolean>;
  };
  /** Runs `work` in one write transaction; an exception rolls everything back. */
  transaction<T>(work: (inside: Pick<ScanRows, 'scans'>) => Promise<T>): Promise<T>;
}

/**
 * Rows of scans without notifications, by plain statements: the command line needs no more of the store, and loading
 * all of it would take longer than many scans. Calls must not overlap.
 *
 * @param tenant whose scans they are; null without tenants
 * @throws PortolanError `configuration` if the file is not usable or was written by a newer version
 */
export async function openScanRows(file: string, tenant: string | null): Promise<OwnScanRows> {
  const database = openDatabaseFile(file);
  if (isUpToDate(database)) return new OwnScanRows(database, tenant);
  database.close();
  const { openStore } = await import('../open.ts');
  await (await openStore(file)).close();
  return new OwnScanRows(openDatabaseFile(file), tenant);
}

function isUpToDate(database: DatabaseSync): boolean {
  try {
    const had = database.prepare('select name from kysely_migration order by name').all();
    return had.map(({ name }) => name).join() === migrationNames.join();
  } catch {
    // A new file has no table; the full store reports other faults.
    return false;
  }
}

class OwnScanRows implements ScanRows {
  readonly scans: ScanRows['scans'] = {
    insert: (request, executor) => this.transaction(async () => this.#insert(request, executor)),
    update: async (scanId, patch) => this.#update(scanId, patch),
    setSize: async (scanId, bytes) => this.#change(scanId, { size_bytes: bytes }),
  };
  readonly #database: DatabaseSync;
  readonly #tenant: string | null;

  constructor(database: DatabaseSync, tenant: string | null) {
    this.#database = database;
    this.#tenant = tenant;
  }

  async transaction<T>(work: (inside: Pick<ScanRows, 'scans'>) => Promise<T>): Promise<T> {
    if (this.#database.isTransaction) return await work(this);
    // Takes the write lock first: a transaction that reads before it writes fails if another process wrote.
    this.#run('begin immediate', []);
    try {
      const result = await work(this);
      this.#run('commit', []);
      return result;
    } catch (error) {
      // On a full disk SQLite rolls back by itself.
      if (this.#database.isTransaction) this.#run('rollback', []);
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #insert(request: ScanRequest, executor: string): void {
    const scan = pendingScan(request);
    // The outbox is written with the end of a scan, and this class has none.
    if (scan.notifications.length > 0) throw new Error('a scan that notifies is kept by the store');
    const { scan_id } = scan;
    this.#add('scans', newScanRow(scan, request, executor, this.#tenant));
    for (const tag of new Set(scan.tags)) this.#add('scan_tags', { scan_id, tag });
    const listing = listingOf(scan.targets);
    if (listing) this.#add('scan_listings', { scan_id, ...listing });
  }

  #add(table: string, row: object): void {
    const columns = Object.keys(row);
    const places = columns.map(() => '?');
    this.#run(`insert into ${table} (${columns}) values (${places})`, Object.values(row));
  }

  /** Only fields that change while a scan runs: not targets, name and tags. */
  #update(scanId: string, patch: Partial<Omit<Scan, 'scan_id'>>): boolean {
    const before = patch.status ? statesBefore[patch.status] : null;
    return this.#change(scanId, toRow(patch), before);
  }

  #change(scanId: string, columns: object, before: readonly string[] | null = null): boolean {
    const set = Object.keys(columns).map((name) => `${name} = ?`);
    const states = before === null ? '' : ` and status in (${before.map(() => '?')})`;
    const statement = `update scans set ${set} where scan_id = ? and tenant is ?${states}`;
    return this.#run(statement, [...Object.values(columns), scanId, this.#tenant, ...(before ?? [])]) > 0;
  }

  /** @param statement built from identifiers of this program only; all values are parameters */
  #run(statement: string, parameters: SQLInputValue[]): number {
    return Number(translated(() => this.#database.prepare(statement).run(...parameters)).changes);
  }
}
