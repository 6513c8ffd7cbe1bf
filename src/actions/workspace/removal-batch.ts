import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import type { FinishedScan } from '../../store/scans/scan-ages.ts';
import { syncFolder } from '../../workspace/atomic-file.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ResultRemover } from '../scans/delete-scan.ts';

export interface RemovalContext {
  store: Store;
  workspace: Workspace;
  /** Null without a result store. */
  results: ResultRemover | null;
}

export interface RemovalReport {
  dry_run: boolean;
  deleted_count: number;
  /** Oldest first. */
  deleted_scans: string[];
  /** Bytes of the files that were deleted. */
  freed_bytes: number;
  errors: { scan_id: string; message: string }[];
}

/** Folders worked on side by side. */
const foldersAtOnce = 16;

type RemovedScan = Pick<FinishedScan, 'scan_id' | 'tenant'>;

/** A scan that is to go, with its bytes. */
interface Doomed {
  scan_id: string;
  tenant: string | null;
  folder: ScanFolder;
  bytes: number;
}

interface Retired extends Doomed {
  /** Where its folder is now; null when there was none. */
  retired: string | null;
}

/** Collects scans and deletes them together. */
export class RemovalBatch {
  readonly #context: RemovalContext;
  readonly #report: RemovalReport;
  readonly #size: number;
  #scans: RemovedScan[] = [];
  /** The result store is away: what is in it stays, and its scans with it. */
  #away: unknown = null;

  constructor(context: RemovalContext, report: RemovalReport, size: number) {
    this.#context = context;
    this.#report = report;
    this.#size = size;
  }

  async add(scan: RemovedScan): Promise<void> {
    this.#scans.push(scan);
    if (this.#scans.length >= this.#size) await this.dispose();
  }

  /** Bytes of the files that are on this server; 0 where only the result store holds them. */
  async localBytes(scan: RemovedScan): Promise<number> {
    return (await this.#measure(scan)).bytes;
  }

  /**
   * The folders first get a name under which nobody finds them, and by which the next start finishes what breaks off;
   * then the scans leave the list, and last the files go.
   */
  async dispose(): Promise<void> {
    const doomed = await this.#each(this.#scans.splice(0), (scan) => this.#measure(scan));
    const gone = this.#report.dry_run ? doomed : await this.#forget(await this.#remove(doomed));
    for (const { scan_id, bytes } of gone) {
      this.#report.deleted_scans.push(scan_id);
      this.#report.deleted_count++;
      this.#report.freed_bytes += bytes;
    }
  }

  async #measure({ scan_id, tenant }: RemovedScan): Promise<Doomed> {
    const folder = this.#context.workspace.forTenant(tenant).scan(scan_id);
    return { scan_id, tenant, folder, bytes: await folder.sizeBytes() };
  }

  async #remove(doomed: readonly Doomed[]): Promise<Retired[]> {
    const { results } = this.#context;
    if (results === null) return await this.#retireFolders(doomed);
    const unstored = await this.#each(doomed, async (scan) => {
      await this.#removeStored(results, scan);
      return scan;
    });
    return await this.#retireFolders(unstored);
  }

  /** Where one scan had to wait for the result store, the others need not do so too. */
  async #removeStored(results: ResultRemover, { scan_id, tenant }: Doomed): Promise<void> {
    if (this.#away !== null) throw this.#away;
    try {
      await results.remove({ scanId: scan_id, tenant });
    } catch (error) {
      if (error instanceof PortolanError && error.code === 'unavailable') this.#away = error;
      throw error;
    }
  }

  async #retireFolders(doomed: readonly Doomed[]): Promise<Retired[]> {
    const retired = await this.#each(doomed, async (scan) => ({
      ...scan,
      retired: await scan.folder.retire(),
    }));
    const places = retired.flatMap(({ retired: place }) => place ?? []);
    for (const parent of new Set(places.map(dirname))) await syncFolder(parent);
    return retired;
  }

  async #removeFiles(retired: readonly Retired[]): Promise<Doomed[]> {
    return await this.#each(retired, async (scan) => {
      if (scan.retired !== null) await rm(scan.retired, { recursive: true, force: true });
      return scan;
    });
  }

  async #forget(doomed: readonly Retired[]): Promise<readonly Doomed[]> {
    const { store } = this.#context;
    const forget = () =>
      store.transaction(async ({ scans }) => {
        for (const { scan_id } of doomed) await scans.delete(scan_id);
      });
    try {
      await this.#withRoom(forget, doomed);
    } catch (error) {
      for (const { scan_id } of doomed) this.#fail(scan_id, error);
      return [];
    }
    return await this.#removeFiles(doomed);
  }

  /** Who collects on a full disk wants it to be so no longer, and the store needs room to forget. */
  async #withRoom(change: () => Promise<void>, doomed: readonly Retired[]): Promise<void> {
    const { store, workspace } = this.#context;
    try {
      await change();
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#removeFiles(doomed);
      await workspace.giveUpReserve();
      await store.emptyLog();
      await change();
    }
  }

  /** Does the same for all, some at a time. @returns what succeeded, in order; the rest is reported */
  async #each<S extends { scan_id: string }, T>(
    scans: readonly S[],
    work: (scan: S) => Promise<T>,
  ): Promise<T[]> {
    const done: T[] = [];
    for (let start = 0; start < scans.length; start += foldersAtOnce) {
      const some = scans.slice(start, start + foldersAtOnce);
      const results = await Promise.allSettled(some.map(work));
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') done.push(result.value);
        else this.#fail((some[index] as S).scan_id, result.reason);
      }
    }
    return done;
  }

  #fail(scanId: string, error: unknown): void {
    this.#report.errors.push({ scan_id: scanId, message: failureText(error) });
  }
}

function isFull(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'insufficient_storage';
}

/** Texts of the system name paths, so only its code is told. */
function failureText(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return `The scan could not be deleted${code ? ` (${code})` : ''}.`;
}
