import type { ItemTexts } from './exchange.ts';
import { addressOf } from './foreign.ts';
import type { ThreadCalls } from './thread-calls.ts';

/** A text in memory that C may read. */
export interface TextPointer {
  address: number;
  length: number;
}

export type ReadOutcome = TextPointer | 'no key' | 'canceled' | 'end' | 'failed';

/** Texts that the plugin is handed, kept until it has released them all. */
interface Block {
  /** Referenced here, or its memory would be freed. */
  bytes: ArrayBuffer;
  from: number;
  to: number;
  /** Texts that are not released. */
  left: number;
}

interface Stream {
  block: Block | null;
  lengths: number[];
  /** Of the next text in the block. */
  index: number;
  offset: number;
  /** Number of the call for the texts after this block, or null. */
  call: number | null;
  end: boolean;
}

/** What a node reads: items in batches, the next of which is already on its way, or a complete value. */
export class ItemReader {
  readonly #calls: ThreadCalls;
  readonly #beforeWait: () => void;
  readonly #streams = new Map<string, Stream>();
  readonly #values = new Map<string, TextPointer>();
  /** Newest last. */
  readonly #blocks: Block[] = [];

  /** @param beforeWait called before the thread blocks */
  constructor(calls: ThreadCalls, beforeWait: () => void) {
    this.#calls = calls;
    this.#beforeWait = beforeWait;
  }

  next(key: string): ReadOutcome {
    let stream = this.#streams.get(key);
    if (!stream) {
      stream = {
        block: null,
        lengths: [],
        index: 0,
        offset: 0,
        call: this.#calls.send({ op: 'next', key }),
        end: false,
      };
      this.#streams.set(key, stream);
    }
    while (stream.index >= stream.lengths.length) {
      if (stream.end) return 'end';
      const items = this.#receive(stream.call as number);
      if (typeof items === 'string') {
        if (items === 'no key') this.#streams.delete(key);
        return items;
      }
      this.#advance(stream, key, items);
    }
    return this.#take(stream);
  }

  get(key: string): ReadOutcome {
    const known = this.#values.get(key);
    if (known) return known;
    const items = this.#receive(this.#calls.send({ op: 'get', key }));
    if (typeof items === 'string') return items;
    // Kept until the node ends: the key cannot be read again.
    const block = this.#add(items, Number.POSITIVE_INFINITY);
    const value = { address: block.from, length: items.lengths[0] ?? 0 };
    this.#values.set(key, value);
    return value;
  }

  release(address: number): void {
    const index = this.#blocks.findLastIndex(({ from, to }) => address >= from && address < to);
    const block = this.#blocks[index];
    if (!block) return;
    block.left -= 1;
    if (block.left === 0) this.#blocks.splice(index, 1);
  }

  #receive(call: number): ItemTexts | 'no key' | 'canceled' | 'failed' {
    let reply = this.#calls.poll(call);
    if (!reply) {
      this.#beforeWait();
      reply = this.#calls.wait(call);
    }
    if (!reply) return 'canceled';
    if (reply.missing) return 'no key';
    return reply.items ?? 'failed';
  }

  #advance(stream: Stream, key: string, items: ItemTexts): void {
    stream.block = this.#add(items, items.lengths.length);
    stream.lengths = items.lengths;
    stream.index = 0;
    stream.offset = 0;
    stream.end = items.end;
    stream.call = items.end ? null : this.#calls.send({ op: 'next', key });
  }

  #take(stream: Stream): TextPointer {
    const length = stream.lengths[stream.index] as number;
    const address = (stream.block as Block).from + stream.offset;
    stream.index += 1;
    stream.offset += length + 1;
    return { address, length };
  }

  #add({ bytes }: ItemTexts, left: number): Block {
    const from = Number(addressOf(bytes));
    const block = { bytes, from, to: from + bytes.byteLength, left };
    if (left > 0) this.#blocks.push(block);
    return block;
  }
}
