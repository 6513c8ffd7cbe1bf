import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { cveKey } from '../cve-key.ts';
import type { CveRank, CveRecord, CveSource, DistroFix } from '../cve-record.ts';
import { mergeCveRecords } from '../import/merge-records.ts';
import { vulndbProductKey } from '../product-key.ts';
import { damagedBlock, type RecordBlock, readBlockBytes, readRecordBlock } from './block-file.ts';
import {
  epssEntryBytes,
  epssUnit,
  fixesKey,
  indexEntryBytes,
  type PackedCore,
  type PackedFix,
  replacedKey,
  shaped,
  shardHash,
} from './generation-format.ts';
import { manifestOf, openCurrent } from './generation-pointer.ts';
import {
  type GenerationFile,
  type GenerationManifest,
  generationFiles,
  lacksOf,
  newerFiles,
} from './manifest.ts';
import { decodeRecord, unpackScores } from './record-code.ts';
import { StoredRecord } from './stored-record.ts';

/** Maximum size of cached unpacked shards, bytes; the last one requested stays in any case. */
const maxKeptShardBytes = 8 * 1024 * 1024;

/** Maximum number of cached blocks of whole records. */
const maxKeptBlocks = 8;

/** Imported vulnerability data as of its opening; a newer import does not change it. */
export interface Vulndb extends CveSource {
  readonly manifest: GenerationManifest;
  close(): void;
}

/**
 * Opens the current data.
 * @returns null when nothing was imported into this folder
 * @throws PortolanError `conflict` when the data is damaged
 */
export async function openVulndb(dir: string): Promise<Vulndb | null> {
  return openCurrent(dir, (folder, generation) => new Generation(folder, generation));
}

/** An unpacked value and its size. */
interface Kept<T> {
  value: T;
  size: number;
}

/** Offsets of the shards of some records, by the hashes of their keys. */
interface ShardIndex {
  high: Uint32Array;
  low: Uint32Array;
  offsets: Float64Array;
}

/** Records with their shards: those of the last full import, or the later changes. */
interface Layer {
  records: GenerationFile;
  shards: GenerationFile;
  index: ShardIndex;
}

class Generation implements Vulndb {
  readonly manifest: GenerationManifest;
  readonly #files = new Map<GenerationFile, number>();
  readonly #base: Layer;
  readonly #newer: { layer: Layer; replaced: Set<string> } | null;
  readonly #shards = new Map<string, Kept<unknown>>();
  #shardBytes = 0;
  readonly #blocks = new Map<string, string[]>();
  #kev: Map<string, CveRank['kev']> | null = null;
  #epss: { keys: Float64Array; values: Uint32Array } | null = null;
  readonly #releases: Set<string>;

  constructor(folder: string, generation: string) {
    this.manifest = manifestOf(folder, generation);
    try {
      for (const name of [...generationFiles, ...(this.manifest.newer ? newerFiles : [])]) {
        this.#files.set(name, openSync(join(folder, name), 'r'));
        const { size } = fstatSync(this.#fd(name));
        if (size !== this.#size(name)) throw damagedBlock(`the length of ${name} differs from its manifest`);
      }
      this.#base = {
        records: 'records.bin',
        shards: 'shards.bin',
        index: this.#readIndex('shards.idx'),
      };
      this.#newer = this.manifest.newer ? this.#readNewer() : null;
    } catch (error) {
      this.close();
      throw error;
    }
    this.#releases = new Set(
      this.manifest.distributions.map(({ distribution, release }) => `${distribution}\u0000${release}`),
    );
  }

  get version(): string {
    return this.manifest.generation;
  }

  get lacks(): string | null {
    return lacksOf(this.manifest.counts);
  }

  close(): void {
    for (const fd of this.#files.values()) closeSync(fd);
    this.#files.clear();
  }

  lookup(vendor: string, product: string): CveRecord[] {
    const key = vulndbProductKey(vendor, product);
    return [...this.#kept(key, () => this.#readProduct(key))];
  }

  /** The newer files take precedence per CVE; the records of both are merged in one order. */
  #readProduct(key: string): Kept<CveRecord[]> {
    const base = this.#recordsOf(this.#base, key);
    if (this.#newer === null) return base;
    const { layer, replaced } = this.#newer;
    const newer = this.#recordsOf(layer, key);
    const records = [...base.value.filter(({ id }) => !replaced.has(id)), ...newer.value];
    return {
      value: records.sort((a, b) => cveOrder(a) - cveOrder(b)),
      size: base.size + newer.size,
    };
  }

  #recordsOf(layer: Layer, key: string): Kept<CveRecord[]> {
    const found = this.#readShard(layer, key);
    if (found === null) return { value: [], size: 0 };
    const value = shaped(() => (found.content as PackedCore[]).map((core) => this.#lazyRecord(layer, core)));
    return { value, size: found.size };
  }

  rank(id: string): CveRank {
    return { kev: this.#kevEntries().get(id) ?? null, epss: this.#epssOf(id) };
  }

  fixes(distribution: string, release: string, cve: string): DistroFix[] {
    if (!this.knowsDistribution(distribution, release)) return [];
    const key = fixesKey(distribution, release, cve);
    const byCve = this.#kept(key, () => {
      const { content, size } = this.#readShard(this.#base, key) ?? { content: [], size: 0 };
      return { value: shaped(() => Map.groupBy(content as PackedFix[], ([id]) => id)), size };
    });
    return (byCve.get(cve) ?? []).map(([, name, fixed]) => ({
      distribution,
      release,
      package: name,
      cve,
      fixed,
    }));
  }

  knowsDistribution(distribution: string, release: string): boolean {
    return this.#releases.has(`${distribution}\u0000${release}`);
  }

  #fd(name: GenerationFile): number {
    const fd = this.#files.get(name);
    if (fd === undefined) throw new Error('the vulnerability data is closed');
    return fd;
  }

  #size(name: GenerationFile): number {
    return this.manifest.files[name]?.size ?? -1;
  }

  /**
   * Reads a small file completely.
   *
   * @throws PortolanError `conflict` when it does not match the manifest
   */
  #readWhole(name: GenerationFile): Buffer {
    const bytes = readBlockBytes(this.#fd(name), 0, this.#size(name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== this.manifest.files[name]?.sha256) throw damagedBlock(`${name} differs from its manifest`);
    return bytes;
  }

  #readNewer(): { layer: Layer; replaced: Set<string> } {
    const index = this.#readIndex('newer-shards.idx');
    const layer: Layer = { records: 'newer-records.bin', shards: 'newer-shards.bin', index };
    const found = this.#readShard(layer, replacedKey);
    if (found === null) throw damagedBlock('the newer records do not state what they replace');
    return { layer, replaced: new Set(found.content as string[]) };
  }

  #readIndex(name: GenerationFile): ShardIndex {
    const bytes = this.#readWhole(name);
    if (bytes.length % indexEntryBytes !== 0) throw damagedBlock(`${name} has an incomplete entry`);
    const count = bytes.length / indexEntryBytes;
    const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    return {
      offsets: new Float64Array(whole, 0, count),
      high: new Uint32Array(whole, count * 8, count),
      low: new Uint32Array(whole, count * 12, count),
    };
  }

  /** The value of a key, read once and then cached; missing values are not cached. */
  #kept<T>(key: string, read: () => Kept<T>): T {
    const known = this.#shards.get(key);
    if (known) {
      // Evict the least recently used one first.
      this.#shards.delete(key);
      this.#shards.set(key, known);
      return known.value as T;
    }
    const found = read();
    if (found.size > 0) this.#keepShard(key, found);
    return found.value;
  }

  #keepShard(key: string, kept: Kept<unknown>): void {
    this.#shards.set(key, kept);
    this.#shardBytes += kept.size;
    for (const [oldest, { size }] of this.#shards) {
      if (this.#shardBytes <= maxKeptShardBytes || oldest === key) break;
      this.#shards.delete(oldest);
      this.#shardBytes -= size;
    }
  }

  #readShard({ shards, index }: Layer, key: string): { content: unknown[]; size: number } | null {
    const [high, low] = shardHash(key);
    for (let at = firstWith(index, high, low); index.high[at] === high && index.low[at] === low; at++) {
      const block = readRecordBlock(this.#fd(shards), index.offsets[at] as number, this.#size(shards));
      const [named, content] = parsed(block) as [unknown, unknown];
      if (named !== key) continue;
      if (!Array.isArray(content)) throw damagedBlock('a shard has no list');
      return { content, size: block.size };
    }
    return null;
  }

  #lazyRecord(layer: Layer, core: PackedCore): CveRecord {
    const [id, published, modified, cvss, cwe, source, block, line, lines, configurations] = core;
    if (typeof id !== 'string' || typeof modified !== 'string') throw new TypeError('expected text');
    const whole = () => this.#wholeRecord(layer, id, block, line, lines);
    return new StoredRecord(id, published, modified, unpackScores(cvss), cwe, source, configurations, whole);
  }

  #wholeRecord(layer: Layer, id: string, offset: number, line: number, lines: number): CveRecord {
    const texts = this.#recordBlock(layer, offset).slice(line, line + lines);
    const record = shaped(() => mergeCveRecords(texts.map(decodeRecord)));
    if (record.id !== id) throw damagedBlock('a shard points to another record');
    return record;
  }

  #recordBlock({ records }: Layer, offset: number): string[] {
    const key = `${records} ${offset}`;
    const kept = this.#blocks.get(key);
    if (kept) return kept;
    const { text } = readRecordBlock(this.#fd(records), offset, this.#size(records));
    const lines = text.split('\n');
    this.#blocks.set(key, lines);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > maxKeptBlocks && oldest !== undefined) this.#blocks.delete(oldest);
    return lines;
  }

  #kevEntries(): Map<string, CveRank['kev']> {
    this.#kev ??= shaped(() => {
      const entries = JSON.parse(this.#readWhole('kev.json').toString()) as [string, string, 0 | 1][];
      return new Map(entries.map(([id, added, ransomware]) => [id, { added, ransomware: ransomware === 1 }]));
    });
    return this.#kev;
  }

  #epssOf(id: string): CveRank['epss'] {
    const key = cveKey(id);
    if (key === null) return null;
    this.#epss ??= this.#readEpss();
    const { keys, values } = this.#epss;
    const at = firstAtLeast(keys.length, (index) => (keys[index] as number) >= key);
    if (keys[at] !== key) return null;
    const value = (place: number) => roundUnit((values[place] as number) * epssUnit);
    return { score: value(at * 2), percentile: value(at * 2 + 1) };
  }

  #readEpss(): { keys: Float64Array; values: Uint32Array } {
    const bytes = this.#readWhole('epss.bin');
    if (bytes.length % epssEntryBytes !== 0) throw damagedBlock('epss.bin has an incomplete entry');
    const count = bytes.length / epssEntryBytes;
    const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    return { keys: new Float64Array(whole, 0, count), values: new Uint32Array(whole, count * 8, count * 2) };
  }
}

/** First entry of an index that is not below a hash. */
function firstWith({ high: highs, low: lows }: ShardIndex, high: number, low: number): number {
  return firstAtLeast(highs.length, (at) => {
    const there = highs[at] as number;
    return there > high || (there === high && (lows[at] as number) >= low);
  });
}

function cveOrder({ id }: CveRecord): number {
  return cveKey(id) ?? 0;
}

/** Smallest number below `count` from which on a monotonic condition holds; else `count`. */
function firstAtLeast(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function roundUnit(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function parsed({ text }: RecordBlock): unknown {
  return shaped(() => {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) throw new TypeError('expected a list');
    return value;
  });
}
