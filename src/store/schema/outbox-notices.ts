import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/** Allows rows of the outbox without a scan, with a stored message; adds an index of runs by scan. */
export async function addNotices(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('job_runs_by_scan').on('job_runs').column('scan_id').execute();
  if (!isPostgres(db)) return await rebuildOutbox(db);
  await sql`alter table outbox alter column scan_id drop not null`.execute(db);
  await db.schema.alterTable('outbox').addColumn('event', 'text').addColumn('payload', 'text').execute();
}

/** SQLite cannot drop "not null" from a column. No table refers to the outbox, and it has few rows. */
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
