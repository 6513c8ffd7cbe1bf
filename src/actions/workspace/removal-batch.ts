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
  /** Bytes of the deleted files. */
  freed_bytes: number;
  errors: { scan_id: string; message: string }[];
}

/** Folders processed concurrently. */
const foldersAtOnce = 16;

type RemovedScan = Pick<FinishedScan, 'scan_id' | 'tenant' | 'size_bytes'>;

/** A scan to delete, with its size. */
interface Doomed {
  scan_id: string;
  tenant: string | null;
  folder: ScanFolder;
  bytes: number;
}

interface Retired extends Doomed {
  /** Current path of its folder; null if there was none. */
  retired: string | null;
}

/** Collects scans and deletes them together. */
export class RemovalBatch {
  readonly #context: RemovalContext;
  readonly #report: RemovalReport;
  readonly #size: number;
  #scans: RemovedScan[] = [];
  /** The result store is down: its files stay, and their scans too. */
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

  /** Bytes of the files on this server; 0 if they are only in the result store. */
  async localBytes(scan: RemovedScan): Promise<number> {
    return await this.#folderOf(scan).sizeBytes();
  }

  /**
   * First renames the folders, so that nobody finds them and the next start can complete an interrupted deletion;
   * then removes the scans from the list, and last the files.
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

  async #measure(scan: RemovedScan): Promise<Doomed> {
    const { scan_id, tenant, size_bytes } = scan;
    const folder = this.#folderOf(scan);
    // Without a folder here the files are in the result store.
    const storedBytes = this.#context.results === null ? 0 : size_bytes;
    return { scan_id, tenant, folder, bytes: (await folder.sizeBytes()) || storedBytes };
  }

  #folderOf({ scan_id, tenant }: RemovedScan): ScanFolder {
    return this.#context.workspace.forTenant(tenant).scan(scan_id);
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

  /** After one scan had to wait for the result store, the others need not try. */
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
      await rm(this.#context.workspace.indexFile(scan.scan_id), { force: true });
      return scan;
    });
  }

  async #forget(doomed: readonly Retired[]): Promise<readonly Doomed[]> {
    const { store } = this.#context;
    const forget = () =>
      store.transaction(async ({ scans }) => {
        const deleted = new Set<string>();
        for (const { scan_id } of doomed) if (await scans.delete(scan_id)) deleted.add(scan_id);
        return deleted;
      });
    let deleted: ReadonlySet<string>;
    try {
      deleted = await this.#withRoom(forget, doomed);
    } catch (error) {
      for (const { scan_id } of doomed) this.#fail(scan_id, error);
      return [];
    }
    await this.#each(doomed, async ({ scan_id, tenant }) =>
      this.#context.results?.removeLate({ scanId: scan_id, tenant }),
    );
    // Those that another server has deleted meanwhile are its own.
    return (await this.#removeFiles(doomed)).filter(({ scan_id }) => deleted.has(scan_id));
  }

  /** On a full disk, frees some space first: the store needs room to delete. */
  async #withRoom<T>(change: () => Promise<T>, doomed: readonly Retired[]): Promise<T> {
    const { store, workspace } = this.#context;
    try {
      return await change();
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#removeFiles(doomed);
      await workspace.giveUpReserve();
      await store.emptyLog();
      return await change();
    }
  }

  /** Applies an action to all, some at a time. @returns what succeeded, in order; the rest is reported */
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

/** System messages contain paths, so only the code is reported. */
function failureText(error: unknown): string {
  if (error instanceof PortolanError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return `The scan could not be deleted${code ? ` (${code})` : ''}.`;
}
