import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../../domain/errors.ts';
import type { Store } from '../../store/open.ts';
import { folderMode } from '../../workspace/atomic-file.ts';
import { openRecord } from '../../workspace/record/record-writer.ts';
import type { PinnedFolder } from '../../workspace/result-store/fetched-scans.ts';
import { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { GatheredRows } from '../shards/gathered-rows.ts';

/** Poll interval of the rows of a scan that is being read, milliseconds. */
const lookMs = 500;
/** A copy without readers is kept this long, milliseconds. */
const idleMs = 30_000;

export interface UnfinishedScansInput {
  /** Of all tenants. */
  store: Store;
  workspace: Pick<Workspace, 'dir'>;
  /** Called when a scan has new rows. */
  onRows: (scanId: string) => void;
}

/** A scan that is being copied. */
interface Copy {
  /** Parent folder. */
  place: string;
  folder: ScanFolder;
  readers: number;
  /** Monotonic milliseconds. */
  usedAt: number;
  /** The rows of now are there. */
  ready: Promise<void>;
}

/**
 * Unfinished scans that other servers run, in `cache/unfinished/`: their rows are copied from the database while somebody reads
 * them, once for all readers. The order is that of the server that runs the scan, so that positions mean the same.
 */
export class UnfinishedScans {
  readonly #input: UnfinishedScansInput;
  readonly #copies = new Map<string, Copy>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #begun = 0;

  constructor(input: UnfinishedScansInput) {
    this.#input = input;
  }

  /** Removes leftovers of an earlier process. */
  async clear(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  /** @throws PortolanError `not_found`, `unavailable`, `insufficient_storage` */
  async hold(scanId: string): Promise<PinnedFolder> {
    const copy = this.#copies.get(scanId) ?? this.#begin(scanId);
    copy.readers += 1;
    let isHeld = true;
    const release = () => {
      if (isHeld) copy.readers -= 1;
      isHeld = false;
      copy.usedAt = performance.now();
    };
    try {
      await copy.ready;
    } catch (error) {
      release();
      throw error;
    }
    return { folder: copy.folder, release };
  }

  get #root(): string {
    return join(this.#input.workspace.dir, 'cache', 'unfinished');
  }

  #begin(scanId: string): Copy {
    const ready = Promise.withResolvers<void>();
    // A folder of its own: the one of an earlier copy may be being removed.
    const place = join(this.#root, String(++this.#begun));
    const copy: Copy = {
      place,
      folder: new ScanFolder(join(place, scanId)),
      readers: 0,
      usedAt: performance.now(),
      ready: ready.promise,
    };
    this.#copies.set(scanId, copy);
    const run = this.#run(scanId, copy, () => ready.resolve())
      .catch((error: unknown) => ready.reject(error))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
    return copy;
  }

  async #run(scanId: string, copy: Copy, onReady: () => void): Promise<void> {
    try {
      await this.#copy(scanId, copy, onReady).finally(() => this.#forget(scanId, copy));
    } finally {
      await rm(copy.place, { recursive: true, force: true });
    }
  }

  async #copy(scanId: string, copy: Copy, onReady: () => void): Promise<void> {
    const { store, onRows } = this.#input;
    const request = await store.scans.request(scanId);
    if (request === null) throw new PortolanError('not_found', 'There is no such scan.');
    await mkdir(copy.place, { recursive: true, mode: folderMode });
    await copy.folder.create(request);
    const record = await openRecord(copy.folder, { isDurable: false });
    const onInvalid = () => undefined;
    const rows = new GatheredRows({ store, scanId, sink: record, skip: 0, onInvalid });
    const take = async () => {
      const before = record.rows;
      await rows.takeNew();
      if (record.rows > before) await record.seal();
      return record.rows > before;
    };
    try {
      await take();
      onReady();
      while (this.#isUsed(copy)) {
        await sleep(lookMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
        if (this.#isUsed(copy) && (await take().catch(unlessAway))) onRows(scanId);
      }
    } finally {
      // At once: nobody gets a copy that ends.
      this.#forget(scanId, copy);
      await record.close();
    }
  }

  #forget(scanId: string, copy: Copy): void {
    if (this.#copies.get(scanId) === copy) this.#copies.delete(scanId);
  }

  #isUsed({ readers, usedAt }: Copy): boolean {
    return !this.#closing.signal.aborted && (readers > 0 || performance.now() - usedAt < idleMs);
  }
}

/** The database may be away for a while: the rows come later. */
function unlessAway(error: unknown): false {
  if (error instanceof PortolanError && error.code === 'unavailable') return false;
  throw error;
}
