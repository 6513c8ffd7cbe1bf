import { type ExpressionBuilder, sql } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { ViewedTable } from './store-table.ts';
import { inView } from './tenant-view.ts';

/** A pause by a client. */
export interface PauseMark {
  /** ID of its token; null = unknown. */
  by: string | null;
  /** ISO 8601 UTC. */
  at: string;
}

/** Queued scans that a client paused or a blackout window stopped, which stops those of all tenants. */
export class ScanPauseTable extends ViewedTable {
  /**
   * A paused scan keeps its position in the queue, and no worker claims it.
   * @param by ID of the token that pauses it; who paused it first stays
   * @returns false if it has ended
   */
  async pause(scanId: string, now: number, by: string | null = null): Promise<boolean> {
    const at = new Date(now).toISOString();
    const result = await this.#unfinished(scanId)
      .set((e) => ({
        paused_since: e.fn.coalesce('paused_since', e.val(now)),
        paused_by: e.case().when('paused_at', 'is', null).then(by).else(e.ref('paused_by')).end(),
        paused_at: e.fn.coalesce('paused_at', e.val(at)),
      }))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Ends a pause. @returns false if the scan has ended */
  async resume(scanId: string, now: number): Promise<boolean> {
    const result = await this.#unfinished(scanId)
      .set((e) => ({
        paused_since: null,
        paused_by: null,
        paused_at: null,
        blackout_since: earlierIfBoth(e, 'blackout_since'),
        paused_ms: pausedMsUnless(e, 'blackout_since', now),
      }))
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  #unfinished(scanId: string) {
    return this.db
      .updateTable('scan_queue')
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .where('state', 'in', ['waiting', 'running']);
  }

  /**
   * Marks every unfinished scan of all tenants: none is claimed until `endBlackout`.
   * @param owner only scans of this server
   * @returns the marked scans
   */
  async startBlackout(now: number, owner?: string): Promise<string[]> {
    await this.db
      .updateTable('scan_queue')
      .set({ blackout_since: now })
      .where('blackout_since', 'is', null)
      .where('state', 'in', ['waiting', 'running'])
      .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''))
      .execute();
    const rows = await this.db
      .selectFrom('scan_queue')
      .select('scan_id')
      .where('blackout_since', 'is not', null)
      .where('state', 'in', ['waiting', 'running'])
      .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''))
      .execute();
    return rows.map((row) => row.scan_id);
  }

  /** Removes the marks of `startBlackout`; scans that a client paused stay paused. */
  async endBlackout(now: number, owner?: string): Promise<void> {
    await this.db
      .updateTable('scan_queue')
      .set((e) => ({
        blackout_since: null,
        paused_since: earlierIfBoth(e, 'paused_since'),
        paused_ms: pausedMsUnless(e, 'paused_since', now),
      }))
      .where('blackout_since', 'is not', null)
      .$if(owner !== undefined, (query) => query.where('owner_server', '=', owner ?? ''))
      .execute();
  }

  /** See `startBlackout`. */
  async isInBlackout(scanId: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select('scan_id')
      .where('scan_id', '=', scanId)
      .where('blackout_since', 'is not', null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Whether a client paused the scan, and how long it has been stopped for either reason.
   * @param now epoch milliseconds; an ongoing pause counts up to then
   */
  async pauseOf(scanId: string, now: number): Promise<{ paused: boolean; pausedMs: number }> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select((e) => ['paused_since', pausedMsAt(e, now).as('paused_ms')])
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .executeTakeFirst();
    return { paused: (row?.paused_since ?? null) !== null, pausedMs: Number(row?.paused_ms ?? 0) };
  }

  /** Who paused the scan, and when; null if no client did. */
  async markOf(scanId: string): Promise<PauseMark | null> {
    const row = await this.db
      .selectFrom('scan_queue')
      .select(['paused_by', 'paused_at'])
      .where('scan_id', '=', scanId)
      .where(inView(this.view))
      .executeTakeFirst();
    return row?.paused_at ? { by: row.paused_by, at: row.paused_at } : null;
  }

  /** Discards pauses before the start of the scan: they do not count against its time limit. */
  async restartPauses(scanId: string, now: number): Promise<void> {
    const from = (column: Stop) => (e: ExpressionBuilder<Tables, 'scan_queue'>) =>
      e.case().when(column, '<', now).then(now).else(e.ref(column)).end();
    await this.db
      .updateTable('scan_queue')
      .set((e) => ({
        paused_ms: 0,
        paused_since: from('paused_since')(e),
        blackout_since: from('blackout_since')(e),
      }))
      .where('scan_id', '=', scanId)
      .execute();
  }

  /** Unfinished scans that a client paused. */
  async pausedScans(): Promise<string[]> {
    const rows = await this.db
      .selectFrom('scan_queue')
      .select('scan_id')
      .where('paused_since', 'is not', null)
      .where(inView(this.view))
      .where('state', 'in', ['waiting', 'running'])
      .execute();
    return rows.map((row) => row.scan_id);
  }
}

type Stop = 'paused_since' | 'blackout_since';

/** A pause before the first claim does not count against the time limit of the scan. */
function pausedMsAt(e: ExpressionBuilder<Tables, 'scan_queue'>, now: number) {
  const since = sql<number>`coalesce(case when blackout_since < paused_since then blackout_since end, paused_since, blackout_since)`;
  return e
    .case()
    .when(e.and([e(since, '<', now), e('attempt', '>', 0)]))
    .then(sql<number>`paused_ms + ${now} - ${since}`)
    .else(e.ref('paused_ms'))
    .end();
}

/** The scan stays stopped while the other reason lasts. */
function pausedMsUnless(e: ExpressionBuilder<Tables, 'scan_queue'>, other: Stop, now: number) {
  return e.case().when(other, 'is', null).then(pausedMsAt(e, now)).else(e.ref('paused_ms')).end();
}

/** The earlier of the two times if both are set; null if the remaining one is not set. */
function earlierIfBoth(e: ExpressionBuilder<Tables, 'scan_queue'>, staying: Stop) {
  const going = staying === 'blackout_since' ? 'paused_since' : 'blackout_since';
  return e
    .case()
    .when(e.and([e(staying, 'is not', null), e(going, '<', e.ref(staying))]))
    .then(e.ref(going))
    .else(e.ref(staying))
    .end();
}
