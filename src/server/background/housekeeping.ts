import { setTimeout as sleep } from 'node:timers/promises';
import { purgeLeftovers } from '../../actions/workspace/purge-leftovers.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay and interval of maintenance. */
const firstRoundMs = 3000;
const roundMs = 3_600_000;
/** Pause before each scan, milliseconds: checks thousands of scans without noticeable load. */
const betweenScansMs = 4;
/** Interval of compacting row counts, milliseconds; see `RowCounts`. */
const foldMs = 5_000;

/** Messages without a scan are deleted this long after they were due, milliseconds: their sender never came back. */
const maxNoticeAgeMs = 7 * 24 * 3_600_000;

/** Followers of the service, and servers that have files of it, have read of a deleted scan by then, milliseconds. */
const maxRemovalAgeMs = 7 * 24 * 3_600_000;

/**
 * Background maintenance: updates scan sizes, compacts row counts, removes leftovers of crashes and messages whose
 * sender is gone.
 */
export class Housekeeping {
  readonly #context: { store: Store; workspace: Workspace };
  readonly #log: ServerLog;
  readonly #folds = new PeriodicTasks(() => this.#fold(), { firstMs: 0, betweenMs: foldMs });
  readonly #looks = new PeriodicTasks((signal) => this.#round(signal), {
    firstMs: firstRoundMs,
    betweenMs: roundMs,
  });

  constructor(context: { store: Store; workspace: Workspace }, log: ServerLog) {
    this.#context = context;
    this.#log = log;
  }

  start(): void {
    this.#looks.start();
    this.#folds.start();
  }

  /** Aborts a running round and waits for its end. */
  async close(): Promise<void> {
    await Promise.all([this.#looks.close(), this.#folds.close()]);
  }

  async #fold(): Promise<void> {
    try {
      await this.#context.store.rowCounts.fold();
    } catch (err) {
      this.#log.debug({ err }, 'compacting row counts failed, retrying');
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const pause = () => sleep(betweenScansMs, undefined, { signal, ref: false }).catch(() => undefined);
    try {
      // Storing the end of a scan on a full disk may have used up the reserve.
      await this.#context.workspace.keepReserve();
      const { resized, swept, failed } = await purgeLeftovers(this.#context, pause, signal);
      if (swept > 0) this.#log.info({ scans: swept }, 'leftovers of crashes removed');
      if (resized > 0) this.#log.debug({ scans: resized }, 'scan sizes updated');
      if (failed > 0) this.#log.warn({ scans: failed }, 'damaged scans found; run portolan workspace check');
      await this.#deleteOldNotices();
      await this.#context.store.scanRemovals.deleteBefore(Date.now() - maxRemovalAgeMs);
    } catch (err) {
      this.#log.warn({ err }, 'workspace maintenance failed');
    }
  }
  async #deleteOldNotices(): Promise<void> {
    const { outbox } = this.#context.store;
    const messages = await outbox.deleteNoticesDueBefore(Date.now() - maxNoticeAgeMs);
    if (messages > 0) this.#log.warn({ messages }, 'old notifications deleted that nobody sent');
  }
}
