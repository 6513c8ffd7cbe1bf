import { rm } from 'node:fs/promises';
import type { RecordIndexes } from '../../actions/record-index/record-indexes.ts';
import type { Store } from '../../store/open.ts';
import { maxRemovals } from '../../store/scans/scan-removals.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import type { ServerLog } from '../logging/log.ts';

/** Initial delay and interval, milliseconds. */
const usualPace = { firstMs: 2000, betweenMs: 5000 };
/** Deletions are read again for this long: transactions end in another order than their times say, milliseconds. */
const overlapMs = 60_000;

export interface RemovedFoldersInput {
  /** Of all tenants. */
  store: Pick<Store, 'scanRemovals'>;
  /** Of all tenants. */
  workspace: Pick<Workspace, 'forTenant'>;
  indexes: Pick<RecordIndexes, 'forget'>;
  log: ServerLog;
  pace?: typeof usualPace;
}

/** Removes what is left here of scans that other servers have deleted, also while this one was away. */
export class RemovedFolders extends PeriodicTasks {
  readonly #input: RemovedFoldersInput;
  /** Deletions before have been read, epoch milliseconds. */
  #readTo = 0;
  /** Time of the newest one, and when it was first read, monotonic milliseconds. */
  #newest = 0;
  #changedAt = performance.now();

  constructor(input: RemovedFoldersInput) {
    super((signal) => this.#look(signal), input.pace ?? usualPace);
    this.#input = input;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { store, log } = this.#input;
    try {
      const removals = await store.scanRemovals.from(this.#readTo);
      for (const { scanId, tenant } of removals) {
        if (signal.aborted) return;
        await this.#remove(scanId, tenant);
      }
      this.#advance(removals.at(-1)?.removedAt ?? 0, removals.length === maxRemovals);
    } catch (error) {
      log.debug(logReason(error), 'cannot remove the folders of deleted scans, retrying');
    }
  }

  /** Once nothing has come for the overlap, what was read last is not read again. */
  #advance(newest: number, isCut: boolean): void {
    const now = performance.now();
    if (newest > this.#newest) [this.#newest, this.#changedAt] = [newest, now];
    const isQuiet = now - this.#changedAt > overlapMs;
    const readTo = isQuiet ? this.#newest + 1 : newest - (isCut ? 0 : overlapMs);
    this.#readTo = Math.max(this.#readTo, readTo);
  }

  async #remove(scanId: string, tenant: string | null): Promise<void> {
    const workspace = this.#input.workspace.forTenant(tenant);
    const folder = workspace.scan(scanId);
    if (!(await folder.exists())) return;
    this.#input.indexes.forget(scanId);
    await folder.remove();
    await rm(workspace.indexFile(scanId), { force: true });
  }
}
