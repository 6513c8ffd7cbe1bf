import { type Kysely, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { PortolanError } from '../../domain/errors.ts';
import { listingOf } from '../scans/scan-listing.ts';
import { createAlerts } from './alert-tables.ts';
import { countQueue, createRowCounts } from './counting-triggers.ts';
import { useFieldNames } from './field-names.ts';
import { indexLists } from './list-indexes.ts';
import type { MigrationName } from './migration-names.ts';
import { addNotices } from './outbox-notices.ts';
import { createPluginPackages } from './plugin-tables.ts';
import { addFollowedChanges } from './removal-log.ts';
import { createResultObjects, createShardResults } from './result-tables.ts';
import { addShardJobs } from './shard-jobs.ts';
import type { Tables } from './tables.ts';

/** Never change a published one. */
const migrations: Record<MigrationName, Migration> = {
  '0001-scans-tokens-jobs': { up: createFirstTables },
  '0002-idempotency-keys': { up: createIdempotencyKeys },
  '0003-tenants': { up: addTenants },
  '0004-paused-jobs': { up: addPauses },
  '0005-outbox': { up: createOutbox },
  '0006-job-orders': { up: createJobOrders },
  '0007-scan-listings': { up: createScanListings },
  '0008-shards': { up: createShards },
  '0009-held-jobs': { up: addHolds },
  '0010-stored-results': { up: addStoredResults },
  '0011-divisions': { up: createDivisions },
  '0012-row-counts': { up: numberOfRows },
  '0013-begun-divisions': { up: addBegun },
  '0014-field-names': { up: useFieldNames },
  '0015-notices': { up: addNotices },
  '0017-scan-origins': { up: addOrigins },
  '0018-alerts': { up: createAlerts },
  '0019-plugin-packages': { up: createPluginPackages },
  '0020-followed-changes': { up: addFollowedChanges },
  '0021-counted-queue': { up: countQueue },
  '0022-priorities': { up: addPriorities },
  '0023-list-indexes': { up: indexLists },
  '0024-small-scans': { up: addSmallScans },
  '0025-shard-results': { up: createShardResults },
  '0026-result-objects': { up: createResultObjects },
  '0027-pool-tags': { up: addServerText('pool_tags') },
  '0028-shard-jobs': { up: addShardJobs },
  '0029-scan-settings': { up: addServerText('settings') },
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

async function addTenants(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('scans').addColumn('tenant', 'text').execute();
  await db.schema.alterTable('jobs').addColumn('tenant', 'text').execute();
  await db.schema
    .createIndex('scans_by_tenant')
    .on('scans')
    // With the size: an index-only scan gives the totals of a tenant.
    .columns(['tenant', 'created_at', 'scan_id', 'size_bytes'])
    .execute();
  await db.schema
    .createIndex('scans_by_tenant_status')
    .on('scans')
    .columns(['tenant', 'status', 'created_at', 'scan_id'])
    .execute();
  await db.schema.createIndex('jobs_by_tenant').on('jobs').columns(['tenant', 'state']).execute();
}

async function addPauses(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('jobs').addColumn('paused_since', 'bigint').execute();
  await db.schema
    .alterTable('jobs')
    .addColumn('paused_ms', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
}

async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('scan_id', 'text', (column) =>
      column.notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .addColumn('tenant', 'text')
    .execute();
  await db.schema.createIndex('outbox_by_turn').on('outbox').columns(['owner', 'next_at', 'id']).execute();
  await db.schema.createIndex('outbox_by_scan').on('outbox').column('scan_id').execute();
}

/**
 * Jobs as clients see them. The older table `jobs` is the queue of waiting scans, one row each, whoever submitted
 * them.
 */
async function createJobOrders(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('job_orders')
    .addColumn('job_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('tenant', 'text')
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('pool', 'text', (column) => column.notNull())
    .addColumn('name', 'text')
    .addColumn('schedule', 'text')
    .addColumn('zone', 'text', (column) => column.notNull())
    .addColumn('next_run_at', 'text')
    .addColumn('last_run_at', 'text')
    .addColumn('last_status', 'text')
    .addColumn('run_count', 'bigint', (column) => column.notNull())
    // No foreign key: the job outlives its scan and still names it.
    .addColumn('scan_id', 'text')
    .addColumn('started_at', 'text')
    .addColumn('completed_at', 'text')
    .addColumn('error', 'text')
    .addColumn('created_by', 'text')
    .addColumn('params', 'text', (column) => column.notNull())
    .execute();
  await createJobRuns(db);
  await db.schema
    .createIndex('job_orders_by_age')
    .on('job_orders')
    .columns(['tenant', 'created_at', 'job_id'])
    .execute();
  await db.schema
    .createIndex('job_orders_by_turn')
    .on('job_orders')
    .columns(['status', 'next_run_at'])
    .execute();
  await db.schema.alterTable('idempotency_keys').addColumn('answer', 'text').execute();
}

async function createJobRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('job_runs')
    .addColumn('job_id', 'text', (column) =>
      column.notNull().references('job_orders.job_id').onDelete('cascade'),
    )
    .addColumn('fire_at', 'text', (column) => column.notNull())
    .addColumn('scan_id', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('completed_at', 'text')
    // Each occurrence runs exactly once, whatever happens to the process that started it.
    .addPrimaryKeyConstraint('job_runs_key', ['job_id', 'fire_at'])
    .execute();
}

async function createScanListings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('scan_listings')
    .addColumn('scan_id', 'text', (column) =>
      column.primaryKey().notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addColumn('targets', 'text', (column) => column.notNull())
    .addColumn('targets_total', 'bigint', (column) => column.notNull())
    .execute();
  await fillScanListings(db as Kysely<Pick<Tables, 'scans' | 'scan_listings'>>);
}

/** Shorter texts hold no more targets than a list shows. */
const shortTargets = 1000;

async function fillScanListings(db: Kysely<Pick<Tables, 'scans' | 'scan_listings'>>): Promise<void> {
  const long = await db
    .selectFrom('scans')
    .select('scan_id')
    .where(sql<boolean>`octet_length(targets) > ${shortTargets}`)
    .execute();
  for (const { scan_id } of long) {
    const { targets } = await db
      .selectFrom('scans')
      .select('targets')
      .where('scan_id', '=', scan_id)
      .executeTakeFirstOrThrow();
    const listing = listingOf(JSON.parse(targets) as string[]);
    if (listing)
      await db
        .insertInto('scan_listings')
        .values({ scan_id, ...listing })
        .execute();
  }
}

/** Tables for scans that many hosts share. */
async function createShards(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('jobs').addColumn('home', 'text').execute();
  await db.schema
    .createTable('shards')
    .addColumn('scan_id', 'text', (column) =>
      column.notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addColumn('shard', 'integer', (column) => column.notNull())
    .addColumn('of', 'integer', (column) => column.notNull())
    .addColumn('pool', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('lapses', 'integer', (column) => column.notNull())
    .addColumn('lease_until', 'bigint')
    .addColumn('worker', 'text')
    .addColumn('key_digest', 'text')
    .addColumn('rows', 'bigint', (column) => column.notNull())
    .addColumn('command', 'text', (column) => column.notNull())
    .addColumn('obeyed', 'text')
    .addColumn('rate', 'bigint', (column) => column.notNull())
    .addColumn('rate_kept', 'bigint')
    .addColumn('finished_at', 'text')
    .addColumn('rules', 'text')
    .addColumn('live', 'text')
    .addColumn('outcome', 'text')
    .addColumn('spec', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('shards_key', ['scan_id', 'shard'])
    .execute();
  await db.schema.createIndex('shards_by_lease').on('shards').columns(['state', 'lease_until']).execute();
  await db.schema
    .createTable('servers')
    .addColumn('server_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('last_seen', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('workers')
    .addColumn('worker_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('pools', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('capacity', 'integer', (column) => column.notNull())
    .addColumn('active', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('last_seen', 'bigint', (column) => column.notNull())
    .execute();
}

/** A scan can be stopped for two reasons at a time: a client paused it, and a blackout window. */
async function addHolds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('jobs').addColumn('held_since', 'bigint').execute();
}

async function addStoredResults(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('scans').addColumn('stored_at', 'text').execute();
  await db.schema
    .createIndex('scans_to_store')
    .on('scans')
    .columns(['status', 'created_at', 'scan_id'])
    .where(sql.ref('stored_at'), 'is', null)
    .execute();
}

/** A shard becomes each n-th address of one list. Scans divided in the old way are divided again. */
async function createDivisions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('divisions')
    .addColumn('scan_id', 'text', (column) =>
      column.primaryKey().notNull().references('scans.scan_id').onDelete('cascade'),
    )
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('addresses', 'text', (column) => column.notNull())
    .addColumn('hostnames', 'text', (column) => column.notNull())
    .execute();
  await sql`delete from shards`.execute(db);
  await db.schema.alterTable('shards').dropColumn('spec').execute();
}

/** The cost of a statement of a running server no longer depends on the number of scans and jobs. */
async function numberOfRows(db: Kysely<unknown>): Promise<void> {
  await createRowCounts(db);
  await db.schema.createIndex('jobs_by_end').on('jobs').columns(['state', 'finished_at']).execute();
  await db.schema.dropIndex('jobs_by_tenant').execute();
  await db.schema
    .createIndex('jobs_by_tenant_end')
    .on('jobs')
    .columns(['tenant', 'state', 'finished_at'])
    .execute();
  await db.schema
    .createIndex('jobs_held')
    .on('jobs')
    .column('held_since')
    .where(sql.ref('held_since'), 'is not', null)
    .execute();
  // With "tenant is null" PostgreSQL takes no order from an index that begins with the tenant.
  await db.schema
    .createIndex('job_orders_in_order')
    .on('job_orders')
    .columns(['created_at', 'job_id'])
    .execute();
  await db.schema
    .createIndex('job_orders_by_end')
    .on('job_orders')
    .columns(['status', 'completed_at'])
    .execute();
  await db.schema
    .createIndex('job_orders_with_next_run')
    .on('job_orders')
    .column('zone')
    .where(sql.ref('next_run_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('job_runs_open')
    .on('job_runs')
    .column('job_id')
    .where(sql.ref('completed_at'), 'is', null)
    .execute();
}

/** Before this migration a scan started when it was divided. */
async function addBegun(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('divisions')
    .addColumn('begun', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
}

/** Scans of earlier versions have neither. */
async function addOrigins(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('scans').addColumn('request_id', 'text').execute();
  await db.schema.alterTable('scans').addColumn('traceparent', 'text').execute();
}

async function addPriorities(db: Kysely<unknown>): Promise<void> {
  for (const table of ['scans', 'scan_queue', 'client_jobs'])
    await db.schema
      .alterTable(table)
      .addColumn('priority', 'integer', (column) => column.notNull().defaultTo(5))
      .execute();
  // PostgreSQL takes no order from an index that begins with the tenant when that is null.
  for (const columns of [['state'], ['tenant', 'state']])
    await db.schema
      .createIndex(columns.length > 1 ? 'scan_queue_by_tenant_turn' : 'scan_queue_by_turn')
      .on('scan_queue')
      .columns([...columns, 'priority desc', 'position'])
      .execute();
}

/** Scans of earlier versions count as large. */
async function addSmallScans(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('scan_queue')
    .addColumn('small', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createIndex('scan_queue_small_by_turn')
    .on('scan_queue')
    .columns(['state', 'priority desc', 'position'])
    .where(sql.ref('small'), '=', sql.lit(1))
    .execute();
}

/** A text that servers of earlier versions do not have. */
function addServerText(column: string) {
  return async ({ schema }: Kysely<unknown>): Promise<void> =>
    await schema.alterTable('servers').addColumn(column, 'text').execute();
}

const provider: MigrationProvider = { getMigrations: async () => migrations };

/** Names of the migrations that a store has had, and of those it lacks, in order. */
export interface StoreVersion {
  applied: string[];
  pending: string[];
}

export async function storeVersion<Tables>(db: Kysely<Tables>): Promise<StoreVersion> {
  const found = await new Migrator({ db, provider }).getMigrations();
  const names = (done: boolean) =>
    found.filter(({ executedAt }) => (executedAt !== undefined) === done).map(({ name }) => name);
  return { applied: names(true), pending: names(false) };
}

/**
 * Applies the missing migrations, each atomically.
 *
 * @param last the migration to stop after, which leaves a store as an earlier version did
 * @throws PortolanError `configuration` if a newer version of the product has written the store
 */
export async function migrate<Tables>(db: Kysely<Tables>, last?: MigrationName): Promise<void> {
  const migrator = new Migrator({ db, provider });
  const { error } = await (last === undefined ? migrator.migrateToLatest() : migrator.migrateTo(last));
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
  return error instanceof Error && /previously executed migration \S{1,200} is missing/.test(error.message);
}
