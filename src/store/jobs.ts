import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** A claimed job. `attempt` proves the claim: writes with an older one are refused. */
export interface Claim {
  scanId: string;
  attempt: number;
}

/** The line of scans that wait for a worker. One statement per operation, so each is atomic across processes. */
export class JobTable {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(scanId: string, pool: string, now: number): Promise<void> {
    await this.#db
      .insertInto('jobs')
      .values({
        scan_id: scanId,
        pool,
        state: 'waiting',
        position: sql<number>`(select coalesce(max(position), 0) + 1 from jobs)`,
        attempt: 0,
        lease_until: null,
        worker: null,
        cancel_requested: 0,
        created_at: new Date(now).toISOString(),
        finished_at: null,
      })
      .execute();
  }

  /** Takes the job that waits longest, or one whose lease has lapsed; null when there is none. */
  async claim(
    worker: string,
    now: number,
    leaseUntil: number,
    pools?: readonly string[],
  ): Promise<Claim | null> {
    await this.#closeLapsedCancellations(now);
    const row = await this.#db
      .updateTable('jobs')
      .set((e) => ({
        state: 'running',
        attempt: e('attempt', '+', 1),
        worker,
        lease_until: leaseUntil,
      }))
      .where('scan_id', '=', (e) =>
        e
          .selectFrom('jobs')
          .select('scan_id')
          .where((f) =>
            f.or([
              f('state', '=', 'waiting'),
              f.and([f('state', '=', 'running'), f('lease_until', '<', now)]),
            ]),
          )
          .where('cancel_requested', '=', 0)
          .$if(pools !== undefined, (query) => query.where('pool', 'in', pools ?? []))
          .orderBy('position')
          .orderBy('scan_id')
          .limit(1),
      )
      .returning(['scan_id', 'attempt'])
      .executeTakeFirst();
    return row ? { scanId: row.scan_id, attempt: row.attempt } : null;
  }

  /** A canceled job whose worker died is over: nobody may run it again. */
  async #closeLapsedCancellations(now: number): Promise<void> {
    await this.#db
      .updateTable('jobs')
      .set({ state: 'done', finished_at: new Date(now).toISOString(), lease_until: null })
      .where('state', '=', 'running')
      .where('cancel_requested', '=', 1)
      .where('lease_until', '<', now)
      .execute();
  }

  async extend(claim: Claim, leaseUntil: number): Promise<boolean> {
    const result = await this.#held(claim).set({ lease_until: leaseUntil }).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async finish(claim: Claim, state: 'done' | 'failed', now: number): Promise<boolean> {
    const result = await this.#held(claim)
      .set({ state, lease_until: null, finished_at: new Date(now).toISOString() })
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Back to its old place in the line; a canceled job ends instead. */
  async release(claim: Claim, now: number): Promise<boolean> {
    const result = await this.#held(claim)
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

  #held(claim: Claim) {
    return this.#db
      .updateTable('jobs')
      .where('scan_id', '=', claim.scanId)
      .where('attempt', '=', claim.attempt)
      .where('state', '=', 'running');
  }

  /** A waiting job ends at once; a running one is marked for its worker. */
  async cancel(scanId: string, now: number): Promise<'waiting' | 'running' | 'unknown'> {
    const waiting = await this.#db
      .updateTable('jobs')
      .set({ state: 'done', cancel_requested: 1, finished_at: new Date(now).toISOString() })
      .where('scan_id', '=', scanId)
      .where('state', '=', 'waiting')
      .executeTakeFirst();
    if (waiting.numUpdatedRows > 0n) return 'waiting';
    const running = await this.#db
      .updateTable('jobs')
      .set({ cancel_requested: 1 })
      .where('scan_id', '=', scanId)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return running.numUpdatedRows > 0n ? 'running' : 'unknown';
  }

  async isCancelRequested(scanId: string): Promise<boolean> {
    const row = await this.#db
      .selectFrom('jobs')
      .select('cancel_requested')
      .where('scan_id', '=', scanId)
      .executeTakeFirst();
    return row?.cancel_requested === 1;
  }

  /** @param failedSince ISO 8601; failures before it do not count */
  async counts(failedSince: string): Promise<{ pending: number; running: number; failed: number }> {
    const rows = await this.#db
      .selectFrom('jobs')
      .select((e) => ['state', e.fn.countAll().as('jobs')])
      .where((e) =>
        e.or([
          e('state', 'in', ['waiting', 'running']),
          e.and([e('state', '=', 'failed'), e('finished_at', '>=', failedSince)]),
        ]),
      )
      .groupBy('state')
      .execute();
    const count = (state: string) => Number(rows.find((row) => row.state === state)?.jobs ?? 0);
    return { pending: count('waiting'), running: count('running'), failed: count('failed') };
  }

  /** Voids every lease. @returns the number of jobs that wait again */
  async releaseAll(now: number): Promise<number> {
    await this.#db
      .updateTable('jobs')
      .set({ state: 'done', finished_at: new Date(now).toISOString(), lease_until: null })
      .where('state', '=', 'running')
      .where('cancel_requested', '=', 1)
      .execute();
    const result = await this.#db
      .updateTable('jobs')
      .set({ state: 'waiting', lease_until: null, worker: null })
      .where('state', '=', 'running')
      .executeTakeFirst();
    return Number(result.numUpdatedRows);
  }

  async delete(scanId: string): Promise<boolean> {
    const result = await this.#db.deleteFrom('jobs').where('scan_id', '=', scanId).executeTakeFirst();
    return result.numDeletedRows > 0n;
  }
}
