import type { Kysely } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { PortolanError } from '../domain/errors.ts';

/** In order; a published one is never changed. Names sort alphabetically in the order of their making. */
const migrations: Record<string, Migration> = {
  '0001-scans-tokens-jobs': { up: createFirstTables },
  '0002-idempotency-keys': { up: createIdempotencyKeys },
};

async function createFirstTables(db: Kysely<unknown>): Promise<void> {
  await createScans(db);
  await createTokens(db);
  await createJobs(db);
}

async function createScans(db: Kysely<unknown>): Promise<void> {
  // The long texts come last: SQLite then reads the short columns without following overflow pages.
  await db.schema
    .createTable('scans')
    .addColumn('scan_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('executor', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('completed_at', 'text')
    .addColumn('profile', 'text', (column) => column.notNull())
    .addColumn('vuln', 'integer', (column) => column.notNull())
    .addColumn('name', 'text')
    .addColumn('pool', 'text', (column) => column.notNull())
    .addColumn('live_hosts', 'bigint', (column) => column.notNull())
    .addColumn('open_ports', 'bigint', (column) => column.notNull())
    .addColumn('vulnerabilities', 'bigint', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('progress', 'text', (column) => column.notNull())
    .addColumn('severity_counts', 'text', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('notifications', 'text', (column) => column.notNull())
    .addColumn('warnings', 'text', (column) => column.notNull())
    .addColumn('stages', 'text', (column) => column.notNull())
    .addColumn('targets', 'text', (column) => column.notNull())
    .addColumn('searchable', 'text', (column) => column.notNull())
    .addColumn('request', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('scans_by_age').on('scans').columns(['created_at', 'scan_id']).execute();
  await db.schema
    .createIndex('scans_by_status')
    .on('scans')
    .columns(['status', 'created_at', 'scan_id'])
    .execute();
  await db.schema
    .createTable('scan_tags')
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('scan_id', 'text', (column) =>
      column.notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('scan_tags_key', ['tag', 'scan_id'])
    .execute();
  await db.schema.createIndex('scan_tags_by_scan').on('scan_tags').column('scan_id').execute();
}

async function createTokens(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tokens')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('previous_digest', 'text')
    .addColumn('previous_until', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('tenant', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('last_used_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute();
}

async function createJobs(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('jobs')
    .addColumn('scan_id', 'text', (column) =>
      column.primaryKey().notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addColumn('pool', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('lease_until', 'bigint')
    .addColumn('worker', 'text')
    .addColumn('cancel_requested', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text')
    .execute();
  await db.schema.createIndex('jobs_by_place').on('jobs').columns(['state', 'position']).execute();
  await db.schema.createIndex('jobs_by_position').on('jobs').column('position').execute();
}

async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('scan_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['owner', 'key'])
    .execute();
  await db.schema
    .createIndex('idempotency_keys_by_age')
    .on('idempotency_keys')
    .column('created_at')
    .execute();
}

const provider: MigrationProvider = { getMigrations: async () => migrations };

/**
 * Brings the tables up to date; every migration is done wholly or not at all.
 *
 * @throws PortolanError `configuration` when a newer version of the product has written the store
 */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (isFromNewerVersion(error)) {
    throw new PortolanError(
      'configuration',
      'The store was written by a newer version of portolan. Install that version, or use another workspace.',
      {},
      error,
    );
  }
  throw error;
}

function isFromNewerVersion(error: unknown): boolean {
  return error instanceof Error && /previously executed migration .* is missing/.test(error.message);
}
