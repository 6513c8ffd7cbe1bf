/** The migrations of the store, in order of creation, which is also alphabetical. */
export const migrationNames = [
  '0001-scans-tokens-jobs',
  '0002-idempotency-keys',
  '0003-tenants',
  '0004-paused-jobs',
  '0005-outbox',
  '0006-job-orders',
  '0007-scan-listings',
  '0008-shards',
  '0009-held-jobs',
  '0010-stored-results',
  '0011-divisions',
  '0012-row-counts',
  '0013-begun-divisions',
  '0014-field-names',
  '0015-notices',
  '0017-scan-origins',
  '0018-alerts',
  '0019-plugin-packages',
  '0020-followed-changes',
  '0021-counted-queue',
  '0022-priorities',
  '0023-list-indexes',
  '0024-small-scans',
  '0025-shard-results',
  '0026-result-objects',
  '0027-pool-tags',
  '0028-shard-jobs',
  '0029-scan-settings',
] as const;

export type MigrationName = (typeof migrationNames)[number];

/** Migrations that remove or rename tables or columns: programs that use the old schema fail after them. */
export const incompatibleMigrations: readonly string[] = ['0014-field-names'] satisfies MigrationName[];
