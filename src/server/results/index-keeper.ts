import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordIndexes } from '../../actions/record-index/record-indexes.ts';
import { scanIdPattern } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import type { ServerLog } from '../logging/log.ts';

/** Interval of the check for indexes that nobody needs, milliseconds. */
const pace = { firstMs: 60_000, betweenMs: 300_000 };
/** Size of all indexes together: beyond it those go that were not used for longest, bytes. */
const maxIndexBytes = 4 * 1024 * 1024 * 1024;
/** A draft that was not written for this long is what a killed server left, milliseconds. */
const draftMs = 3_600_000;
/** The index of a smaller record is built within the first request, bytes. */
const minPreparedBytes = 2 * 1024 * 1024;

export interface IndexKeeperInput {
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  indexes: RecordIndexes;
  log: ServerLog;
  /** @see maxIndexBytes */
  maxBytes?: number;
}

/** Builds the indexes of ended scans, and removes those of deleted scans and beyond a size. */
export class IndexKeeper {
  readonly #input: IndexKeeperInput;
  readonly #looks: PeriodicTasks;
  #prepared: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(input: IndexKeeperInput) {
    this.#input = input;
    this.#looks = new PeriodicTasks(() => this.#look(), pace);
  }

  start(): void {
    this.#looks.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looks.close();
    await this.#input.indexes.close();
    await this.#prepared;
  }

  /** Builds the index of a large record in the background, one after another. */
  scanEnded(scanId: string, tenant: string | null): void {
    this.#prepared = this.#prepared.then(() => this.#prepare(scanId, tenant));
  }

  async #prepare(scanId: string, tenant: string | null): Promise<void> {
    const { workspace, indexes, log } = this.#input;
    if (this.#isClosed) return;
    try {
      const record = recordIn(workspace.forTenant(tenant).scan(scanId));
      if ((await record.plainBytes()) < minPreparedBytes) return;
      await indexes.prepare(indexes.scan(scanId, record));
    } catch (error) {
      // The first request builds it.
      log.debug({ scan_id: scanId, ...logReason(error) }, 'building the index of a scan failed');
    }
  }

  async #look(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#input.log.debug(logReason(error), 'cleaning up indexes failed, retrying');
    }
  }

  /** Removes the indexes of scans that are gone, what killed servers left, and what is beyond the size. */
  async sweep(): Promise<void> {
    const { store, workspace, indexes, maxBytes = maxIndexBytes } = this.#input;
    const present: { scanId: string; path: string; bytes: number; usedAt: number }[] = [];
    for (const name of await readdir(workspace.indexDir).catch(() => [])) {
      const path = join(workspace.indexDir, name);
      const entry = await stat(path).catch(() => null);
      const scanId = name.endsWith('.db') ? name.slice(0, -'.db'.length) : '';
      if (entry === null) continue;
      if (!scanIdPattern.test(scanId)) {
        if (Date.now() - entry.mtimeMs > draftMs) await rm(path, { recursive: true, force: true });
      } else if (await store.scans.isTaken(scanId)) {
        present.push({ scanId, path, bytes: entry.size, usedAt: entry.mtimeMs });
      } else {
        await rm(path, { force: true });
        indexes.forget(scanId);
      }
    }
    let bytes = 0;
    for (const index of present.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += index.bytes;
      if (bytes <= maxBytes) continue;
      await rm(index.path, { force: true });
      indexes.forget(index.scanId);
    }
  }
}
