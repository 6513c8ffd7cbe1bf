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

/** A folder that is not removed while it is in use. */
export interface PinnedFolder {
  folder: ScanFolder;
  /** Call it when done reading; idempotent. */
  release(): void;
}

/** Requested part of a scan: all files, or all except its artifacts, which are many and only used by an archive. */
export type ScanFile = 'record' | 'whole';

export interface FetchedLimits {
  /** A scan that was not read for this long is removed, milliseconds. */
  idleMs: number;
  /** Beyond this, the least recently used are removed, unless they are being read. */
  bytes: number;
}

/** Maximum size of fetched scans on disk, bytes. */
export const maxFetchedBytes = 10 * 1024 * 1024 * 1024;
/** Time after its last use that a scan is kept, milliseconds. */
export const fetchedScanTtlMs = 3_600_000;

/** A scan on disk, or being fetched. */
interface Entry {
  place: StoredScanLocation;
  readers: number;
  /** Monotonic, milliseconds. */
  usedAt: number;
  /** Of the complete files. */
  bytes: number;
  /** Its folder is complete. */
  ready: boolean;
  record: Promise<readonly StoredFile[]>;
  artifacts: Promise<void> | null;
}

/**
 * Scans of the result store in `cache/results/`, fetched on demand and kept while in use. Concurrent requests share
 * one fetch. Starts empty: files of an earlier process may be incomplete.
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

  /** Removes leftovers of an earlier process. */
  async clear(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Scans present now. */
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
    // The cache may have been emptied.
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

  /** Fetches files to a draft folder, then moves them synchronously: no other operation can interleave. */
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

  /** Removes what is unused for long, and what exceeds the limit. */
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

  /** The scan is deleted: current readers may continue, no new ones start. */
  async forget({ scanId }: StoredScanLocation): Promise<void> {
    const entry = this.#entries.get(scanId);
    if (entry) await this.#drop(entry);
  }

  /** Synchronous: no caller can acquire a folder that is being removed, and a new fetch finds its path free. */
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
