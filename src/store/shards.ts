import type { LeasedShard, ShardCommand, ShardPlan } from '../domain/shard.ts';
import { numberOfRows } from './list-count.ts';
import { flag, type ShardTableRow } from './schema/tables.ts';
import { type ClaimedJob, shardPlanOf } from './shard-jobs.ts';
import { leasedShard, ShardResultTable } from './shard-results.ts';
import { StoreTable } from './store-table.ts';

/** A shard that a worker has, or had; null: of an earlier version, without a job. */
export interface HeldShard extends LeasedShard {
  pool: string;
  job: ClaimedJob | null;
}

/** A shard that no worker has; null: an earlier version gave it no job. */
export interface WaitingShard {
  scanId: string;
  shard: number;
  pool: string;
  job: { line: string; id: string } | null;
}

/** Shards of a scan that run. */
export interface ScanPlaces {
  scanId: string;
  tenant: string | null;
  priority: number;
  places: number;
}

/** Content of a worker's heartbeat. */
export interface ShardHeartbeat {
  /** Epoch milliseconds; undefined = unchanged. */
  leaseUntil?: number | undefined;
  /** JSON text of its newest report; undefined = unchanged. */
  live?: string | undefined;
  appliedCommand: ShardCommand;
  /** Limit that the worker has applied, packets per second. */
  appliedRate: number;
}

/** Commands of the scan's owner, returned by a heartbeat. */
export interface ShardCommands {
  command: ShardCommand;
  rate: number;
  /** JSON text of changed scope rules. */
  rules: string | null;
  /** Whether the shard's place is asked for by a scan with less of its share. */
  givesBack: boolean;
}

/** A shard as the owner of its scan sees it. */
export type ShardState = Pick<
  ShardTableRow,
  | 'shard'
  | 'state'
  | 'attempt'
  | 'lease_until'
  | 'worker'
  | 'rows'
  | 'command'
  | 'applied_command'
  | 'rate'
  | 'applied_rate'
  | 'live'
  | 'outcome'
>;

/** Parts of scans that workers on many hosts run. One statement per operation, so each is atomic. */
export class ShardTable extends StoreTable {
  /** When a worker has started the first shard of a scan, ISO 8601 UTC; null if none has. */
  async startOf(scanId: string): Promise<string | null> {
    const row = await this.db
      .selectFrom('shard_plans')
      .select('started_at')
      .where('scan_id', '=', scanId)
      .where('started', '=', flag.toRow(true))
      .executeTakeFirst();
    return row?.started_at ?? null;
  }

  /**
   * Marks the scan as started, unless it was before. @param now epoch milliseconds of the database
   * @returns when it started, ISO 8601 UTC, and whether this call started it; null for a scan without shards
   */
  async begin(scanId: string, now: number): Promise<{ startedAt: string; first: boolean } | null> {
    const begun = await this.db
      .updateTable('shard_plans')
      .set({ started_at: new Date(now).toISOString(), started: flag.toRow(true) })
      .where('scan_id', '=', scanId)
      .where('started', '=', flag.toRow(false))
      .executeTakeFirst();
    const row = await this.db
      .selectFrom('shard_plans')
      .select('started_at')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row ? { startedAt: row.started_at, first: begun.numUpdatedRows > 0n } : null;
  }

  /** Stores a report and returns the owner's commands. Null: the shard belongs to another worker or has ended. */
  async heartbeat(
    held: LeasedShard,
    { leaseUntil, live, appliedCommand, appliedRate }: ShardHeartbeat,
  ): Promise<ShardCommands | null> {
    const row = await leasedShard(this.db, held)
      .set({
        applied_command: appliedCommand,
        applied_rate: appliedRate,
        ...(leaseUntil !== undefined && { lease_until: leaseUntil }),
        ...(live !== undefined && { live }),
      })
      // A heartbeat in flight when the worker abandoned the shard is void.
      .where('lease_until', '>', 0)
      .returning(['command', 'rate', 'rules', 'give_back'])
      .executeTakeFirst();
    if (!row) return null;
    const { command, rate, rules, give_back } = row;
    return { command, rate: Number(rate), rules, givesBack: flag.fromRow(give_back) };
  }

  /** Ends the lease at once: the owner of the scan decides what happens next. */
  async abandon(held: LeasedShard): Promise<boolean> {
    const result = await leasedShard(this.db, held).set({ lease_until: 0 }).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Shards of a scan that no worker has, with their jobs; an earlier version gave them none. */
  async waiting(scanId: string): Promise<WaitingShard[]> {
    const rows = await this.db
      .selectFrom('shards')
      .select(['scan_id as scanId', 'shard', 'pool', 'job_id', 'job_line'])
      .where('scan_id', '=', scanId)
      .where('state', '=', 'waiting')
      .orderBy('shard')
      .execute();
    return rows.map(({ job_id: id, job_line: line, ...shard }) => ({
      ...shard,
      job: id === null || line === null ? null : { id, line },
    }));
  }

  /** Which worker runs a shard of which scan. */
  async running(): Promise<{ scanId: string; worker: string | null }[]> {
    return await this.db
      .selectFrom('shards')
      .select(['scan_id as scanId', 'worker'])
      .where('state', '=', 'running')
      .execute();
  }

  /** Running shards of workers with this id prefix. */
  async heldBy(prefix: string): Promise<HeldShard[]> {
    const rows = await this.#held().select('worker').execute();
    return rows.filter(({ worker }) => worker?.startsWith(prefix)).map(heldShard);
  }

  /** How many shards of which scans run in a pool; there are at most as many as its workers have places. */
  async runningIn(pool: string): Promise<ScanPlaces[]> {
    const rows = await this.db
      .selectFrom('shards')
      .innerJoin('scans', 'scans.scan_id', 'shards.scan_id')
      .select((e) => [
        'shards.scan_id as scanId',
        'scans.tenant',
        'scans.priority',
        e.fn.countAll().as('places'),
      ])
      .where('shards.state', '=', 'running')
      .where('shards.pool', '=', pool)
      .groupBy(['shards.scan_id', 'scans.tenant', 'scans.priority'])
      .execute();
    return rows.map((row) => ({ ...row, places: Number(row.places) }));
  }

  /**
   * Asks for the place of the shard of a scan that has run the longest.
   * @param before only if it was claimed before, epoch milliseconds
   */
  async askBack(scanId: string, before: number): Promise<boolean> {
    const result = await this.db
      .updateTable('shards')
      .set({ give_back: flag.toRow(true) })
      .where('scan_id', '=', scanId)
      .where('state', '=', 'running')
      .where('shard', '=', (e) =>
        e
          .selectFrom('shards')
          .select('shard')
          .where('scan_id', '=', scanId)
          .where('state', '=', 'running')
          .where('give_back', '=', flag.toRow(false))
          .where('claimed_at', '<', before)
          .orderBy('claimed_at')
          .limit(1),
      )
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Running shards of a scan without a heartbeat. @param now epoch milliseconds */
  async silent(scanId: string, now: number): Promise<HeldShard[]> {
    const rows = await this.#held().where('scan_id', '=', scanId).where('lease_until', '<', now).execute();
    return rows.map(heldShard);
  }

  #held() {
    return this.db
      .selectFrom('shards')
      .select(['scan_id', 'shard', 'attempt', 'pool', 'job_line', 'job_id', 'job_retry'])
      .where('state', '=', 'running');
  }

  /** The worker no longer has the shard: it waits for another one. */
  async wait(held: LeasedShard): Promise<boolean> {
    const result = await leasedShard(this.db, held)
      .set({ state: 'waiting', lease_until: null, worker: null })
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Gives a shard another job. */
  async setJob(
    { scanId, shard }: Pick<LeasedShard, 'scanId' | 'shard'>,
    { line, id, retry }: ClaimedJob,
  ): Promise<void> {
    await this.#withJob(scanId, shard, { line, id, retry }).execute();
  }

  /** The same for one that still waits with the job that it had. @returns whether it does */
  async replaceJob({ scanId, shard, job }: WaitingShard, { line, id, retry }: ClaimedJob): Promise<boolean> {
    const result = await this.#withJob(scanId, shard, { line, id, retry })
      .where('state', '=', 'waiting')
      .where('job_id', 'is not distinct from', job?.id ?? null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  #withJob(scanId: string, shard: number, { line, id, retry }: ClaimedJob) {
    return this.db
      .updateTable('shards')
      .set({ job_line: line, job_id: id, job_retry: retry })
      .where('scan_id', '=', scanId)
      .where('shard', '=', shard);
  }

  /**
   * Ends a shard for good: every attempt has failed.
   * @param held with `attempt`: only while a worker has it in that one
   */
  async fail(
    { scanId, shard, attempt }: Omit<LeasedShard, 'attempt'> & { attempt?: number },
    now: number,
  ): Promise<boolean> {
    const result = await this.#open(scanId)
      .where('shard', '=', shard)
      .$if(attempt !== undefined, (query) =>
        query.where('state', '=', 'running').where('attempt', '=', attempt ?? 0),
      )
      .set({ state: 'failed', finished_at: new Date(now).toISOString(), lease_until: null, worker: null })
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** In order. @param without ended shards to leave out: they no longer change */
  async ofScan(scanId: string, without: readonly number[] = []): Promise<ShardState[]> {
    const rows = await this.db
      .selectFrom('shards')
      .select([
        'shard',
        'state',
        'attempt',
        'lease_until',
        'worker',
        'rows',
        'command',
        'applied_command',
        'rate',
        'applied_rate',
        'live',
        'outcome',
      ])
      .where('scan_id', '=', scanId)
      .$if(without.length > 0, (query) => query.where('shard', 'not in', without))
      .orderBy('shard')
      .execute();
    return rows.map((row) => ({ ...row, rows: Number(row.rows), rate: Number(row.rate) }));
  }

  /** Number of shards of a scan. */
  async count(scanId: string): Promise<number> {
    return await numberOfRows(this.db.selectFrom('shards').where('scan_id', '=', scanId));
  }

  /** Null for a scan without shards. */
  async plan(scanId: string): Promise<ShardPlan | null> {
    const row = await this.db
      .selectFrom('shard_plans')
      .select(['addresses', 'hostnames'])
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row ? shardPlanOf(row.addresses, row.hostnames) : null;
  }

  /** Sends a command to all unfinished shards of a scan; canceled ones stay canceled. */
  async command(scanId: string, command: ShardCommand): Promise<void> {
    await this.#open(scanId).set({ command }).where('command', '!=', 'cancel').execute();
  }

  async setRules(scanId: string, rules: string): Promise<void> {
    await this.#open(scanId).set({ rules }).execute();
  }

  async grant(scanId: string, shard: number, rate: number): Promise<void> {
    await this.#open(scanId).where('shard', '=', shard).set({ rate }).execute();
  }

  #open(scanId: string) {
    return this.db
      .updateTable('shards')
      .where('scan_id', '=', scanId)
      .where('state', 'in', ['waiting', 'running']);
  }

  /** Ends the waiting shards of a scan as canceled. @returns their jobs, which nobody shall claim */
  async endWaiting(scanId: string, now: number): Promise<Pick<ClaimedJob, 'line' | 'id'>[]> {
    const rows = await this.db
      .updateTable('shards')
      .set({ state: 'failed', finished_at: new Date(now).toISOString() })
      .where('scan_id', '=', scanId)
      .where('state', '=', 'waiting')
      .returning(['job_line', 'job_id'])
      .execute();
    return rows.flatMap(({ job_line, job_id }) => (job_line && job_id ? { line: job_line, id: job_id } : []));
  }

  /** Finished scans that still have shards. @param executor of them; all when not given */
  async endedScans(executor?: string): Promise<string[]> {
    const rows = await this.db
      .selectFrom('shards')
      .innerJoin('scans', 'scans.scan_id', 'shards.scan_id')
      .select('shards.scan_id')
      // Each scan has a first one: no other is looked up.
      .where('shards.shard', '=', 0)
      .where('scans.status', 'in', ['completed', 'failed'])
      .$if(executor !== undefined, (query) => query.where('scans.executor', '=', executor ?? ''))
      .execute();
    return rows.map(({ scan_id }) => scan_id);
  }

  async deleteOf(scanId: string): Promise<void> {
    // The plan first: without it no worker stores rows. Shards last: after a crash they show what is left to delete.
    await this.db.deleteFrom('shard_plans').where('scan_id', '=', scanId).execute();
    await new ShardResultTable(this.db).deleteOf(scanId);
    await this.db.deleteFrom('shards').where('scan_id', '=', scanId).execute();
  }
}

function heldShard(
  row: Pick<ShardTableRow, 'scan_id' | 'shard' | 'attempt' | 'pool' | 'job_line' | 'job_id' | 'job_retry'>,
): HeldShard {
  const { scan_id: scanId, shard, attempt, pool, job_line: line, job_id: id, job_retry: retry } = row;
  const job = line !== null && id !== null ? { line, id, retry: retry ?? 0 } : null;
  return { scanId, shard, attempt, pool, job };
}
