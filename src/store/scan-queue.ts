import { type ExpressionBuilder, sql } from 'kysely';
import { isPostgres } from './database.ts';
import { deleteInSteps } from './delete-in-steps.ts';
import { numberOfRows } from './list-count.ts';
import { RowCounts } from './row-counts.ts';
import { continuePositions, positionSequence } from './schema/counting-triggers.ts';
import { flag, type ScanQueueTableRow, type Tables } from './schema/tables.ts';
import { ViewedTable } from './store-table.ts';
import { inView } from './tenant-view.ts';

/** Advisory lock of PostgreSQL for inserts close to the limit of the queue; an arbitrary number. */
const insertLock = 7_061_989;

/** A claimed scan. Writes with an older `attempt` are rejected. */
export interface QueueClaim {
  scanId: string;
  attempt: number;
  /** Tenant of the scan. */
  tenant: string | null;
  pool: string;
  /** Of at most `maxSmallAddresses`. */
  isSmall: boolean;
}

/** Which scans a worker claims. */
export interface ClaimFilter {
  /** Claim only scans of these pools. */
  pools?: readonly string[] | undefined;
  /** Running scans of this worker per tenant; the tenant with the fewest for its weight comes first. */
  running?: ReadonlyMap<string, number> | undefined;
  /** Per tenant; 1 for others. */
  weights?: Readonly<Record<string, number>> | undefined;
  /** Pools to claim no further scans of. */
  fullPools?: readonly string[] | undefined;
  /** Claim only small scans. */
  onlySmall?: boolean | undefined;
  /** Claim only scans of this server. */
  owner?: string | undefined;
  /** Scans that run here, whatever their leases say. */
  held?: readonly string[] | undefined;
}

/** A scan for the queue. */
export interface QueuedScan {
  scanId: string;
  pool: string;
  /** Of at most `maxSmallAddresses`. */
  isSmall?: boolean;
  /** The only server that may claim it; null with a single server. */
  owner?: string | null;
}

/** What clients request of a running scan. */
export interface ControlRequest {
  scanId: string;
  canceled: boolean;
  paused: boolean;
}

/** Identifies a claim. */
type ClaimId = Pick<QueueClaim, 'scanId' | 'attempt'>;

/**
 * The queue of scans that wait for a worker. One statement per operation, so each is atomic across processes. Workers claim scans of
 * all tenants.
 */
export class ScanQueueTable extends ViewedTable {
  /** @param now epoch milliseconds */
  async insert({ scanId, pool, isSmall = false, owner = null }: QueuedScan, now: number): Promise<void> {
    await this.db
      .insertInto('scan_queue')
      .values({
        scan_id: scanId,
        pool,
        state: 'waiting',
        priority: sql<number>`(select priority from scans where scan_id = ${scanId})`,
        position: isPostgres(this.db)
          ? sql<number>`nextval(${positionSequence})`
          : sql<number>`(select coalesce(max(position), 0) + 1 from scan_queue)`,
        small: flag.toRow(isSmall),
        attempt: 0,
        lease_until: null,
        worker: null,
        cancel_requested: 0,
        paused_since: null,
        blackout_since: null,
        paused_by: null,
        paused_at: null,
        paused_ms: 0,
        created_at: new Date(now).toISOString(),
        finished_at: null,
        tenant: this.view ?? null,
        owner_server: owner,
      })
      .execute();
  }

  /**
   * Claims a scan whose lease expired, or else the waiting one with the highest priority, of equal ones the oldest; never a paused
   * one. Null if there is none.
   */
  async claim(
    worker: string,
    now: number,
    leaseUntil: number,
    filter: ClaimFilter = {},
  ): Promise<QueueClaim | null> {
    for (const tenants of await this.#tenantsInTurn(filter)) {
      const claim = await this.#claimOf(tenants, worker, now, leaseUntil, filter);
      if (claim !== null) return claim;
    }
    return null;
  }

  /** Tenants with scans, by how little of their share runs; those with equal shares together. Null: all tenants. */
  async #tenantsInTurn({
    running = new Map(),
    weights = {},
  }: ClaimFilter): Promise<(readonly string[] | null)[]> {
    if (running.size === 0) return [null];
    const tenants = await new RowCounts(this.db, this.view).tenantsWith('scan_queue', ['waiting', 'running']);
    const weightOf = (tenant: string) => (Object.hasOwn(weights, tenant) ? (weights[tenant] ?? 1) : 1);
    const shareOf = (tenant: string) => (running.get(tenant) ?? 0) / weightOf(tenant);
    const byShare = Map.groupBy(tenants, shareOf);
    return [...byShare].sort(([a], [b]) => a - b).map(([, equal]) => equal);
  }

  async #claimOf(
    tenants: readonly string[] | null,
    worker: string,
    now: number,
    leaseUntil: number,
    { pools, fullPools = [], onlySmall = false, owner }: ClaimFilter,
  ): Promise<QueueClaim | null> {
    const next = (e: ExpressionBuilder<Tables, 'scan_queue'>, state: 'running' | 'waiting') =>
      e
        .selectFrom('scan_queue')
        .select('scan_id')
        .where('state', '=', state)
        .$if(state === 'running', (query) => query.where('lease_until', '<', now))
        .$if(tenants !== null, (query) => query.where(isOneOf(tenants ?? [])))
        .where('cancel_requested', '=', 0)
        .where('paused_since', 'is', null)
        .where('blackout_since', 'is', null)
        .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''))
        .$if(pools !== undefined, (query) => query.where('pool', 'in', pools ?? []))
        // As a literal: a parameter would not lead to the index of small scans.
        .$if(onlySmall, (query) => query.where('small', '=', sql.lit(1)))
        .$if(fullPools.length > 0, (query) => query.where('pool', 'not in', fullPools))
        .orderBy('priority', 'desc')
        .orderBy('position')
        .orderBy('scan_id')
        .limit(1)
        // SQLite has one writer at a time.
        .$if(isPostgres(this.db), (query) => query.forUpdate().skipLocked());
    const row = await this.db
      .updateTable('scan_queue')
      .set((e) => ({
        state: 'running',
        attempt: e('attempt', '+', 1),
        worker,
        lease_until: leaseUntil,
      }))
      .where('scan_id', '=', (e) => e.fn.coalesce(next(e, 'running'), next(e, 'waiting')))
      // It may have been canceled while this statement waited for the row lock.
      .where('cancel_requested', '=', 0)
      .returning(['scan_id', 'attempt', 'tenant', 'pool', 'small'])
      .executeTakeFirst();
    if (!row) return null;
    const { scan_id: scanId, small, ...claim } = row;
    return { scanId, ...claim, isSmall: flag.fromRow(small) };
  }

  /** Ends canceled scans whose worker died: no worker may run them again. */
  async endCanceledOfDeadWorkers(
    now: number,
    { owner, held = [] }: Pick<ClaimFilter, 'owner' | 'held'> = {},
  ): Promise<void> {
    await this.db
      .updateTable('scan_queue')
      .set({ state: 'done', finished_at: new Date(now).toISOString(), lease_until: null })
      .where('state', '=', 'running')
      .where('cancel_requested', '=', 1)
      .where('lease_until', '<', now)
      .$if(held.length > 0, (query) => query.where('scan_id', 'not in', held))
      // Whoever takes over a server ends its scans, with what their workers have found.
      .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''))
      .execute();
  }

  async extend(claim: ClaimId, leaseUntil: number): Promise<boolean> {
    const result = await this.#claimed(claim).set({ lease_until: leaseUntil }).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async finish(claim: ClaimId, state: 'done' | 'failed', now: number): Promise<boolean> {
    const result = await this.#claimed(claim)
      .set({ state, lease_until: null, finished_at: new Date(now).toISOString() })
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Returns the scan to its old position in the queue; a canceled one ends instead. */
  async release(claim: ClaimId, now: number): Promise<boolean> {
    const result = await this.#claimed(claim)
      .set((e) => ({
        state: e
          .case()
          .when('cancel_requested', '=', 1)
          .then('done' as const)
          .else('waiting' as const)
          .end(),
        finished_at: e
          .case()
          .when('cancel_requested', '=', 1)
          .then(new Date(now).toISOString())
          .else(null)
          .end(),
        lease_until: null,
        worker: null,
      }))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  #claimed(claim: ClaimId) {
    return this.db
      .updateTable('scan_queue')
      .where('scan_id', '=', claim.scanId)
      .where('attempt', '=', claim.attempt)
      .where('state', '=', 'running');
  }

  /** Ends a waiting scan at once; marks a running one, for its worker to stop. */
  async cancel(scanId: string, now: number): Promise<'waiting' | 'running' | 'unknown'> {
    const scanIn = (state: 'waiting' | 'running') =>
      this.db
        .updateTable('scan_queue')
        .where('scan_id', '=', scanId)
        .where(inView(this.view))
        .where('state', '=', state);
    const waiting = await scanIn('waiting')
      .set({ state: 'done', cancel_requested: 1, finished_at: new Date(now).toISOString() })
      .executeTakeFirst();
    if (waiting.numUpdatedRows > 0n) return 'waiting';
    const running = await scanIn('running').set({ cancel_requested: 1 }).executeTakeFirst();
    return running.numUpdatedRows > 0n ? 'running' : 'unknown';
  }

  async isCancelRequested(scanId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select('cancel_requested')
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .executeTakeFirst();
    return row?.cancel_requested === 1;
  }

  /** Number of unfinished scans by owner and pool. */
  async unfinishedByOwner(): Promise<{ owner: string | null; pool: string; scans: number }[]> {
    const rows = await this.db
      .selectFrom('scan_queue')
      .select((e) => ['owner_server', 'pool', e.fn.countAll().as('scans')])
      .where('state', 'in', ['waiting', 'running'])
      .where(inView(this.view))
      .groupBy(['owner_server', 'pool'])
      .execute();
    return rows.map(({ owner_server, pool, scans }) => ({ owner: owner_server, pool, scans: Number(scans) }));
  }

  /**
   * Number of scans by pool that have not begun, although neither a pause nor a blackout window stops them.
   * @param submittedBefore ISO 8601
   */
  async unbegunByPool(
    pools: readonly string[],
    submittedBefore: string,
  ): Promise<{ pool: string; scans: number }[]> {
    if (pools.length === 0) return [];
    const rows = await this.db
      .selectFrom('scan_queue')
      .innerJoin('scans', 'scans.scan_id', 'scan_queue.scan_id')
      .select((e) => ['scan_queue.pool', e.fn.countAll().as('scans')])
      .where('scan_queue.state', 'in', ['waiting', 'running'])
      .where('scan_queue.pool', 'in', pools)
      .where('scan_queue.cancel_requested', '=', 0)
      .where('scan_queue.paused_since', 'is', null)
      .where('scan_queue.blackout_since', 'is', null)
      .where('scan_queue.created_at', '<', submittedBefore)
      .where('scans.status', '=', 'pending')
      .groupBy('scan_queue.pool')
      .execute();
    return rows.map(({ pool, scans }) => ({ pool, scans: Number(scans) }));
  }

  /** Unfinished scans of the given servers, oldest first. */
  async unfinishedOf(owners: readonly string[], limit: number): Promise<{ scanId: string; owner: string }[]> {
    const rows = await this.db
      .selectFrom('scan_queue')
      .select(['scan_id', 'owner_server'])
      .where('state', 'in', ['waiting', 'running'])
      .where('owner_server', 'in', owners)
      .where(inView(this.view))
      .orderBy('position')
      .limit(limit)
      .execute();
    return rows.map(({ scan_id, owner_server }) => ({ scanId: scan_id, owner: owner_server ?? '' }));
  }

  async isRunning(scanId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select('scan_id')
      .where('scan_id', '=', scanId)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Requests for the running scans of a server, whichever server received them. */
  async controlRequests(owner: string): Promise<ControlRequest[]> {
    const rows = await this.db
      .selectFrom('scan_queue')
      .select(['scan_id', 'cancel_requested', 'paused_since'])
      .where('owner_server', '=', owner)
      .where('state', '=', 'running')
      .execute();
    return rows.map(({ scan_id, cancel_requested, paused_since }) => ({
      scanId: scan_id,
      canceled: cancel_requested === 1,
      paused: paused_since !== null,
    }));
  }

  /**
   * A claimed scan that still waits for a worker counts as pending.
   * @param failedSince ISO 8601; earlier failures do not count
   */
  async counts(failedSince: string): Promise<{ pending: number; running: number; failed: number }> {
    const { scans, unbegun } = await this.#claimedScans();
    const waiting = await new RowCounts(this.db, this.view).of('scan_queue', 'waiting');
    return {
      pending: waiting.total + unbegun,
      running: scans - unbegun,
      failed: await this.endedSince('failed', failedSince),
    };
  }

  /** Scans that are not begun, as `counts` gives them; its cost does not depend on how many they are. */
  async pending(): Promise<number> {
    const waiting = new RowCounts(this.db, this.view).totalOf('scan_queue', 'waiting');
    const row = await this.db
      .selectFrom('scan_queue')
      .select((e) => [e.fn.sum<number>(waitsForWorker(e)).as('unbegun'), waiting.as('waiting')])
      .where(inView(this.view))
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return Number(row.waiting ?? 0) + Number(row.unbegun ?? 0);
  }

  /** There are at most as many as all servers have workers. */
  async #claimedScans(): Promise<{ scans: number; unbegun: number }> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select((e) => [e.fn.countAll().as('scans'), e.fn.sum<number>(waitsForWorker(e)).as('unbegun')])
      .where(inView(this.view))
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return { scans: Number(row.scans), unbegun: Number(row.unbegun ?? 0) };
  }

  /** Makes further inserts of transactions that call this wait until the end of this one, so that a limit holds exactly. */
  async serializeInserts(): Promise<void> {
    if (isPostgres(this.db)) await sql`select pg_advisory_xact_lock(${insertLock}::bigint)`.execute(this.db);
  }

  /** Submission time of the oldest waiting scan that is not paused, ISO 8601 UTC; null if none waits. */
  async oldestWaiting(): Promise<string | null> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select((e) => e.fn.min('created_at').as('oldest'))
      .where(inView(this.view))
      .where('state', 'in', ['waiting', 'running'])
      .where('paused_since', 'is', null)
      .where('blackout_since', 'is', null)
      .where((e) => e.or([e('state', '=', 'waiting'), e(waitsForWorker(e), '=', 1)]))
      .executeTakeFirst();
    return row?.oldest ?? null;
  }

  /**
   * Number of scans that ended in a state. A statement of its own: combined with other states it could not use an
   * index.
   *
   * @param time ISO 8601; scans that ended before do not count
   */
  async endedSince(state: 'done' | 'failed', time: string): Promise<number> {
    return await numberOfRows(
      this.db
        .selectFrom('scan_queue')
        .where(inView(this.view))
        .where('state', '=', state)
        .where('finished_at', '>=', time),
    );
  }

  /** Expires every lease. @param owner only of scans of this server @returns number of scans that wait again */
  async releaseAll(now: number, owner?: string): Promise<number> {
    const held = () =>
      this.db
        .updateTable('scan_queue')
        .where('state', '=', 'running')
        .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''));
    await held()
      .set({ state: 'done', finished_at: new Date(now).toISOString(), lease_until: null })
      .where('cancel_requested', '=', 1)
      .execute();
    const result = await held().set({ state: 'waiting', lease_until: null, worker: null }).executeTakeFirst();
    return Number(result.numUpdatedRows);
  }

  /**
   * Deletes the queue rows of scans that ended before a time (ISO 8601); keeps the scans. @returns number of deleted
   * rows
   */
  async deleteEndedBefore(time: string): Promise<number> {
    return (await this.#deleteEnded('done', time)) + (await this.#deleteEnded('failed', time));
  }

  async #deleteEnded(state: ScanQueueTableRow['state'], time: string): Promise<number> {
    return await deleteInSteps(async (limit) => {
      const result = await this.db
        .deleteFrom('scan_queue')
        .where('scan_id', 'in', (e) =>
          e
            .selectFrom('scan_queue')
            .select('scan_queue.scan_id')
            .where('state', '=', state)
            .where('finished_at', '<', time)
            .where(inView(this.view))
            // A scan that was canceled while no server ran must be ended by the next server first.
            .where((f) =>
              f.exists(
                f
                  .selectFrom('scans')
                  .select('scans.scan_id')
                  .whereRef('scans.scan_id', '=', 'scan_queue.scan_id')
                  .where('scans.status', 'in', ['completed', 'failed']),
              ),
            )
            // Without an order PostgreSQL reads the rows of all scans at each step, deleted ones included.
            .orderBy('scan_queue.finished_at')
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }

  /** After rows of another store were copied. */
  async continuePositions(): Promise<void> {
    if (isPostgres(this.db)) await continuePositions(this.db);
  }

  async delete(scanId: string): Promise<boolean> {
    const result = await this.db
      .deleteFrom('scan_queue')
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .executeTakeFirst();
    return result.numDeletedRows > 0n;
  }
}

/** 1 for a claimed scan that is pending, else 0. Looks the scan up by key. */
function waitsForWorker(e: ExpressionBuilder<Tables, 'scan_queue'>) {
  const status = e
    .selectFrom('scans')
    .select('scans.status')
    .whereRef('scans.scan_id', '=', 'scan_queue.scan_id');
  return e
    .case()
    .when(e.and([e('state', '=', 'running'), e(e.fn.coalesce(status, e.val('')), '=', 'pending')]))
    .then(1)
    .else(0)
    .end();
}

/** @param tenants '' for rows without one */
function isOneOf(tenants: readonly string[]) {
  return (e: ExpressionBuilder<Tables, 'scan_queue'>) => {
    const named = tenants.filter((tenant) => tenant !== '');
    return e.or([
      ...(named.length > 0 ? [e('tenant', 'in', named)] : []),
      ...(named.length < tenants.length ? [e('tenant', 'is', null)] : []),
    ]);
  };
}
