import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../database.ts';

/**
 * Indexes for lists that are filtered or sorted. Only in PostgreSQL: SQLite reads such lists in windows.
 *
 * An index serves a list whose expression equals its own: that of `sorted-scans.ts` and `scan-filter.ts`.
 */
export async function indexLists(db: Kysely<unknown>): Promise<void> {
  if (!isPostgres(db)) return;
  await indexTexts(db);
  // PostgreSQL calls the conversion of text to time changeable, as it depends on the session for texts without a zone.
  await sql`
    create function scan_duration(started_at text, completed_at text) returns double precision
    language sql immutable parallel safe as $duration$
      select coalesce(round(extract(epoch from (completed_at::timestamptz - started_at::timestamptz)) * 1000), -1)::double precision
    $duration$`.execute(db);
  await sql`create index scans_by_profile on scans (profile, created_at, scan_id)`.execute(db);
  await sql`create index scans_by_name on scans ((lower(coalesce(name, '')) collate "C"), scan_id)`.execute(
    db,
  );
  await sql`
    create index scans_by_rank on scans ((case status
      when 'pending' then 0 when 'running' then 1 when 'completed' then 2 when 'failed' then 3 else 4 end), scan_id)`.execute(
    db,
  );
  await sql`create index scans_by_findings on scans ((vulnerabilities::double precision), scan_id)`.execute(
    db,
  );
  await sql`create index scans_by_duration on scans (scan_duration(started_at, completed_at), scan_id)`.execute(
    db,
  );
  await sql`create index client_jobs_by_type on client_jobs (type, created_at, job_id)`.execute(db);
  await sql`create index client_jobs_by_pool on client_jobs (pool, created_at, job_id)`.execute(db);
}

/**
 * Trigrams of searched texts (https://www.postgresql.org/docs/15/pgtrgm.html). The few long texts have an index of their own, so
 * that a scan of a million addresses is not cut into trigrams at each change of its row. Without the right to create the
 * extension, a search reads every scan.
 */
async function indexTexts(db: Kysely<unknown>): Promise<void> {
  await sql`create index scans_with_long_text on scans (created_at, scan_id) where octet_length(searchable) > 16384`.execute(
    db,
  );
  await sql`
    do $trigrams$ begin
      create extension if not exists pg_trgm;
    exception when insufficient_privilege or undefined_file or feature_not_supported or unique_violation then
      raise notice 'searches of scans read every scan: %', sqlerrm;
    end $trigrams$`.execute(db);
  const { rows } = await sql<{ place: string }>`
    select quote_ident(nspname) as place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'pg_trgm'`.execute(db);
  const [extension] = rows;
  if (extension === undefined) return;
  const operators = sql.raw(`${extension.place}.gin_trgm_ops`);
  await sql`create index scans_by_text on scans using gin ((lower(left(searchable, 16384))) ${operators})`.execute(
    db,
  );
}
