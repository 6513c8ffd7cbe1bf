import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/** Results of the shards of unfinished scans. Scans that are already divided keep theirs on the disk of their owner. */
export async function createShardResults(db: Kysely<unknown>): Promise<void> {
  const bytes = isPostgres(db) ? sql`bytea` : 'blob';
  await db.schema.alterTable('shard_plans').addColumn('blocks', 'integer').execute();
  await db.schema
    .createTable('result_blocks')
    .addColumn('scan_id', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('shard', 'integer', (column) => column.notNull())
    .addColumn('rows', 'integer', (column) => column.notNull())
    .addColumn('bytes', bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint('result_blocks_key', ['scan_id', 'number'])
    .execute();
  await db.schema
    .createIndex('result_blocks_by_shard')
    .on('result_blocks')
    .columns(['scan_id', 'shard', 'number'])
    .execute();
  await db.schema
    .createTable('shard_checkpoints')
    .addColumn('scan_id', 'text', (column) => column.notNull())
    .addColumn('shard', 'integer', (column) => column.notNull())
    .addColumn('bytes', bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint('shard_checkpoints_key', ['scan_id', 'shard'])
    .execute();
  await keepAsIs(db, 'result_blocks');
}

/** Files of finished scans. */
export async function createResultObjects(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('result_objects')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('part', 'integer', (column) => column.notNull())
    .addColumn('parts', 'integer', (column) => column.notNull())
    .addColumn('bytes', isPostgres(db) ? sql`bytea` : 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('result_objects_key', ['name', 'part'])
    .execute();
  await keepAsIs(db, 'result_objects');
}

/** PostgreSQL would try to compress what is compressed already. */
async function keepAsIs(db: Kysely<unknown>, table: string): Promise<void> {
  if (isPostgres(db))
    await sql`alter table ${sql.table(table)} alter column bytes set storage external`.execute(db);
}
