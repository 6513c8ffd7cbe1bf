import type { Kysely } from 'kysely';

/** The job by which a shard is claimed; shards of earlier versions have none. */
export async function addShardJobs(db: Kysely<unknown>): Promise<void> {
  const columns = { job_line: 'text', job_id: 'text', job_retry: 'integer' } as const;
  for (const [column, type] of Object.entries(columns))
    await db.schema.alterTable('shards').addColumn(column, type).execute();
}
