import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/** Lets a row of the outbox stand without a scan, and hold its message; finds the run of a scan. */
export async function addNotices(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('job_runs_by_scan').on('job_runs').column('scan_id').execute();
  if (!isPostgres(db)) return await rebuildOutbox(db);
  await sql`alter table outbox alter column scan_id drop not null`.execute(db);
  await db.schema.alterTable('outbox').addColumn('event', 'text').addColumn('payload', 'text').execute();
}

/** SQLite cannot take "not null" from a column. No table refers to this one, and few rows wait in it. */
async function rebuildOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox_with_notices')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('scan_id', 'text', (column) => column.references('scans.scan_id').onDelete('cascade'))
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .addColumn('tenant', 'text')
    .addColumn('event', 'text')
    .addColumn('payload', 'text')
    .execute();
  await sql`
    insert into outbox_with_notices (id, scan_id, channel, owner, attempts, next_at, tenant)
    select id, scan_id, channel, owner, attempts, next_at, tenant from outbox`.execute(db);
  await db.schema.dropTable('outbox').execute();
  await db.schema.alterTable('outbox_with_notices').renameTo('outbox').execute();
  await db.schema.createIndex('outbox_by_turn').on('outbox').columns(['owner', 'next_at', 'id']).execute();
  await db.schema.createIndex('outbox_by_scan').on('outbox').column('scan_id').execute();
}
