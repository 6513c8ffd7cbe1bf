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

/** Maximum number of records of a generation. */
const maxRecords = 5_000_000;

/** Maximum number of statements of distributions in a generation. */
const maxStatements = 5_000_000;

interface Checkpoint {
  records: number;
  fixes: Map<string, PackageFixes> | null;
  statements: number;
  kev: readonly KevEntry[] | null;
  epss: readonly EpssScore[] | null;
}

interface CommitInput {
  /** Changes to the facts about the sources. */
  sources: Record<string, SourceState>;
  synced: boolean;
  /** Aborts the work, without any change. */
  signal?: AbortSignal;
}

/**
 * Builds the next generation from the current one and the additions. Works in a staging folder: nothing is visible
 * before `commit` has replaced the pointer. One writer at a time.
 */
export class GenerationWriter implements FeedSink {
  readonly #dir: string;
  readonly #lock: GenerationLock;
  readonly #staging: string;
  /** The current generation, the base of the next one. */
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
   * @throws PortolanError `conflict` while another one is open for this folder, or when the existing data is damaged
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
    const key = packageKey(fixes);
    const known = this.#fixes.get(key);
    // A package may stand in several files of one import; what an earlier import knew of it goes.
    this.#fixes.set(key, known ? { ...fixes, fixed: new Map([...known.fixed, ...fixes.fixed]) } : fixes);
  }

  setKev(entries: readonly KevEntry[]): void {
    this.#kev = entries;
  }

  setEpss(scores: readonly EpssScore[]): void {
    this.#epss = scores;
  }

  /** The additions so far, as a savepoint in case a feed turns out to be broken. */
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

  /** Number of added records. */
  get added(): number {
    return this.#spooled.length;
  }

  /**
   * Builds the generation and makes it the current one. Removes the previous one; readers that have it open can still
   * read it.
   *
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
    if (this.#kev !== null || this.base === null) await build.kev(this.#kev ?? []);
    else build.carryOn(['kev.json']);
    if (this.#epss !== null || this.base === null) await build.epss(this.#epss ?? []);
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
    publishGeneration(this.#dir, this.#staging, generation);
    this.close();
    return manifest;
  }

  /** Releases the folder; discards everything that was not committed. Idempotent. */
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

/**
 * Makes the complete folder `generation` of a staging folder the current generation; requires the lock.
 * The previous one goes when the next writer closes.
 */
export function publishGeneration(dir: string, staging: string, generation: string): void {
  const folder = join(staging, 'generation');
  syncFolder(folder);
  rmSync(join(dir, generation), { recursive: true, force: true });
  renameSync(folder, join(dir, generation));
  const pointer = join(staging, pointerName);
  writeDurably(pointer, `${generation}\n`);
  renameSync(pointer, join(dir, pointerName));
  syncFolder(dir);
}

function generationName(now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${randomBytes(3).toString('hex')}`;
}

/** Removes leftovers of crashes and generations that are not current; requires the lock. */
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

export function writeDurably(path: string, text: string): void {
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
