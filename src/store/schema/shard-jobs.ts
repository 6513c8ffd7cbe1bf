import type { Kysely } from 'kysely';

/** The job by which a shard is claimed, since when, and whether its place is asked for; shards of earlier versions have none. */
export async function addShardJobs(db: Kysely<unknown>): Promise<void> {
  const columns = { job_line: 'text', job_id: 'text', job_retry: 'integer', claimed_at: 'bigint' } as const;
  for (const [column, type] of Object.entries(columns))
    await db.schema.alterTable('shards').addColumn(column, type).execute();
  await db.schema
    .alterTable('shards')
    .addColumn('give_back', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
