import { closeSync, copyFileSync, linkSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cveKey } from '../cve-key.ts';
import type { CveRecord } from '../cve-record.ts';
import type { EpssScore } from '../import/import-epss.ts';
import type { PackageFixes } from '../import/import-fixes.ts';
import type { KevEntry } from '../import/import-kev.ts';
import { mergeCveRecords } from '../import/merge-records.ts';
import type { SpoolFile } from '../import/spool-file.ts';
import { damagedBlock, FileWriter } from './block-file.ts';
import type { EventLoopYield } from './event-loop-yield.ts';
import { epssEntryBytes, epssUnit, indexEntryBytes, replacedKey, shardHash } from './generation-format.ts';
import { type GenerationFile, type GenerationManifest, newerFiles } from './manifest.ts';
import { ProductShards } from './product-shards.ts';
import {
  addedLines,
  cveOf,
  cveOfText,
  decodeStored,
  linesByCve,
  mergedLines,
  notingRejected,
  type RecordLine,
  readRecordLines,
  recordLine,
  type SpooledRecord,
} from './record-lines.ts';
import { countFixes, groupFixes, mergeFixes, readFixes } from './stored-fixes.ts';

/** Maximum number of CVEs in the newer files; above it all files are rebuilt. */
const maxNewerCves = 20_000;

/** Maximum share of the newer files among all CVEs. */
const newerShare = 1 / 8;

/** A block of records is complete above this size, characters. */
const recordBlockBytes = 64 * 1024;

/** Writes the files of one generation. */
export class GenerationBuild {
  readonly #folder: string;
  readonly #base: GenerationManifest | null;
  readonly #baseFolder: string | null;
  readonly files: GenerationManifest['files'] = {};
  readonly counts: GenerationManifest['counts'];
  distributions: GenerationManifest['distributions'];
  newer: GenerationManifest['newer'];
  readonly #turns: EventLoopYield;

  constructor(
    folder: string,
    base: GenerationManifest | null,
    baseFolder: string | null,
    turns: EventLoopYield,
  ) {
    this.#folder = folder;
    this.#turns = turns;
    this.#base = base;
    this.#baseFolder = baseFolder;
    const none = { cves: 0, rejected: 0, products: 0, kev: 0, epss: 0, fixes: 0 };
    this.counts = base ? { ...base.counts } : none;
    this.distributions = base?.distributions ?? [];
  }

  /** Links or copies unchanged files of the base. */
  carryOn(names: GenerationFile[]): void {
    for (const name of names) {
      const [from, to] = [join(this.#baseFolder ?? '', name), join(this.#folder, name)];
      const known = this.#base?.files[name];
      if (known === undefined || sizeOf(from) !== known.size)
        throw damagedBlock(`${name} is missing or truncated`);
      try {
        linkSync(from, to);
      } catch {
        // Not every file system supports hard links.
        copyFileSync(from, to);
      }
      this.files[name] = known;
    }
  }

  /** Copies unchanged records and statements of distributions. */
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

  async kev(entries: readonly KevEntry[]): Promise<void> {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const packed = [...byId.values()].map(({ id, added, ransomware }) => [id, added, ransomware ? 1 : 0]);
    this.counts.kev = packed.length;
    await this.#write('kev.json', (file) => file.write(Buffer.from(JSON.stringify(packed))));
  }

  async epss(scores: readonly EpssScore[]): Promise<void> {
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
    await this.#write('epss.bin', (file) => file.write(new Uint8Array(bytes)));
  }

  /** Writes all records in the order of their CVEs, then the shards of their products. */
  async records(
    spool: SpoolFile,
    added: SpooledRecord[],
    fixes: Map<string, PackageFixes> | null,
  ): Promise<void> {
    const shards = new ProductShards(join(this.#folder, '..', 'cores'));
    try {
      this.counts.cves = 0;
      this.counts.rejected = 0;
      const newer = await this.#collect('newer-records.bin', () => true);
      const all = linesByCve(this.#oldRecords(newer), addedLines(spool, added));
      await this.#writeRecords('records.bin', all, shards, ({ rejected }) => {
        this.counts.cves++;
        if (rejected) this.counts.rejected++;
      });
      const old = this.#baseFolder === null ? [] : readFixes(this.#baseFolder);
      const statements = mergeFixes(old, fixes);
      await this.#write('fixes.json', (file) => file.write(Buffer.from(JSON.stringify(statements))));
      const index = await this.#write('shards.bin', (file) =>
        shards.write(file, groupFixes(statements), this.#turns),
      );
      await this.#write('shards.idx', (file) => file.write(index));
      this.counts.products = shards.products.size;
      this.distributions = countFixes(statements);
      this.counts.fixes = this.distributions.reduce((sum, release) => sum + release.statements, 0);
    } finally {
      shards.close();
    }
  }

  /**
   * Keeps the base's records and writes the changed ones into the newer files, with those already there.
   *
   * @returns false, with nothing done, when the newer files would become too large
   */
  async newerRecords(spool: SpoolFile, added: SpooledRecord[]): Promise<boolean> {
    const base = this.#base;
    if (base === null) return false;
    const changed = new Set(added.map(({ key }) => cveOf(key)));
    const newer = await this.#collect('newer-records.bin', () => true);
    // The newer files already replace these CVEs in the large file.
    for (const { key } of newer) changed.delete(cveOf(key));
    const count = changed.size + (base.newer?.cves ?? 0);
    if (count > Math.min(maxNewerCves, base.counts.cves * newerShare)) return false;
    const fromBase = await this.#collect('records.bin', (cve) => changed.has(cve));
    const before = new Map<number, boolean>();
    const old = notingRejected(mergedLines(fromBase.values(), newer.values()), before);
    this.carryOn(['records.bin', 'shards.bin', 'shards.idx', 'fixes.json']);
    const shards = new ProductShards(join(this.#folder, '..', 'newer-cores'));
    try {
      const ids: string[] = [];
      await this.#writeRecords(
        'newer-records.bin',
        linesByCve(old, addedLines(spool, added)),
        shards,
        (record) => {
          ids.push(record.id);
          this.#recount(record, before.get(cveKey(record.id) ?? 0));
        },
      );
      const extra = new Map([[replacedKey, ids]]);
      const index = await this.#write('newer-shards.bin', (file) => shards.write(file, extra, this.#turns));
      await this.#write('newer-shards.idx', (file) => file.write(index));
      const baseProducts = base.newer?.base_products ?? base.counts.products;
      this.newer = { cves: ids.length, base_products: baseProducts };
      this.counts.products = baseProducts + this.#countUnlisted(shards.products);
    } finally {
      shards.close();
    }
    return true;
  }

  /** @param wasRejected undefined = a new CVE */
  #recount({ rejected }: CveRecord, wasRejected: boolean | undefined): void {
    if (wasRejected === undefined) this.counts.cves++;
    this.counts.rejected += Number(rejected) - Number(wasRejected ?? false);
  }

  /** Products without a shard in the large file. */
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
    all: Iterable<string[]>,
    shards: ProductShards,
    onRecord: (record: CveRecord) => void,
  ): Promise<void> {
    await this.#write(name, async (file) => {
      let lines: string[] = [];
      let size = 0;
      let pending: { record: CveRecord; line: number; lines: number }[] = [];
      const flush = () => {
        const block = file.writeBlock(lines.join('\n'));
        for (const { record, line, lines: count } of pending) shards.add(record, block, line, count);
        [lines, size, pending] = [[], 0, []];
      };
      for (const texts of all) {
        const record = mergeCveRecords(texts.map(decodeStored));
        onRecord(record);
        if (!record.rejected) pending.push({ record, line: lines.length, lines: texts.length });
        for (const text of texts) {
          lines.push(text);
          size += text.length;
        }
        if (size >= recordBlockBytes) flush();
        if (this.#turns.isDue()) await this.#turns.yield();
      }
      if (lines.length > 0) flush();
    });
  }

  /** The current records: those of the large file that the newer one does not replace, and those of the newer one. */
  *#oldRecords(newer: readonly RecordLine[]): Generator<RecordLine> {
    const replaced = new Set(newer.map(({ key }) => cveOf(key)));
    yield* mergedLines(this.#baseLines(replaced), newer.values());
  }

  *#baseLines(replaced: ReadonlySet<number>): Generator<RecordLine> {
    for (const text of this.#linesOf('records.bin')) {
      const line = recordLine(text);
      if (!replaced.has(cveOf(line.key))) yield line;
    }
  }

  /** The lines of the wanted CVEs; empty when the base has no such file. @param wanted takes the `cveKey` of a CVE */
  async #collect(name: GenerationFile, wanted: (cve: number) => boolean): Promise<RecordLine[]> {
    if (this.#base?.files[name] === undefined) return [];
    const found: RecordLine[] = [];
    for (const text of this.#linesOf(name)) {
      if (wanted(cveKey(cveOfText(text)) ?? -1)) found.push(recordLine(text));
      if (this.#turns.isDue()) await this.#turns.yield();
    }
    return found;
  }

  *#linesOf(name: GenerationFile): Generator<string> {
    if (this.#baseFolder === null) return;
    const path = join(this.#baseFolder, name);
    const fd = openSync(path, 'r');
    try {
      const size = this.#base?.files[name]?.size ?? -1;
      if (sizeOf(path) !== size) throw damagedBlock(`${name} is truncated`);
      yield* readRecordLines(fd, size);
    } finally {
      closeSync(fd);
    }
  }

  async #write<T>(name: GenerationFile, fill: (file: FileWriter) => T | Promise<T>): Promise<T> {
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

/** -1 for a missing file. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}
