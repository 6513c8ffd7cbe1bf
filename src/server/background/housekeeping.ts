import { setTimeout as sleep } from 'node:timers/promises';
import { purgeLeftovers } from '../../actions/workspace/purge-leftovers.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Time from the start to the first round, and between rounds. */
const firstRoundMs = 3000;
const roundMs = 3_600_000;
/** Pause before each scan: a workspace of thousands is walked in seconds, and nobody notices. */
const betweenScansMs = 4;
/** The counts of rows are folded this often, milliseconds; see `RowCounts`. */
const foldMs = 30_000;

/** Keeps the sizes of scans true, the counts of rows short and the traces of crashes away, in the background. */
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

  /** Breaks a round off and waits until nothing of it is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#looks.close(), this.#folds.close()]);
  }

  async #fold(): Promise<void> {
    try {
      await this.#context.store.rowCounts.fold();
    } catch (err) {
      this.#log.debug({ err }, 'counts of rows were not folded, retrying');
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const pause = () => sleep(betweenScansMs, undefined, { signal, ref: false }).catch(() => undefined);
    try {
      // The end of a scan on a full disk may have taken it.
      await this.#context.workspace.keepReserve();
      const { resized, swept, failed } = await purgeLeftovers(this.#context, pause, signal);
      if (swept > 0) this.#log.info({ scans: swept }, 'what crashes left in scans is removed');
      if (resized > 0) this.#log.debug({ scans: resized }, 'sizes of scans are counted anew');
      if (failed > 0) this.#log.warn({ scans: failed }, 'scans are damaged; see portolan workspace check');
    } catch (err) {
      this.#log.warn({ err }, 'the workspace could not be tidied');
    }
  }
}
