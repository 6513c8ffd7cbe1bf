import { type ExpressionBuilder, type Kysely, type QueryCreator, type RawBuilder, sql } from 'kysely';
import type { LeasedShard, ShardCommand, ShardPlan } from '../domain/shard.ts';
import { isPostgres } from './database.ts';
import { runPrepared } from './prepared-statement.ts';
import { flag, type ShardTableRow, type Tables } from './schema/tables.ts';
import { leasedShard } from './shard-results.ts';
import { StoreTable } from './store-table.ts';

/**
 * A statement on jobs that runs as a part of one on their shards: both change together, in one round trip to the database, which
 * takes longer than the work. `text` has `$1` for the first of `values`.
 */
export interface JobStatement {
  text: string;
  values: readonly unknown[];
}

/** The claim of a job. One with an older `retry` is over. */
export interface ClaimedJob {
  line: string;
  id: string;
  /** Claims of it that were lost or failed before. */
  retry: number;
}

/** Claims the next job of a queue, with at least `minPriority`, which is one of the values. */
export interface JobFetch extends JobStatement {
  minPriority: number;
}

/** A claimed shard. `attempt` identifies the claim: writes with an older one are rejected. */
export interface ShardClaim {
  scanId: string;
  shard: number;
  of: number;
  attempt: number;
  pool: string;
  plan: ShardPlan;
  /** Rows of earlier attempts that are stored. */
  rows: number;
  command: ShardCommand;
}

/** A job that was claimed, with its shard. */
export interface FetchedShard {
  /** Which of the queues it is from, 0-based. */
  place: number;
  id: string;
  retry: number;
  /** The claim ends without a heartbeat for this time, milliseconds. */
  leaseMs: number;
  /** Null if the shard has ended or has another job. */
  claim: ShardClaim | null;
}

/** No job has it: a fetch with it finds none. */
const unusedPriority = 2 ** 31 - 1;

/** Shards of scans together with their jobs: both change in one statement. */
export class ShardJobTable extends StoreTable {
  /** Inserts the plan and the shards of a scan, one for each job. @param sent the statement that inserts these; PostgreSQL only */
  async insert(
    scanId: string,
    pool: string,
    plan: ShardPlan,
    jobs: { line: string; ids: readonly string[] },
    sent?: JobStatement,
  ): Promise<void> {
    const rows = numberedTexts(this.db, jobs.ids);
    if (sent === undefined) {
      await insertPlan(this.db, scanId, plan).execute();
      await insertRows(this.db, { scanId, pool }, jobs, rows).execute();
      return;
    }
    const insertion = this.db
      .with('plan', (query) => insertPlan(query, scanId, plan))
      .with('laid_out', (query) => insertRows(query, { scanId, pool }, jobs, rows))
      .with('sent', () => expressionOf(sent))
      .selectNoFrom(sql.lit(1).as('done'));
    await runPrepared(this.db, insertion);
  }

  /** Notes the claim of a job; null if its shard has ended or has another job. */
  async claim(
    { scanId, shard }: Pick<ShardClaim, 'scanId' | 'shard'>,
    { id, retry }: { id: string; retry: number },
    worker: string,
    { now, leaseUntil }: { now: number; leaseUntil: number },
  ): Promise<ShardClaim | null> {
    const row = await this.db
      .updateTable('shards')
      .where(isClaimable)
      .set(claimedBy(worker, { retry, now, leaseUntil }))
      .where('scan_id', '=', scanId)
      .where('shard', '=', shard)
      .where('job_id', '=', id)
      .returning(claimColumns)
      .executeTakeFirst();
    return row ? claimOf(row) : null;
  }

  /**
   * Claims a job of the first queue that has one, notes it in the row of its shard; null if no queue has
   * one. PostgreSQL only.
   * @param fetches one for each queue; the data of their jobs has the `scan_id` and `shard`
   * @param lease.leaseMs unless the job has a shorter one
   */
  async claimNext(
    fetches: readonly JobFetch[],
    worker: string,
    { now, leaseMs }: { now: number; leaseMs: number },
  ): Promise<FetchedShard | null> {
    const leaseUntil = sql<number>`${now}::bigint + least(${leaseMs}, job.lease_ms)`;
    const claiming = withJob(this.db, fetches)
      .with('claimed', (query) =>
        query
          .updateTable('shards')
          .from('job')
          .set(claimedBy(worker, { retry: sql<number>`job.retry`, now, leaseUntil }))
          .where(isClaimable)
          .whereRef('shards.scan_id', '=', 'job.scan_id')
          .whereRef('shards.shard', '=', 'job.shard')
          .whereRef('shards.job_id', '=', 'job.id')
          .returning(claimColumns),
      )
      .selectFrom('job')
      .leftJoin('claimed', (join) => join.onTrue())
      .select(['place', 'id', 'retry', 'lease_ms'])
      .selectAll('claimed');
    const [row] = await runPrepared(this.db, claiming);
    if (!row) return null;
    const { place, id, retry, lease_ms: leaseOfJob } = row;
    return { place, id, retry, leaseMs: leaseOfJob, claim: claimOf(row as ClaimRow) };
  }

  /**
   * Ends a shard. @param completed deletes its job and returns whether it did; PostgreSQL only
   * @returns false if the shard belongs to another worker or has ended
   */
  async finish(held: LeasedShard, outcome: string, now: number, completed: JobStatement): Promise<boolean> {
    const done = {
      state: 'done' as const,
      outcome,
      lease_until: null,
      finished_at: new Date(now).toISOString(),
    };
    const finishing = leasedShard(
      this.db.with('job', () => expressionOf(completed)),
      held,
    )
      .from(sql.table('job').as('job'))
      .set(done)
      .returning('shards.scan_id');
    return (await runPrepared(this.db, finishing)).length > 0;
  }
}

function insertPlan(query: QueryCreator<Tables>, scanId: string, { addresses, hostnames }: ShardPlan) {
  return query.insertInto('shard_plans').values({
    scan_id: scanId,
    started_at: new Date().toISOString(),
    started: flag.toRow(false),
    addresses: JSON.stringify(addresses),
    hostnames: JSON.stringify(hostnames),
    blocks: 0,
  });
}

/** @param numbered table of the IDs of their jobs */
function insertRows(
  query: QueryCreator<Tables>,
  { scanId, pool }: { scanId: string; pool: string },
  { line, ids }: { line: string; ids: readonly string[] },
  numbered: RawBuilder<unknown>,
) {
  const row = {
    scan_id: scanId,
    shard: sql`at`,
    of: ids.length,
    pool,
    job_line: line,
    job_id: sql`text`,
    job_retry: 0,
    state: 'waiting',
    attempt: 0,
    expired_leases: 0,
    rows: 0,
    command: 'run',
    rate: 0,
  } satisfies Partial<Record<keyof ShardTableRow, unknown>>;
  return query
    .insertInto('shards')
    .columns(Object.keys(row) as (keyof typeof row)[])
    .expression(sql`select ${sql.join(Object.values(row))} from ${numbered}`);
}

/** A table of texts and their 0-based positions, `text` and `at`: one parameter for thousands of them. */
function numberedTexts(db: Kysely<Tables>, texts: readonly string[]): RawBuilder<unknown> {
  const list = JSON.stringify(texts);
  if (!isPostgres(db)) return sql`(select value as text, key as at from json_each(${list})) as numbered`;
  return sql`(select text, number - 1 as at
    from json_array_elements_text(${list}::json) with ordinality as texts (text, number)) as numbered`;
}

/** Columns of a job that was claimed. */
interface JobRow {
  place: number;
  id: string;
  retry: number;
  lease_ms: number;
  scan_id: string;
  shard: number;
}

/** With the claimed job as a table of at most one row: a fetch claims nothing if an earlier one has claimed a job. */
function withJob(db: Kysely<Tables>, fetches: readonly JobFetch[]): QueryCreator<Tables & { job: JobRow }> {
  const names = fetches.map((_, place) => sql.table(`fetched_${place}`));
  let query: QueryCreator<Tables> = db;
  for (const [place, { text, values, minPriority }] of fetches.entries()) {
    const earlier = names.slice(0, place).map((name) => sql`exists (select from ${name})`);
    const orNone = sql`(case when ${sql.join(earlier, sql` or `)} then ${unusedPriority}::int else ${minPriority}::int end)`;
    const guarded = values.map((value) => (place > 0 && value === minPriority ? orNone : value));
    query = query.with(`fetched_${place}`, () => expressionOf({ text, values: guarded }));
  }
  const jobs = names.map(
    (name, place) => sql`select ${sql.lit(place)} as place, id::text as id, "retryCount" as retry,
      coalesce("heartbeatSeconds", "expireInSeconds") * 1000 as lease_ms,
      data ->> 'scan_id' as scan_id, (data ->> 'shard')::int as shard from ${name}`,
  );
  return query.with('job', () => sql<JobRow>`(${sql.join(jobs, sql` union all `)})`);
}

function isClaimable(e: ExpressionBuilder<Tables, 'shards'>) {
  return e.and([e('command', '!=', 'cancel'), e('state', 'in', ['waiting', 'running'])]);
}

type Value = number | RawBuilder<number>;

function claimedBy(
  worker: string,
  { retry, now, leaseUntil }: { retry: Value; now: number; leaseUntil: Value },
) {
  return {
    state: 'running' as const,
    attempt: sql<number>`attempt + 1`,
    worker,
    lease_until: leaseUntil,
    job_retry: retry,
    claimed_at: now,
    give_back: flag.toRow(false),
    applied_command: null,
    rate: 0,
    applied_rate: null,
  };
}

type ClaimRow = Pick<ShardTableRow, 'scan_id' | 'shard' | 'of' | 'attempt' | 'pool' | 'rows' | 'command'> &
  Record<'addresses' | 'hostnames', string | null>;

function claimColumns(e: ExpressionBuilder<Tables, 'shards'>) {
  const ofPlan = (column: 'addresses' | 'hostnames') =>
    e
      .selectFrom('shard_plans')
      .select(column)
      .whereRef('shard_plans.scan_id', '=', 'shards.scan_id')
      .as(column);
  return [
    'shards.scan_id',
    'shards.shard',
    'of',
    'attempt',
    'pool',
    'rows',
    'command',
    ofPlan('addresses'),
    ofPlan('hostnames'),
  ] as const;
}

/** Null without a row, or without a plan: its scan is being deleted. */
function claimOf({ scan_id: scanId, rows, addresses, hostnames, ...row }: ClaimRow): ShardClaim | null {
  if (!addresses || !hostnames) return null;
  const { shard, of, attempt, pool, command } = row;
  const plan = shardPlanOf(addresses, hostnames);
  return { scanId, shard, of, attempt, pool, command, rows: Number(rows), plan };
}

/** @param addresses and hostnames as JSON texts */
export function shardPlanOf(addresses: string, hostnames: string): ShardPlan {
  return {
    addresses: JSON.parse(addresses) as ShardPlan['addresses'],
    hostnames: JSON.parse(hostnames) as ShardPlan['hostnames'],
  };
}

/** A value that is an expression stands for itself. */
function expressionOf({ text, values }: JobStatement): RawBuilder<Record<string, unknown>> {
  // The odd parts are the numbers of parameters.
  const parts = text.split(/\$(\d+)/);
  const expressions = parts.map((part, at) =>
    at % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`,
  );
  return sql`(${sql.join(expressions, sql``)})`;
}
