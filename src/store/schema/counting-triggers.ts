import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/** A table with rows counted by tenant and status. */
interface CountedTable {
  name: string;
  /** Column with the status. */
  status: string;
  /** Column that is summed up, bytes; null = none. */
  bytes: string | null;
}

/** Under the names of the migration that created the triggers. */
const firstCountedTables: readonly CountedTable[] = [
  { name: 'scans', status: 'status', bytes: 'size_bytes' },
  { name: 'job_orders', status: 'status', bytes: null },
];

/**
 * Creates the table `row_counts` and the triggers that maintain it. SQLite, which has one writer at a time, holds one
 * row per tenant and status. PostgreSQL appends a row per change: writers never wait for each other, the count is the
 * sum of the rows, and `RowCounts.fold` merges them.
 */
export async function createRowCounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('row_counts')
    .addColumn('counted', 'text', (column) => column.notNull())
    .addColumn('tenant', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('total', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .execute();
  const onPostgres = isPostgres(db);
  await db.schema
    .createIndex('row_counts_key')
    .on('row_counts')
    .columns(['counted', 'tenant', 'status'])
    .$call((index) => (onPostgres ? index : index.unique()))
    .execute();
  for (const table of firstCountedTables) {
    await sql.raw(countAll(table)).execute(db);
    await createTriggers(db, table);
  }
}

/** Counts `job_orders` under its new name, which the table already has. */
export async function renameCountedJobs(db: Kysely<unknown>, to: string): Promise<void> {
  const from = 'job_orders';
  await dropTriggers(db, { name: from, table: to });
  await sql`update row_counts set counted = ${to} where counted = ${from}`.execute(db);
  await createTriggers(db, { name: to, status: 'status', bytes: null });
}

/** PostgreSQL: positions in the queue of scans; see `ScanQueueTable.insert`. */
export const positionSequence = 'scan_queue_position';

/** Counts the queue of scans, and gives out its positions without reading it. */
export async function countQueue(db: Kysely<unknown>): Promise<void> {
  const queue = { name: 'scan_queue', status: 'state', bytes: null };
  // Servers of the version before may run: no change may come between the count and its triggers.
  if (isPostgres(db)) await sql`lock table scan_queue in share row exclusive mode`.execute(db);
  await sql.raw(countAll(queue)).execute(db);
  await createTriggers(db, queue);
  if (!isPostgres(db)) return;
  await sql.raw(`create sequence ${positionSequence}`).execute(db);
  await continuePositions(db);
}

/** PostgreSQL: the next position comes after all in the table. */
export async function continuePositions<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`select setval(${positionSequence}, (select coalesce(max(position), 0) + 1 from scan_queue), false)`.execute(
    db,
  );
}

async function createTriggers(db: Kysely<unknown>, table: CountedTable): Promise<void> {
  const triggers = isPostgres(db) ? postgresTriggers(table) : sqliteTriggers(table);
  for (const text of triggers) await sql.raw(text).execute(db);
}

async function dropTriggers(
  db: Kysely<unknown>,
  { name, table }: { name: string; table: string },
): Promise<void> {
  if (isPostgres(db)) {
    for (const change of ['insert', 'delete', 'truncate', 'update'])
      await sql.raw(`drop trigger ${name}_count_${change} on ${table}`).execute(db);
    await sql.raw(`drop function count_${name}(), recount_${name}()`).execute(db);
  } else {
    for (const change of ['insert', 'delete', 'update'])
      await sql.raw(`drop trigger ${name}_count_${change}`).execute(db);
  }
}

function countAll({ name, status, bytes }: CountedTable): string {
  const sum = bytes === null ? '0' : `cast(sum(${bytes}) as bigint)`;
  return `insert into row_counts select '${name}', coalesce(tenant, ''), ${status}, count(*), ${sum} from ${name} group by tenant, ${status}`;
}

function sqliteTriggers(table: CountedTable): string[] {
  const { name, status, bytes } = table;
  const add = (row: 'new' | 'old', sign: '' | '-') =>
    `insert into row_counts values ('${name}', coalesce(${row}.tenant, ''), ${row}.${status}, ${sign}1, ${sign}${bytesOf(table, row)})
      on conflict (counted, tenant, status) do update set total = total + excluded.total, bytes = bytes + excluded.bytes;`;
  const columns = ['tenant', status, ...(bytes === null ? [] : [bytes])];
  const changed = columns.map((column) => `old.${column} is not new.${column}`).join(' or ');
  return [
    `create trigger ${name}_count_insert after insert on ${name} begin ${add('new', '')} end`,
    `create trigger ${name}_count_delete after delete on ${name} begin ${add('old', '-')} end`,
    `create trigger ${name}_count_update after update of ${columns.join(', ')} on ${name} when ${changed}
      begin ${add('old', '-')} ${add('new', '')} end`,
  ];
}

function postgresTriggers(table: CountedTable): string[] {
  const { name, status, bytes } = table;
  const sum = (sign: '' | '-') => (bytes === null ? '0' : `${sign}sum(${bytes})`);
  const addAll = (sign: '' | '-') =>
    `insert into row_counts select '${name}', coalesce(tenant, ''), ${status}, ${sign}count(*), ${sum(sign)} from changed group by tenant, ${status};`;
  const columns = ['tenant', status, ...(bytes === null ? [] : [bytes])];
  const changed = columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');
  // Not a condition of the trigger: PostgreSQL cannot change the collation of columns named there.
  const counting = `language plpgsql set search_path from current`;
  return [
    `create function count_${name}() returns trigger ${counting} as $count$ begin
      if tg_op = 'INSERT' then ${addAll('')}
      elsif tg_op = 'DELETE' then ${addAll('-')}
      else delete from row_counts where counted = '${name}';
      end if;
      return null;
    end $count$`,
    `create function recount_${name}() returns trigger ${counting} as $count$ begin
      if ${changed} then insert into row_counts values
        ('${name}', coalesce(old.tenant, ''), old.${status}, -1, -${bytesOf(table, 'old')}),
        ('${name}', coalesce(new.tenant, ''), new.${status}, 1, ${bytesOf(table, 'new')});
      end if;
      return null;
    end $count$`,
    `create trigger ${name}_count_insert after insert on ${name} referencing new table as changed
      for each statement execute function count_${name}()`,
    `create trigger ${name}_count_delete after delete on ${name} referencing old table as changed
      for each statement execute function count_${name}()`,
    `create trigger ${name}_count_truncate after truncate on ${name} for each statement execute function count_${name}()`,
    `create trigger ${name}_count_update after update on ${name} for each row
      execute function recount_${name}()`,
  ];
}

function bytesOf({ bytes }: CountedTable, row: 'new' | 'old'): string {
  return bytes === null ? '0' : `${row}.${bytes}`;
}
