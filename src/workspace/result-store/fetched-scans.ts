import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { folderMode } from '../atomic-file.ts';
import { ScanFolder } from '../scan-folder.ts';
import type { Workspace } from '../workspace.ts';
import type { StoredFile } from './manifest.ts';
import type { ResultStore, StoredScanLocation } from './result-store.ts';

/** A folder that stays as long as somebody holds it. */
export interface PinnedFolder {
  folder: ScanFolder;
  /** To be called once nobody reads in it any more; further calls do nothing. */
  release(): void;
}

/** What of a scan is wanted: all files, or all but its artifacts, which are many and which only an archive shows. */
export type ScanFile = 'record' | 'whole';

export interface FetchedLimits {
  /** A scan that nobody has read for so long goes, milliseconds. */
  idleMs: number;
  /** Those that were read longest ago go beyond this, unless they are being read. */
  bytes: number;
}

/** Fetched scans that are kept on the disk, bytes. */
export const maxFetchedBytes = 10 * 1024 * 1024 * 1024;
/** Time after its last use that one is kept, milliseconds. */
export const fetchedScanTtlMs = 3_600_000;

/** One scan on the disk, or on its way there. */
interface Entry {
  place: StoredScanLocation;
  readers: number;
  /** Monotonic, milliseconds. */
  usedAt: number;
  /** Of the files that are in their place. */
  bytes: number;
  /** Its folder is in its place. */
  ready: boolean;
  record: Promise<readonly StoredFile[]>;
  artifacts: Promise<void> | null;
}

/**
 * Scans of the result store in `cache/results/`, fetched when they are read and only as long as they are. What two ask
 * for at once is fetched once. It begins empty: what an earlier process fetched is not known to be whole.
 */
export class FetchedScans {
  readonly #store: ResultStore;
  readonly #workspace: Pick<Workspace, 'freeBytes'>;
  readonly #root: string;
  readonly #limits: FetchedLimits;
  readonly #entries = new Map<string, Entry>();

  constructor(
    store: ResultStore,
    workspace: Pick<Workspace, 'dir' | 'freeBytes'>,
    limits: FetchedLimits = { idleMs: fetchedScanTtlMs, bytes: maxFetchedBytes },
  ) {
    this.#store = store;
    this.#workspace = workspace;
    this.#root = join(workspace.dir, 'cache', 'results');
    this.#limits = limits;
  }

  /** Removes what an earlier process has left. */
  async clear(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Scans that are there now. */
  get places(): StoredScanLocation[] {
    return [...this.#entries.values()].map(({ place }) => place);
  }

  /** @throws PortolanError `unavailable`, `insufficient_storage`, or `internal_error` for results that are missing or damaged */
  async hold(place: StoredScanLocation, part: ScanFile): Promise<PinnedFolder> {
    const entry = this.#entryOf(place);
    entry.readers++;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      entry.readers--;
      entry.usedAt = performance.now();
    };
    try {
      await entry.record;
      if (part === 'whole') await this.#addArtifacts(entry);
      this.sweep().catch(() => undefined);
      return { folder: new ScanFolder(this.#path(place)), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #entryOf(place: StoredScanLocation): Entry {
    const known = this.#entries.get(place.scanId);
    // Somebody may have emptied the cache.
    if (known && (!known.ready || existsSync(this.#path(place)))) return known;
    const entry: Entry = {
      place,
      readers: 0,
      usedAt: performance.now(),
      bytes: 0,
      ready: false,
      record: Promise.resolve([]),
      artifacts: null,
    };
    this.#entries.set(place.scanId, entry);
    entry.record = this.#fetchRecord(entry).catch((error: unknown) => {
      if (this.#isCurrent(entry)) this.#entries.delete(place.scanId);
      throw error;
    });
    return entry;
  }

  #isCurrent(entry: Entry): boolean {
    return this.#entries.get(entry.place.scanId) === entry;
  }

  async #fetchRecord(entry: Entry): Promise<readonly StoredFile[]> {
    const { place } = entry;
    const { files } = await this.#store.manifest(place);
    await this.#fetch(
      entry,
      files.filter(({ name }) => !isArtifact(name)),
      (draft) => {
        renameSync(draft, this.#path(place));
        entry.ready = true;
      },
    );
    return files.filter(({ name }) => isArtifact(name));
  }

  #addArtifacts(entry: Entry): Promise<void> {
    entry.artifacts ??= this.#fetchArtifacts(entry).catch((error: unknown) => {
      entry.artifacts = null;
      throw error;
    });
    return entry.artifacts;
  }

  async #fetchArtifacts(entry: Entry): Promise<void> {
    const files = await entry.record;
    if (files.length === 0) return;
    await this.#fetch(entry, files, (draft) =>
      renameSync(join(draft, artifacts), join(this.#path(entry.place), artifacts)),
    );
  }

  /** Fetches files beside their place, then puts them there in one turn of the process, so that nothing comes between. */
  async #fetch(entry: Entry, files: readonly StoredFile[], put: (draft: string) => void): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (bytes > (await this.#workspace.freeBytes()))
      throw new PortolanError('insufficient_storage', 'The disk has no space for the results of the scan.');
    const draft = join(this.#root, `.${randomBytes(8).toString('hex')}`);
    try {
      await mkdir(draft, { recursive: true, mode: folderMode });
      await this.#store.fetch(entry.place, files, draft);
      if (!this.#isCurrent(entry)) throw new PortolanError('not_found', 'There is no such scan.');
      put(draft);
      entry.bytes += bytes;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** Removes what nobody has read for long, and what is too much. */
  async sweep(now = performance.now()): Promise<void> {
    const idle = [...this.#entries.values()]
      .filter(({ readers, ready }) => readers === 0 && ready)
      .sort((a, b) => a.usedAt - b.usedAt);
    let bytes = [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, 0);
    for (const entry of idle) {
      if (now - entry.usedAt < this.#limits.idleMs && bytes <= this.#limits.bytes) continue;
      bytes -= entry.bytes;
      await this.#drop(entry);
    }
  }

  /** The scan is deleted: who reads it may go on, nobody else begins. */
  async forget({ scanId }: StoredScanLocation): Promise<void> {
    const entry = this.#entries.get(scanId);
    if (entry) await this.#drop(entry);
  }

  /** In one turn of the process: nobody takes hold of a folder that goes, and one that is fetched anew finds its place free. */
  async #drop(entry: Entry): Promise<void> {
    if (!this.#isCurrent(entry)) return;
    this.#entries.delete(entry.place.scanId);
    if (!entry.ready || !existsSync(this.#path(entry.place))) return;
    const doomed = join(this.#root, `.${randomBytes(8).toString('hex')}`);
    renameSync(this.#path(entry.place), doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  #path({ scanId }: StoredScanLocation): string {
    return join(this.#root, scanId);
  }
}

const artifacts = 'artifacts';

function isArtifact(name: string): boolean {
  return name.startsWith(`${artifacts}/`);
}
