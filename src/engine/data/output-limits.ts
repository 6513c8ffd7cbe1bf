import { formatByteSize } from '../../domain/text/byte-size.ts';

/** Maximum that plugins publish in the run of a scan (`plugins.limits.*`); bytes of JSON. */
export interface OutputLimits {
  node_items: number;
  node_bytes: number;
  scan_items: number;
  scan_bytes: number;
}

/** What the plugins of a scan have published together. */
export interface Published {
  items: number;
  bytes: number;
}

/** Drops what a node of a plugin publishes beyond its own limits or those of the scan. */
export class LimitedOutput {
  readonly #limits: OutputLimits;
  readonly #ofScan: Published;
  readonly #ofNode: Published = { items: 0, bytes: 0 };
  /** The limit that was reached first: from then on everything is dropped. */
  #reached: string | null = null;
  #dropped = 0;

  constructor(limits: OutputLimits, ofScan: Published) {
    this.#limits = limits;
    this.#ofScan = ofScan;
  }

  /** The items within the limits. */
  accept(items: readonly unknown[]): unknown[] {
    return items.filter((item) => this.#take(item));
  }

  /** What was dropped, and why; null = nothing. */
  get loss(): string | null {
    const { items, bytes } = this.#ofNode;
    if (this.#reached === null) return null;
    return `${this.#dropped} items beyond ${this.#reached} dropped, ${items} kept (${bytes} bytes)`;
  }

  #take(item: unknown): boolean {
    const bytes = this.#reached === null ? Buffer.byteLength(JSON.stringify(item) ?? '') : 0;
    this.#reached ??= this.#limitOf(bytes);
    if (this.#reached !== null) {
      this.#dropped += 1;
      return false;
    }
    for (const published of [this.#ofNode, this.#ofScan]) {
      published.items += 1;
      published.bytes += bytes;
    }
    return true;
  }

  /** The limit that an item of this size would exceed. */
  #limitOf(bytes: number): string | null {
    const limits = this.#limits;
    const node = this.#ofNode;
    const scan = this.#ofScan;
    if (node.items >= limits.node_items) return named('node_items', `${limits.node_items}`);
    if (node.bytes + bytes > limits.node_bytes) return named('node_bytes', formatByteSize(limits.node_bytes));
    if (scan.items >= limits.scan_items) return named('scan_items', `${limits.scan_items}`);
    if (scan.bytes + bytes > limits.scan_bytes) return named('scan_bytes', formatByteSize(limits.scan_bytes));
    return null;
  }
}

function named(limit: keyof OutputLimits, value: string): string {
  return `plugins.limits.${limit} (${value})`;
}
