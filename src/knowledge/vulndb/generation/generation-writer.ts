import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { cveKey } from '../cve-key.ts';
import type { CveRecord } from '../cve-record.ts';
import type { EpssScore } from '../import/import-epss.ts';
import type { FeedSink } from '../import/import-feed.ts';
import type { PackageFixes } from '../import/import-fixes.ts';
import type { KevEntry } from '../import/import-kev.ts';
import { SpoolFile } from '../import/spool-file.ts';
import { EventLoopYield } from './event-loop-yield.ts';
import { GenerationBuild } from './generation-build.ts';
import { GenerationLock } from './generation-lock.ts';
import { pointerName, readCurrentManifest, readPointer } from './generation-pointer.ts';
import { type GenerationManifest, generationPattern, type SourceState } from './manifest.ts';
import { encodeRecord } from './record-code.ts';
import { recordKey, type SpooledRecord } from './record-lines.ts';
import { packageKey } from './stored-fixes.ts';

/** Records that one generation can hold. */
const maxRecords = 5_000_000;

/** Statements of distributions that one generation can hold. */
const maxStatements = 5_000_000;

interface Checkpoint {
  records: number;
  fixes: Map<string, PackageFixes> | null;
  statements: number;
  kev: readonly KevEntry[] | null;
  epss: readonly EpssScore[] | null;
}

interface CommitInput {
  /** What changes of what is known about the sources. */
  sources: Record<string, SourceState>;
  synced: boolean;
  /** Breaks the work off; then nothing has changed. */
  signal?: AbortSignal;
}

/**
 * Makes the next generation out of the current one and what is added. Nothing is visible before `commit` has put the
 * pointer in place; until then everything is in a staging folder. One writer at a time.
 */
export class GenerationWriter implements FeedSink {
  readonly #dir: string;
  readonly #lock: GenerationLock;
  readonly #staging: string;
  /** The current generation, which the next one builds on. */
  readonly base: GenerationManifest | null;
  readonly #spool: SpoolFile;
  readonly #spooled: SpooledRecord[] = [];
  #kev: readonly KevEntry[] | null = null;
  #epss: readonly EpssScore[] | null = null;
  #fixes: Map<string, PackageFixes> | null = null;
  #statements = 0;
  #closed = false;

  private constructor(dir: string, lock: GenerationLock, base: GenerationManifest | null) {
    this.#dir = dir;
    this.#lock = lock;
    this.base = base;
    this.#staging = join(dir, `.staging-${randomBytes(6).toString('hex')}`);
    mkdirSync(this.#staging, { mode: 0o700 });
    this.#spool = new SpoolFile(join(this.#staging, 'spool'));
  }

  /**
   * @param fresh discards the current generation
   * @throws PortolanError `conflict` while another one is open for this folder, or when what is there is damaged
   */
  static open(dir: string, fresh = false): GenerationWriter {
    const lock = GenerationLock.acquire(dir);
    try {
      const base = fresh ? null : readCurrentManifest(dir);
      removeLeftovers(dir, base?.generation ?? null, fresh);
      return new GenerationWriter(dir, lock, base);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  addRecord(record: CveRecord): void {
    const key = cveKey(record.id);
    if (key === null) throw new TypeError('a record without a CVE id');
    if (this.#spooled.length >= maxRecords) throw new RangeError(`more than ${maxRecords} records`);
    this.#spooled.push({
      key: recordKey(key, record.source),
      modified: Date.parse(record.modified),
      ...this.#spool.append(encodeRecord(record)),
    });
  }

  addFixes(fixes: PackageFixes): void {
    this.#statements += fixes.fixed.size;
    if (this.#statements > maxStatements) throw new RangeError(`more than ${maxStatements} statements`);
    this.#fixes ??= new Map();
    this.#fixes.set(packageKey(fixes), fixes);
  }

  setKev(entries: readonly KevEntry[]): void {
    this.#kev = entries;
  }

  setEpss(scores: readonly EpssScore[]): void {
    this.#epss = scores;
  }

  /** What was added so far, to come back to when a feed turns out to be broken. */
  checkpoint(): Checkpoint {
    return {
      records: this.#spooled.length,
      fixes: this.#fixes && new Map(this.#fixes),
      statements: this.#statements,
      kev: this.#kev,
      epss: this.#epss,
    };
  }

  rollBack({ records, fixes, statements, kev, epss }: Checkpoint): void {
    this.#spooled.length = records;
    this.#fixes = fixes;
    this.#statements = statements;
    this.#kev = kev;
    this.#epss = epss;
  }

  /** Records that were added. */
  get added(): number {
    return this.#spooled.length;
  }

  /**
   * Builds the generation and makes it the current one; the one before is removed, and readers that have it open keep it.
   * @throws PortolanError `conflict` when the old generation is damaged; after any error it stays the current one
   */
  async commit({ sources, synced, signal }: CommitInput): Promise<GenerationManifest> {
    const now = new Date();
    const generation = generationName(now);
    const folder = join(this.#staging, 'generation');
    mkdirSync(folder, { mode: 0o700 });
    const build = new GenerationBuild(folder, this.base, this.#base(), new EventLoopYield(signal ?? null));
    if (this.#fixes === null && this.base !== null && this.#spooled.length === 0) build.carryOnRecords();
    else if (this.#fixes !== null || !(await build.newerRecords(this.#spool, this.#spooled)))
      await build.records(this.#spool, this.#spooled, this.#fixes);
    if (this.#kev !== null || this.base === null) build.kev(this.#kev ?? []);
    else build.carryOn(['kev.json']);
    if (this.#epss !== null || this.base === null) build.epss(this.#epss ?? []);
    else build.carryOn(['epss.bin']);
    const manifest: GenerationManifest = {
      format: 1,
      generation,
      created_at: now.toISOString(),
      synced_at: synced ? now.toISOString() : (this.base?.synced_at ?? null),
      counts: build.counts,
      sources: { ...this.base?.sources, ...sources },
      distributions: build.distributions,
      ...(build.newer === undefined ? {} : { newer: build.newer }),
      files: build.files,
    };
    writeDurably(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    syncFolder(folder);
    renameSync(folder, join(this.#dir, generation));
    const pointer = join(this.#staging, pointerName);
    writeDurably(pointer, `${generation}\n`);
    renameSync(pointer, join(this.#dir, pointerName));
    syncFolder(this.#dir);
    this.close();
    return manifest;
  }

  /** Gives the folder back; without a commit before, nothing has happened. May be called again. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#spool.close();
    try {
      const holding = readPointerQuietly(this.#dir);
      removeLeftovers(this.#dir, holding, holding === null);
    } finally {
      this.#lock.release();
    }
  }

  #base(): string | null {
    return this.base && join(this.#dir, this.base.generation);
  }
}

function generationName(now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${randomBytes(3).toString('hex')}`;
}

/** Removes what crashes left, and generations that are not current; needs the lock. */
function removeLeftovers(dir: string, current: string | null, keepGenerations: boolean): void {
  for (const name of readdirSync(dir)) {
    const isOld = generationPattern.test(name) && name !== current && !keepGenerations;
    if (isOld || /^\.staging-[0-9a-f]{12}$/.test(name))
      rmSync(join(dir, name), { recursive: true, force: true });
  }
}

/** A damaged pointer names nothing. */
function readPointerQuietly(dir: string): string | null {
  try {
    return readPointer(dir);
  } catch {
    return null;
  }
}

function writeDurably(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
