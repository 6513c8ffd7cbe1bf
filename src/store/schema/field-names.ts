import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';
import { renameCountedJobs } from './counting-triggers.ts';

/** Tables by their old and new names. */
const tables = [
  ['jobs', 'scan_queue'],
  ['job_orders', 'client_jobs'],
  ['divisions', 'shard_plans'],
] as const;

/** Columns by table, old and new name. */
const columns = [
  ['scan_queue', 'home', 'owner_server'],
  ['scan_queue', 'held_since', 'blackout_since'],
  ['idempotency_keys', 'answer', 'response'],
  ['shard_plans', 'begun', 'started'],
  ['shards', 'lapses', 'expired_leases'],
  ['shards', 'obeyed', 'applied_command'],
  ['shards', 'rate_kept', 'applied_rate'],
] as const;

interface RenamedIndex {
  from: string;
  to: string;
  table: 'scan_queue' | 'client_jobs';
  columns: string[];
  /** The index only covers rows with a value in this column. */
  notNull?: string;
}

/** Ordered: no new name is still in use as an old one. */
const indexes: readonly RenamedIndex[] = [
  {
    from: 'jobs_by_place',
    to: 'scan_queue_by_state',
    table: 'scan_queue',
    columns: ['state', 'position'],
  },
  { from: 'jobs_by_position', to: 'scan_queue_by_position', table: 'scan_queue', columns: ['position'] },
  { from: 'jobs_by_end', to: 'scan_queue_by_end', table: 'scan_queue', columns: ['state', 'finished_at'] },
  {
    from: 'jobs_by_tenant_end',
    to: 'scan_queue_by_tenant_end',
    table: 'scan_queue',
    columns: ['tenant', 'state', 'finished_at'],
  },
  {
    from: 'jobs_held',
    to: 'scan_queue_in_blackout',
    table: 'scan_queue',
    columns: ['blackout_since'],
    notNull: 'blackout_since',
  },
  {
    from: 'job_orders_by_age',
    to: 'client_jobs_by_tenant',
    table: 'client_jobs',
    columns: ['tenant', 'created_at', 'job_id'],
  },
  {
    from: 'job_orders_in_order',
    to: 'client_jobs_by_age',
    table: 'client_jobs',
    columns: ['created_at', 'job_id'],
  },
  {
    from: 'job_orders_by_turn',
    to: 'client_jobs_by_next_run',
    table: 'client_jobs',
    columns: ['status', 'next_run_at'],
  },
  {
    from: 'job_orders_by_end',
    to: 'client_jobs_by_end',
    table: 'client_jobs',
    columns: ['status', 'completed_at'],
  },
  {
    from: 'job_orders_with_next_run',
    to: 'client_jobs_with_next_run',
    table: 'client_jobs',
    columns: ['zone'],
    notNull: 'next_run_at',
  },
];

/**
 * Renames tables, columns and their indexes and constraints without rewriting rows, so the cost does not depend on
 * their number.
 */
export async function useFieldNames(db: Kysely<unknown>): Promise<void> {
  for (const [from, to] of tables) await db.schema.alterTable(from).renameTo(to).execute();
  for (const [table, from, to] of columns) await db.schema.alterTable(table).renameColumn(from, to).execute();
  for (const index of indexes) await renameIndex(db, index);
  if (isPostgres(db)) for (const [from, to] of tables) await renameConstraints(db, from, to);
  await renameCountedJobs(db, 'client_jobs');
}

/** SQLite cannot rename an index: rebuilds it, half a second of processor time per million rows. */
async function renameIndex(db: Kysely<unknown>, { from, to, table, ...index }: RenamedIndex): Promise<void> {
  if (isPostgres(db)) {
    await sql`alter index ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(db);
    return;
  }
  await db.schema.dropIndex(from).execute();
  const columns = index.columns.map((column) => sql.ref(column));
  const rows = index.notNull === undefined ? sql`` : sql` where ${sql.ref(index.notNull)} is not null`;
  await sql`create index ${sql.ref(to)} on ${sql.table(table)} (${sql.join(columns)})${rows}`.execute(db);
}

/** Keys and references are named after the table. */
async function renameConstraints(db: Kysely<unknown>, from: string, to: string): Promise<void> {
  const { rows } = await sql<{ conname: string }>`
    select conname from pg_constraint
    where conrelid = to_regclass(${to}) and starts_with(conname, ${`${from}_`})`.execute(db);
  for (const { conname } of rows) {
    const renamed = `${to}${conname.slice(from.length)}`;
    await sql`alter table ${sql.table(to)} rename constraint ${sql.ref(conname)} to ${sql.ref(renamed)}`.execute(
      db,
    );
  }
}
