import type { CveRecord } from '../cve-record.ts';
import { SpoolFile } from '../import/spool-file.ts';
import { vulnerableProducts } from '../product-key.ts';
import { type FileWriter } from './block-file.ts';
import type { EventLoopYield } from './event-loop-yield.ts';
import { indexEntryBytes, type PackedCore, type PackedFix, shardHash } from './generation-format.ts';
import { packConfigurations, packScores } from './record-code.ts';

/** Maximum size of configurations that are read with their product, bytes; longer ones are read with their record. */
const inlineBytes = 4096;

/** Maximum number of products of a record whose configurations are repeated in each shard. */
const inlineProducts = 32;

/** Collects the records of each product: their cores in a file, the products in memory. */
export class ProductShards {
  readonly #cores: SpoolFile;
  readonly #offsets: number[] = [];
  readonly #byProduct = new Map<string, number[]>();

  constructor(path: string) {
    this.#cores = new SpoolFile(path);
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
    this.#offsets.push(this.#cores.append(JSON.stringify(core)).offset);
    for (const key of products) {
      const list = this.#byProduct.get(key);
      if (list) list.push(ordinal);
      else this.#byProduct.set(key, [ordinal]);
    }
  }

  /** Writes one block for each product and each of some other lists. @returns the index of their keys */
  async write(
    file: FileWriter,
    others: Map<string, (PackedFix | string)[]>,
    turns: EventLoopYield,
  ): Promise<Uint8Array> {
    const entries: { high: number; low: number; offset: number }[] = [];
    const put = (key: string, content: string) => {
      const [high, low] = shardHash(key);
      entries.push({ high, low, offset: file.writeBlock(`[${JSON.stringify(key)},[${content}]]`) });
    };
    for (const [key, ordinals] of this.#byProduct) {
      put(key, ordinals.map((ordinal) => this.#core(ordinal)).join(','));
      if (turns.isDue()) await turns.yield();
    }
    for (const [key, list] of others) {
      put(key, list.map((item) => JSON.stringify(item)).join(','));
      if (turns.isDue()) await turns.yield();
    }
    return indexOf(entries.sort((a, b) => a.high - b.high || a.low - b.low));
  }

  close(): void {
    this.#cores.close();
  }

  #core(ordinal: number): string {
    const start = this.#offsets[ordinal] as number;
    const end = this.#offsets[ordinal + 1] ?? this.#cores.size;
    return this.#cores.read(start, end - start);
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
