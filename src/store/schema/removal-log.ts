import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/**
 * Creates the table `scan_removals`, which triggers fill: followers of the service learn of scans that any process
 * deletes. Adds who paused a scan, and when.
 */
export async function addFollowedChanges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('scan_removals')
    .addColumn('scan_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('tenant', 'text')
    .addColumn('removed_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('scan_removals_by_time').on('scan_removals').column('removed_at').execute();
  for (const text of isPostgres(db) ? postgresTrigger : sqliteTrigger) await sql.raw(text).execute(db);
  await db.schema.alterTable('scan_queue').addColumn('paused_by', 'text').execute();
  await db.schema.alterTable('scan_queue').addColumn('paused_at', 'text').execute();
}

const sqliteTrigger = [
  `create trigger scans_log_removal after delete on scans begin
    insert or replace into scan_removals values
      (old.scan_id, old.tenant, cast(unixepoch('now', 'subsec') * 1000 as integer));
  end`,
];

const postgresTrigger = [
  `create function log_scan_removals() returns trigger language plpgsql set search_path from current as $log$ begin
    insert into scan_removals
      select scan_id, tenant, (extract(epoch from clock_timestamp()) * 1000)::bigint from changed
      on conflict (scan_id) do update set removed_at = excluded.removed_at;
    return null;
  end $log$`,
  `create trigger scans_log_removal after delete on scans referencing old table as changed
    for each statement execute function log_scan_removals()`,
];
