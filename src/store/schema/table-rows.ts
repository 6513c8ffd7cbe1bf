import { type ExpressionBuilder, type Kysely, PostgresAdapter, type SqlBool, sql } from 'kysely';
import { PortolanError } from '../../domain/errors.ts';
import { numberOfRows } from '../list-count.ts';
import { StoreTable } from '../store-table.ts';
import type { Tables } from './tables.ts';

/**
 * Tables with the content of the store, and their keys. Without `servers`, `workers` and `leases`, which are live
 * state, `result_blocks` and `shard_checkpoints`, which only unfinished scans have, `result_objects`, copies of the files of finished ones, `row_counts` and `scan_removals`, which triggers fill, and `plugin_packages`, which servers fill when they start.
 */
const keys = {
  scans: ['scan_id'],
  scan_tags: ['tag', 'scan_id'],
  scan_listings: ['scan_id'],
  tokens: ['id'],
  scan_queue: ['scan_id'],
  idempotency_keys: ['owner', 'key'],
  client_jobs: ['job_id'],
  job_runs: ['job_id', 'fire_at'],
  outbox: ['id'],
  shard_plans: ['scan_id'],
  shards: ['scan_id', 'shard'],
  alert_states: ['name', 'condition_digest'],
} as const satisfies {
  [T in Exclude<
    keyof Tables,
    | 'servers'
    | 'workers'
    | 'leases'
    | 'row_counts'
    | 'scan_removals'
    | 'plugin_packages'
    | 'result_blocks'
    | 'shard_checkpoints'
    | 'result_objects'
  >]: (keyof Tables[T])[];
};

export type ContentTable = keyof typeof keys;

/** Referenced rows come before the rows that refer to them. */
export const contentTables = Object.keys(keys) as ContentTable[];

/** A raw row of a table, by column. */
export type TableRow = Record<string, string | number | null>;

/** Rows of the first page; the row size determines the size of later ones. */
const firstRows = 20;
/** Maximum number of rows of a page. */
const maxRowsAtOnce = 500;
/** Target size of a page, characters. */
const fullPage = 1 << 20;
const largePage = 8 << 20;
/** Maximum parameters per statement; SQLite allows 32,766. */
const maxValues = 30_000;

/** SQLSTATE class of PostgreSQL for a value that a column cannot hold. */
const unfit = /^22/;

/** Raw rows of every table, to move a store as a whole; no tenant view and no rule applies. */
export class TableRows extends StoreTable {
  /** Blocks other writers until the end of the transaction. */
  async hold(): Promise<void> {
    // A write transaction of SQLite locks the whole file.
    if (!(this.db.getExecutor().adapter instanceof PostgresAdapter)) return;
    const tables = contentTables.map((table) => sql.table(table));
    await sql`lock table ${sql.join(tables)} in exclusive mode`.execute(this.db);
  }

  async count(table: ContentTable): Promise<number> {
    return await numberOfRows(this.db.selectFrom(table));
  }

  /**
   * All rows in the order of their key, which is the same in every kind of database, page by page.
   *
   * @throws PortolanError `configuration` for a number that cannot be represented exactly
   */
  async *pages(table: ContentTable): AsyncGenerator<TableRow[]> {
    let last: TableRow | null = null;
    for (let limit = firstRows; ; ) {
      const rows: TableRow[] = await this.#page(table, last, limit);
      for (const row of rows) demandExact(table, row);
      if (rows.length > 0) yield rows;
      if (rows.length < limit) return;
      last = rows.at(-1) ?? null;
      limit = nextLimit(limit, rows);
    }
  }

  async #page(table: ContentTable, last: TableRow | null, limit: number): Promise<TableRow[]> {
    const columns: readonly string[] = keys[table];
    const order = sql.join(columns.map((column) => sql.ref(column)));
    const rows = this.#anyTable
      .selectFrom(table)
      .selectAll()
      .$if(last !== null, (query) => query.where((e) => isAfter(e, columns, last ?? {})))
      .orderBy(order)
      .limit(limit);
    try {
      return (await rows.execute()) as TableRow[];
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE') throw error;
      throw new PortolanError('configuration', `A number of ${table} is beyond 2^53.`, {}, error);
    }
  }

  /** @throws PortolanError `configuration` for a row that this kind of database rejects */
  async insert(table: ContentTable, rows: readonly TableRow[]): Promise<void> {
    const width = Object.keys(rows[0] ?? {}).length;
    const most = Math.max(1, Math.floor(maxValues / Math.max(1, width)));
    for (let from = 0; from < rows.length; from += most)
      await this.#insert(table, rows.slice(from, from + most));
  }

  async #insert(table: ContentTable, rows: TableRow[]): Promise<void> {
    try {
      await this.#anyTable.insertInto(table).values(rows).execute();
    } catch (error) {
      if (!unfit.test((error as { code?: string }).code ?? '')) throw error;
      throw unfitRow(table, rows, error);
    }
  }

  /** Untyped access by column name: copies rows unchanged. */
  get #anyTable(): Kysely<Record<ContentTable, TableRow>> {
    return this.db as unknown as Kysely<Record<ContentTable, TableRow>>;
  }
}

function isAfter(
  e: ExpressionBuilder<Record<ContentTable, TableRow>, ContentTable>,
  columns: readonly string[],
  last: TableRow,
) {
  const refs = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(columns.map((column) => sql.val(last[column])));
  return e.and([sql<SqlBool>`(${refs}) > (${values})`]);
}

function nextLimit(limit: number, rows: TableRow[]): number {
  const characters = rows.reduce((sum, row) => sum + sizeOf(row), 0);
  if (characters > largePage) return Math.max(1, Math.floor(limit / 4));
  return characters < fullPage ? Math.min(maxRowsAtOnce, limit * 2) : limit;
}

function sizeOf(row: TableRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
    0,
  );
}

function demandExact(table: ContentTable, row: TableRow): void {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'number' && !Number.isSafeInteger(value))
      throw damaged(table, row, `${column} holds a number that is not whole or beyond 2^53`);
  }
}

function unfitRow(table: ContentTable, rows: TableRow[], cause: unknown): PortolanError {
  const row = rows.find((one) => Object.values(one).some((value) => String(value).includes('\0')));
  if (row) return damaged(table, row, 'a text has the character NUL in it, which PostgreSQL cannot hold');
  return damaged(table, rows[0] ?? {}, `it or one after it does not fit: ${(cause as Error).message}`, cause);
}

function damaged(table: ContentTable, row: TableRow, what: string, cause?: unknown): PortolanError {
  const key = keys[table].map((column) => String(row[column])).join(' ');
  return new PortolanError(
    'configuration',
    `The row ${key} of ${table} cannot be moved: ${what}.`,
    {},
    cause,
  );
}
