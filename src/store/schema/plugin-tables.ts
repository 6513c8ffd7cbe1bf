import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/** Packages of plugins, for all servers and workers of the database. */
export async function createPluginPackages(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('plugin_packages')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('installed_at', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('file_name', 'text')
    .addColumn('signature', 'text')
    .addColumn('bytes', isPostgres(db) ? sql`bytea` : 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('plugin_packages_key', ['name', 'version', 'sha256'])
    .execute();
}
