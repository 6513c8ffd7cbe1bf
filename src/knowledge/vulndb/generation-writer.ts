import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { damagedBlock, FileWriter, readBlockBytes } from './block-file.ts';
import { cveKey } from './cve-key.ts';
import type { CveRecord } from './cve-record.ts';
import {
  epssEntryBytes,
  epssUnit,
  fixesKey,
  indexEntryBytes,
  type PackedCore,
  type PackedFix,
  pointerName,
  readCurrentManifest,
  readPointer,
  recordLines,
  replacedKey,
  shardHash,
} from './generation.ts';
import { GenerationLock } from './generation-lock.ts';
import type { EpssScore } from './import-epss.ts';
import type { FeedSink } from './import-feed.ts';
import type { PackageFixes } from './import-fixes.ts';
import type { KevEntry } from './import-kev.ts';
import {
  type GenerationFile,
  type GenerationManifest,
  generationPattern,
  newerFiles,
  type SourceState,
} from './manifest.ts';
import { mergeCveRecords, sourceLocation, sourceLocations } from './merge-records.ts';
import { vulnerableProducts } from './product-key.ts';
import { decodeRecord, encodeRecord, packConfigurations, packScores } from './record-code.ts';

/** Records that one generation can hold. */
const maxRecords = 5_000_000;
/** Statements of distributions that one generation can hold. */
const maxStatements = 5_000_000;
/** CVEs that stand in newer files beside the others; with more of them all files are made anew. */
const maxNewerCves = 20_000;
/** A part of all CVEs that may stand there. */
const newerShare = 1 / 8;
/** Text of one block of records. */
const recordBlockBytes = 64 * 1024;
/** Configurations up to this length are read with their product; longer ones with their record. */
const inlineBytes = 4096;
/** Records whose products are more than this keep their configurations to themselves. */
const inlineProducts = 32;
const spoolBytes = 4 * 1024 * 1024;
/** Work without a pause for others, milliseconds. */
const longestStretch = 8;

/** A record that was added, in the spool file. */
interface Spooled {
  /** CVE and place of the source. */
  key: number;
  /** Milliseconds. */
  modified: number;
  offset: number;
  length: number;
}

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
 * Makes the next generation out of the one that holds and what is added. Nobody sees any of it before `commit` has put
 * the pointer in place; until then everything is in a folder of its own. One at a time.
 */
export class GenerationWriter implements FeedSink {
  readonly #dir: string;
  readonly #lock: GenerationLock;
  readonly #staging: string;
  /** What holds now and is carried on. */
  readonly base: GenerationManifest | null;
  readonly #spool: number;
  readonly #spooled: Spooled[] = [];
  #spoolSize = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
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
    this.#spool = openSync(join(this.#staging, 'spool'), 'wx+', 0o600);
  }

  /**
   * @param fresh begins with nothing, whatever is there
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
    const text = Buffer.from(encodeRecord(record));
    this.#spooled.push({
      key: key * sourceLocations + sourceLocation(record.source),
      modified: Date.parse(record.modified),
      offset: this.#spoolSize,
      length: text.length,
    });
    this.#spoolSize += text.length;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    if (this.#waitingBytes >= spoolBytes) this.#flushSpool();
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
   * Builds the generation and puts it in force; the one before is removed, and whoever has it open keeps it.
   * @throws PortolanError `conflict` when what is carried on is damaged; then, as after any error, the old one holds
   */
  async commit({ sources, synced, signal }: CommitInput): Promise<GenerationManifest> {
    const now = new Date();
    const generation = generationName(now);
    const folder = join(this.#staging, 'generation');
    mkdirSync(folder, { mode: 0o700 });
    const build = new Build(folder, this.base, this.#base(), new Breath(signal ?? null));
    this.#flushSpool();
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
    closeSync(this.#spool);
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

  #flushSpool(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#spool, bytes, written);
  }
}

/** Writes the files of one generation. */
class Build {
  readonly #folder: string;
  readonly #base: GenerationManifest | null;
  readonly #baseFolder: string | null;
  readonly files: GenerationManifest['files'] = {};
  readonly counts: GenerationManifest['counts'];
  distributions: GenerationManifest['distributions'];
  newer: GenerationManifest['newer'];
  readonly #breath: Breath;

  constructor(folder: string, base: GenerationManifest | null, baseFolder: string | null, breath: Breath) {
    this.#folder = folder;
    this.#breath = breath;
    this.#base = base;
    this.#baseFolder = baseFolder;
    const none = { cves: 0, rejected: 0, products: 0, kev: 0, epss: 0, fixes: 0 };
    this.counts = base ? { ...base.counts } : none;
    this.distributions = base?.distributions ?? [];
  }

  /** Takes files as they are. */
  carryOn(names: GenerationFile[]): void {
    for (const name of names) {
      const [from, to] = [join(this.#baseFolder ?? '', name), join(this.#folder, name)];
      const known = this.#base?.files[name];
      if (known === undefined || sizeOf(from) !== known.size)
        throw damagedBlock(`${name} is missing or cut off`);
      try {
        linkSync(from, to);
      } catch {
        // Not every file system has a second name for a file.
        copyFileSync(from, to);
      }
      this.files[name] = known;
    }
  }

  /** Records and what distributions say, as they are. */
  carryOnRecords(): void {
    this.newer = this.#base?.newer;
    this.carryOn([
      'records.bin',
      'shards.bin',
      'shards.idx',
      'fixes.json',
      ...(this.newer ? newerFiles : []),
    ]);
  }

  kev(entries: readonly KevEntry[]): void {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const packed = [...byId.values()].map(({ id, added, ransomware }) => [id, added, ransomware ? 1 : 0]);
    this.counts.kev = packed.length;
    this.#write('kev.json', (file) => file.write(Buffer.from(JSON.stringify(packed))));
  }

  epss(scores: readonly EpssScore[]): void {
    const byKey = new Map(scores.map((score) => [cveKey(score.id) ?? 0, score]));
    const keys = Float64Array.from(byKey.keys()).sort();
    const bytes = new ArrayBuffer(keys.length * epssEntryBytes);
    new Float64Array(bytes, 0, keys.length).set(keys);
    const values = new Uint32Array(bytes, keys.length * 8);
    for (const [index, key] of keys.entries()) {
      const { score, percentile } = byKey.get(key) as EpssScore;
      values[index * 2] = Math.round(score / epssUnit);
      values[index * 2 + 1] = Math.round(percentile / epssUnit);
    }
    this.counts.epss = keys.length;
    this.#write('epss.bin', (file) => file.write(new Uint8Array(bytes)));
  }

  /** Records of both sources in the order of their CVEs, then what is found by product. */
  async records(spool: number, added: Spooled[], fixes: Map<string, PackageFixes> | null): Promise<void> {
    const shards = new ShardMaker(join(this.#folder, '..', 'cores'));
    try {
      this.counts.cves = 0;
      this.counts.rejected = 0;
      const newer = await this.#collect('newer-records.bin', () => true);
      const all = groups(this.#oldRecords(newer), newRecords(spool, added));
      await this.#writeRecords('records.bin', all, shards, ({ rejected }) => {
        this.counts.cves++;
        if (rejected) this.counts.rejected++;
      });
      const statements = this.#mergeFixes(fixes);
      this.#write('fixes.json', (file) => file.write(Buffer.from(JSON.stringify(statements))));
      const index = await this.#writeAsync('shards.bin', (file) =>
        shards.write(file, groupFixes(statements), this.#breath),
      );
      this.#write('shards.idx', (file) => file.write(index));
      this.counts.products = shards.products.size;
      this.#countFixes(statements);
    } finally {
      shards.close();
    }
  }

  /**
   * Carries the records on as they are and puts those that change into files beside them, with what stood there before.
   * @returns false, with nothing done, where there would be too many of them
   */
  async newerRecords(spool: number, added: Spooled[]): Promise<boolean> {
    const base = this.#base;
    if (base === null) return false;
    const changed = new Set(added.map(({ key }) => cveOf(key)));
    const newer = await this.#collect('newer-records.bin', () => true);
    // Of CVEs that stand there already, nothing in the large file holds.
    for (const { key } of newer) changed.delete(cveOf(key));
    const count = changed.size + (base.newer?.cves ?? 0);
    if (count > Math.min(maxNewerCves, base.counts.cves * newerShare)) return false;
    const fromBase = await this.#collect('records.bin', (cve) => changed.has(cve));
    const before = new Map<number, boolean>();
    const old = seenBy(merged(fromBase.values(), newer.values()), before);
    this.carryOn(['records.bin', 'shards.bin', 'shards.idx', 'fixes.json']);
    const shards = new ShardMaker(join(this.#folder, '..', 'newer-cores'));
    try {
      const ids: string[] = [];
      await this.#writeRecords(
        'newer-records.bin',
        groups(old, newRecords(spool, added)),
        shards,
        (record) => {
          ids.push(record.id);
          this.#recount(record, before.get(cveKey(record.id) ?? 0));
        },
      );
      const extra = new Map([[replacedKey, ids]]);
      const index = await this.#writeAsync('newer-shards.bin', (file) =>
        shards.write(file, extra, this.#breath),
      );
      this.#write('newer-shards.idx', (file) => file.write(index));
      const baseProducts = base.newer?.base_products ?? base.counts.products;
      this.newer = { cves: ids.length, base_products: baseProducts };
      this.counts.products = baseProducts + this.#countUnlisted(shards.products);
    } finally {
      shards.close();
    }
    return true;
  }

  /** @param wasRejected undefined = the CVE was not known */
  #recount({ rejected }: CveRecord, wasRejected: boolean | undefined): void {
    if (wasRejected === undefined) this.counts.cves++;
    this.counts.rejected += Number(rejected) - Number(wasRejected ?? false);
  }

  /** Products that have no shard in the large file. */
  #countUnlisted(products: ReadonlySet<string>): number {
    const bytes = readFileSync(join(this.#folder, 'shards.idx'));
    const [count, whole] = [bytes.length / indexEntryBytes, new Uint8Array(bytes).buffer];
    const highs = new Uint32Array(whole, count * 8, count);
    const lows = new Uint32Array(whole, count * 12, count);
    const listed = new Set(Array.from(highs, (high, at) => `${high} ${lows[at]}`));
    return [...products].filter((key) => !listed.has(shardHash(key).join(' '))).length;
  }

  async #writeRecords(
    name: GenerationFile,
    all: Iterable<Group>,
    shards: ShardMaker,
    tell: (record: CveRecord) => void,
  ): Promise<void> {
    await this.#writeAsync(name, async (file) => {
      let lines: string[] = [];
      let size = 0;
      let waiting: { record: CveRecord; line: number; lines: number }[] = [];
      const flush = () => {
        const block = file.writeBlock(lines.join('\n'));
        for (const { record, line, lines: count } of waiting) shards.add(record, block, line, count);
        [lines, size, waiting] = [[], 0, []];
      };
      for (const texts of all) {
        const record = mergeCveRecords(texts.map(decodeKept));
        tell(record);
        if (!record.rejected) waiting.push({ record, line: lines.length, lines: texts.length });
        for (const text of texts) {
          lines.push(text);
          size += text.length;
        }
        if (size >= recordBlockBytes) flush();
        if (this.#breath.isDue()) await this.#breath.take();
      }
      if (lines.length > 0) flush();
    });
  }

  /** What holds now: the large file, without what the newer one has. */
  *#oldRecords(newer: readonly Keyed[]): Generator<Keyed> {
    const replaced = new Set(newer.map(({ key }) => cveOf(key)));
    yield* merged(this.#baseLines(replaced), newer.values());
  }

  *#baseLines(replaced: ReadonlySet<number>): Generator<Keyed> {
    for (const text of this.#linesOf('records.bin')) {
      const line = keyed(text);
      if (!replaced.has(cveOf(line.key))) yield line;
    }
  }

  /** The lines of some CVEs; none where there is no such file. @param wanted whether a CVE is, by its key */
  async #collect(name: GenerationFile, wanted: (cve: number) => boolean): Promise<Keyed[]> {
    if (this.#base?.files[name] === undefined) return [];
    const found: Keyed[] = [];
    for (const text of this.#linesOf(name)) {
      if (wanted(cveKey(idOf(text)) ?? -1)) found.push(keyed(text));
      if (this.#breath.isDue()) await this.#breath.take();
    }
    return found;
  }

  *#linesOf(name: GenerationFile): Generator<string> {
    if (this.#baseFolder === null) return;
    const path = join(this.#baseFolder, name);
    const fd = openSync(path, 'r');
    try {
      const size = this.#base?.files[name]?.size ?? -1;
      if (sizeOf(path) !== size) throw damagedBlock(`${name} is cut off`);
      yield* recordLines(fd, size);
    } finally {
      closeSync(fd);
    }
  }

  /** Every package that comes anew replaces what was known of it. */
  #mergeFixes(added: Map<string, PackageFixes> | null): KeptFixes[] {
    const merged = new Map<string, KeptFixes>();
    for (const kept of this.#oldFixes()) {
      const [distribution, release, name] = kept;
      merged.set(packageKey({ distribution, release, package: name }), kept);
    }
    for (const { distribution, release, package: name, fixed } of added?.values() ?? []) {
      merged.set(packageKey({ distribution, release, package: name }), [
        distribution,
        release,
        name,
        Object.fromEntries(fixed),
      ]);
    }
    return [...merged.values()];
  }

  #oldFixes(): KeptFixes[] {
    if (this.#baseFolder === null) return [];
    try {
      return JSON.parse(readFileSync(join(this.#baseFolder, 'fixes.json'), 'utf8')) as KeptFixes[];
    } catch (error) {
      throw damagedBlock('fixes.json cannot be read', error);
    }
  }

  #countFixes(statements: KeptFixes[]): void {
    const releases = new Map<string, GenerationManifest['distributions'][number]>();
    this.counts.fixes = 0;
    for (const [distribution, release, , fixed] of statements) {
      const key = `${distribution} ${release}`;
      const entry = releases.get(key) ?? { distribution, release, statements: 0 };
      entry.statements += Object.keys(fixed).length;
      this.counts.fixes += Object.keys(fixed).length;
      releases.set(key, entry);
    }
    this.distributions = [...releases.values()];
  }

  #write(name: GenerationFile, fill: (file: FileWriter) => void): void {
    const file = new FileWriter(join(this.#folder, name));
    try {
      fill(file);
      this.files[name] = file.finish();
    } catch (error) {
      file.abandon();
      throw error;
    }
  }

  async #writeAsync<T>(name: GenerationFile, fill: (file: FileWriter) => Promise<T>): Promise<T> {
    const file = new FileWriter(join(this.#folder, name));
    try {
      const result = await fill(file);
      this.files[name] = file.finish();
      return result;
    } catch (error) {
      file.abandon();
      throw error;
    }
  }
}

type KeptFixes = [distribution: string, release: string, name: string, fixed: Record<string, string | null>];

/** Collects what is read by product: the cores in a file, the products in memory. */
class ShardMaker {
  readonly #fd: number;
  readonly #offsets: number[] = [];
  #size = 0;
  readonly #byProduct = new Map<string, number[]>();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'wx+', 0o600);
  }

  get products(): ReadonlySet<string> {
    return new Set(this.#byProduct.keys());
  }

  add(record: CveRecord, block: number, line: number, lines: number): void {
    const products = vulnerableProducts(record);
    if (products.size === 0) return;
    const packed = JSON.stringify(packConfigurations(record.configurations));
    const inline = products.size <= inlineProducts && packed.length <= inlineBytes;
    const { id, published, modified, cvss, cwe, source } = record;
    const core: PackedCore = [
      id,
      published,
      modified,
      packScores(cvss),
      cwe,
      source,
      block,
      line,
      lines,
      inline ? packed : 0,
    ];
    const ordinal = this.#offsets.length;
    const text = Buffer.from(JSON.stringify(core));
    this.#offsets.push(this.#size);
    this.#size += text.length;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    if (this.#waitingBytes >= spoolBytes) this.#flush();
    for (const key of products) {
      const list = this.#byProduct.get(key);
      if (list) list.push(ordinal);
      else this.#byProduct.set(key, [ordinal]);
    }
  }

  /** Writes one block for each product and each of some other lists. @returns the index */
  async write(
    file: FileWriter,
    others: Map<string, (PackedFix | string)[]>,
    breath: Breath,
  ): Promise<Uint8Array> {
    this.#flush();
    const entries: { high: number; low: number; offset: number }[] = [];
    const put = (key: string, content: string) => {
      const [high, low] = shardHash(key);
      entries.push({ high, low, offset: file.writeBlock(`[${JSON.stringify(key)},[${content}]]`) });
    };
    for (const [key, ordinals] of this.#byProduct) {
      put(key, ordinals.map((ordinal) => this.#core(ordinal)).join(','));
      if (breath.isDue()) await breath.take();
    }
    for (const [key, list] of others) {
      put(key, list.map((item) => JSON.stringify(item)).join(','));
      if (breath.isDue()) await breath.take();
    }
    return indexOf(entries.sort((a, b) => a.high - b.high || a.low - b.low));
  }

  close(): void {
    closeSync(this.#fd);
  }

  #core(ordinal: number): string {
    const start = this.#offsets[ordinal] as number;
    const end = this.#offsets[ordinal + 1] ?? this.#size;
    return readBlockBytes(this.#fd, start, end - start).toString();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
  }
}

function indexOf(entries: { high: number; low: number; offset: number }[]): Uint8Array {
  const bytes = new ArrayBuffer(entries.length * indexEntryBytes);
  const offsets = new Float64Array(bytes, 0, entries.length);
  const highs = new Uint32Array(bytes, entries.length * 8, entries.length);
  const lows = new Uint32Array(bytes, entries.length * 12, entries.length);
  for (const [at, { high, low, offset }] of entries.entries()) {
    offsets[at] = offset;
    highs[at] = high;
    lows[at] = low;
  }
  return new Uint8Array(bytes);
}

function groupFixes(statements: KeptFixes[]): Map<string, PackedFix[]> {
  const groups = new Map<string, PackedFix[]>();
  for (const [distribution, release, name, fixed] of statements) {
    for (const [cve, version] of Object.entries(fixed)) {
      const key = fixesKey(distribution, release, cve);
      const list = groups.get(key);
      if (list) list.push([cve, name, version]);
      else groups.set(key, [[cve, name, version]]);
    }
  }
  return groups;
}

/** One source's word on one CVE, as it is kept. */
interface Keyed {
  key: number;
  modified: number;
  text: string;
}

/** The id of a packed record, without reading the rest of it. */
function idOf(text: string): string {
  return /^\["(CVE-\d+-\d+)",/.exec(text)?.[1] ?? decodeKept(text).id;
}

function keyed(text: string): Keyed {
  const { id, source, modified } = decodeKept(text);
  return {
    key: (cveKey(id) ?? 0) * sourceLocations + sourceLocation(source),
    modified: Date.parse(modified),
    text,
  };
}

/** Notes of every CVE that goes by whether it was withdrawn. */
function* seenBy(lines: Iterable<Keyed>, notes: Map<number, boolean>): Generator<Keyed> {
  for (const line of lines) {
    const cve = cveOf(line.key);
    const { rejected, source } = decodeKept(line.text);
    notes.set(cve, (notes.get(cve) ?? false) || (rejected && source !== 'overrides'));
    yield line;
  }
}

/** The CVE of a key without the place of the source. */
function cveOf(key: number): number {
  return Math.floor(key / sourceLocations);
}

/** Everything on one CVE, in the order of the sources. */
type Group = string[];

/** The newest of each source that was added, in the order of the CVEs. */
function* newRecords(spool: number, added: Spooled[]): Generator<Keyed> {
  // The sort is stable: of those with equal dates the one that came last is the last.
  const sorted = added.toSorted((a, b) => a.key - b.key || a.modified - b.modified);
  for (const [at, { key, modified, offset, length }] of sorted.entries()) {
    if (sorted[at + 1]?.key === key) continue;
    yield { key, modified, text: readBlockBytes(spool, offset, length).toString() };
  }
}

function* groups(old: Iterator<Keyed>, added: Iterator<Keyed>): Generator<Group> {
  let group: Group = [];
  let cve = -1;
  for (const { key, text } of merged(old, added)) {
    const next = cveOf(key);
    if (next !== cve && group.length > 0) {
      yield group;
      group = [];
    }
    cve = next;
    group.push(text);
  }
  if (group.length > 0) yield group;
}

/** Both in one order; where both have an entry the new one holds, unless it is the older state. */
function* merged(old: Iterator<Keyed>, added: Iterator<Keyed>): Generator<Keyed> {
  let left = old.next();
  let right = added.next();
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.key < right.value.key)) {
      if (!left.done) yield left.value;
      left = old.next();
    } else {
      const both = !left.done && left.value.key === right.value.key ? left.value : null;
      yield both && both.modified > right.value.modified ? both : right.value;
      if (both) left = old.next();
      right = added.next();
    }
  }
}

function decodeKept(text: string): CveRecord {
  try {
    return decodeRecord(text);
  } catch (error) {
    throw damagedBlock('a record is not as it was written', error);
  }
}

/** Lets others have their turn. */
class Breath {
  #since = performance.now();
  readonly #signal: AbortSignal | null;

  constructor(signal: AbortSignal | null) {
    this.#signal = signal;
  }

  isDue(): boolean {
    return performance.now() - this.#since >= longestStretch;
  }

  /** @throws the reason of the signal once it is aborted */
  async take(): Promise<void> {
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }
}

function packageKey(fixes: Pick<PackageFixes, 'distribution' | 'release' | 'package'>): string {
  return `${fixes.distribution}\u0000${fixes.release}\u0000${fixes.package}`;
}

function generationName(now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${randomBytes(3).toString('hex')}`;
}

/** What crashes left, and generations that do not hold; whoever has the lock may remove them. */
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

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}
