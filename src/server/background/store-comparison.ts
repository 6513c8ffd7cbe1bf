import { setTimeout as sleep } from 'node:timers/promises';
import { compareFolders, type FolderComparison } from '../../actions/workspace/compare-folders.ts';
import type { Store } from '../../store/open.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay and interval of the comparison. By then earlier submissions are stored, or never will be. */
const pace = { firstMs: 10_000, betweenMs: 3_600_000 };
/** Pause between two pages, milliseconds: yields the event loop to requests. */
const betweenPagesMs = 4;

/**
 * Compares the scan folders with the store in the background; log and health report the differences and how to repair
 * them.
 */
export class StoreComparison extends PeriodicTasks {
  readonly #context: { store: Store; workspace: Workspace };
  readonly #log: ServerLog;
  readonly #startedAt = Date.now();
  #fault: string | null = null;

  constructor(context: { store: Store; workspace: Workspace }, log: ServerLog, times = pace) {
    super((signal) => this.#compare(signal), times);
    this.#context = context;
    this.#log = log;
  }

  /** The differences in one sentence; null without any. */
  get fault(): string | null {
    return this.#fault;
  }

  async #compare(signal: AbortSignal): Promise<void> {
    const pause = () => sleep(betweenPagesMs, undefined, { signal, ref: false }).catch(() => undefined);
    try {
      const found = await compareFolders({ ...this.#context, startedAt: this.#startedAt, pause, signal });
      if (found === null) return;
      const { removed, ...differences } = found;
      if (removed > 0) this.#log.info({ folders: removed }, 'folders of interrupted submissions removed');
      const fault = faultText(found);
      if (fault !== null && fault !== this.#fault)
        this.#log.warn({ ...differences, remedy }, 'store and scan folders differ');
      this.#fault = fault;
    } catch (err) {
      this.#log.warn({ err }, 'cannot compare store and scan folders');
    }
  }
}

const remedy =
  'stop the server and run "portolan workspace check --fix", or restore the backup that belongs to it';

function faultText({ unlisted, missing }: FolderComparison): string | null {
  const parts = [
    ...(unlisted > 0 ? [`${unlisted} scan folders are not listed in the store`] : []),
    ...(missing > 0 ? [`${missing} listed scans have no folder`] : []),
  ];
  return parts.length === 0 ? null : `${parts.join(', ')}: ${remedy}`;
}
