import { batchItems, batchMs, type PulledItems } from '../host/messages.ts';

/** Items of a stream, in batches for a plugin host. Reads at most one batch ahead, and nothing before the first request. */
export class ItemBatches {
  readonly #stream: AsyncIterable<unknown>;
  #items: unknown[] = [];
  /** When the oldest item arrived. */
  #oldestAt = 0;
  #begun = false;
  #ended = false;
  #error: unknown = null;
  #onChange: (() => void) | null = null;
  #onRoom: (() => void) | null = null;

  constructor(stream: AsyncIterable<unknown>) {
    this.#stream = stream;
  }

  /** One call at a time. @throws what the stream throws, after its last item */
  async next(): Promise<PulledItems> {
    if (!this.#begun) {
      this.#begun = true;
      void this.#read();
    }
    while (this.#items.length === 0 && !this.#ended) await this.#changed();
    const leftMs = batchMs - (performance.now() - this.#oldestAt);
    if (!this.#isFull && leftMs > 0) await this.#filled(leftMs);
    const items = this.#items;
    this.#items = [];
    this.#onRoom?.();
    if (items.length === 0 && this.#error !== null) throw this.#error;
    return { items, end: this.#ended && this.#error === null };
  }

  get #isFull(): boolean {
    return this.#ended || this.#items.length >= batchItems;
  }

  async #read(): Promise<void> {
    try {
      for await (const item of this.#stream) {
        if (this.#items.length === 0) this.#oldestAt = performance.now();
        this.#items.push(item);
        if (this.#items.length === 1 || this.#isFull) this.#onChange?.();
        while (this.#items.length >= batchItems) await this.#room();
      }
    } catch (error) {
      this.#error = error;
    }
    this.#ended = true;
    this.#onChange?.();
  }

  async #filled(ms: number): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#onChange?.();
    }, ms);
    while (!this.#isFull && !isLate) await this.#changed();
    clearTimeout(timer);
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }
}

/** A complete value, in batches. */
export function valueBatches(value: unknown): { next(): Promise<PulledItems> } {
  let at = 0;
  return {
    next: async () => {
      if (!Array.isArray(value)) return { items: [value], end: true, single: true };
      const items = value.slice(at, at + batchItems) as unknown[];
      at += items.length;
      return { items, end: at >= value.length };
    },
  };
}
