import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openPostgres } from '../src/store/postgres/postgres-dialect.ts';
import type { MigrationName } from '../src/store/schema/migration-names.ts';
import { migrate } from '../src/store/schema/migrations.ts';
import { openDatabase } from '../src/store/sqlite/sqlite-dialect.ts';
import { runStatements } from './postgres.ts';

/** The last migration before the tables got other names. */
export const beforeFieldNames: MigrationName = '0013-begun-divisions';

/** Makes an empty SQLite file as an earlier version left it. @param last the newest migration that it knew */
export async function createOlderFile(file: string, last: MigrationName): Promise<void> {
  const { db } = openDatabase<unknown>(file);
  await migrate(db, last);
  await db.destroy();
}

/** The same in an empty PostgreSQL database. */
export async function createOlderDatabase(url: string, last: MigrationName): Promise<void> {
  const { db } = await openPostgres<unknown>(url, null);
  await migrate(db, last);
  await db.destroy();
}

/** A row of any version of a table, by column. */
export type OlderRow = Record<string, string | number | null>;

/** Rows with their tables. */
export type OlderRows = readonly (readonly [table: string, row: OlderRow])[];

/** Inserts rows into a SQLite file; columns that the table does not have yet are left out. */
export function insertIntoFile(file: string, rows: OlderRows): void {
  const raw = new DatabaseSync(file);
  for (const [table, row] of rows) {
    const columns = raw.prepare('select name from pragma_table_info(?)').all(table);
    raw.exec(
      insertText(
        table,
        row,
        columns.map(({ name }) => String(name)),
      ),
    );
  }
  raw.close();
}

/** The same into a PostgreSQL database. */
export async function insertIntoDatabase(url: string, rows: OlderRows): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found = await client.query(
    "select table_name, column_name from information_schema.columns where table_schema = 'portolan'",
  );
  await client.end();
  const statements = rows.map(([table, row]) => {
    const columns = found.rows.filter(({ table_name }) => table_name === table);
    return insertText(
      `portolan.${table}`,
      row,
      columns.map(({ column_name }) => String(column_name)),
    );
  });
  await runStatements(url, statements);
}

/** The values hold no quotes. */
function insertText(table: string, row: OlderRow, columns: readonly string[]): string {
  const present = Object.entries(row).filter(([column]) => columns.includes(column));
  const names = present.map(([column]) => `"${column}"`).join(', ');
  const values = present.map(([, value]) => (typeof value === 'string' ? `'${value}'` : String(value)));
  return `insert into ${table} (${names}) values (${values.join(', ')})`;
}

/** A statement: a server of some version sent its last heartbeat so many seconds ago. */
export function heartbeatOf(serverId: string, version: string, secondsAgo: number): string {
  return `insert into portolan.servers (server_id, url, version, last_seen) values ('${serverId}',
    'http://h-${serverId}:8080', '${version}', ${agoText(secondsAgo)})`;
}

/** The same of a worker on the host `h`. */
export function workerHeartbeatOf(workerId: string, version: string, secondsAgo: number): string {
  return `insert into portolan.workers (worker_id, host, pools, tags, version, capacity, active, started_at, last_seen)
    values ('${workerId}', 'h', '[]', '[]', '${version}', 1, 0, '2026-01-01T00:00:00.000Z', ${agoText(secondsAgo)})`;
}

function agoText(seconds: number): string {
  return `extract(epoch from clock_timestamp()) * 1000 - ${seconds * 1000}`;
}

/** Whether a database has the tables of this version. Opens it without the program, which would migrate it. */
export async function hasFieldNames(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select to_regclass('portolan.scan_queue') is not null as there`);
  await client.end();
  return rows[0].there;
}
