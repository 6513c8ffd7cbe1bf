import type { Kysely } from 'kysely';

/** Alert states, the lease of the server that evaluates them, and free disk space of servers. */
export async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alert_states')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('condition_digest', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('pending_ms', 'bigint', (column) => column.notNull())
    .addColumn('quiet_ms', 'bigint', (column) => column.notNull())
    .addColumn('error', 'text')
    .addPrimaryKeyConstraint('alert_states_key', ['name', 'condition_digest'])
    .execute();
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.alterTable('servers').addColumn('free_bytes', 'bigint').execute();
}
