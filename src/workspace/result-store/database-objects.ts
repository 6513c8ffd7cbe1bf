import type { ResultObjectTable } from '../../store/result-objects.ts';
import type { NamedContent, ObjectContent, ObjectStore } from './object-store.ts';
import { storeAway } from './object-store.ts';

/** Size of a part, bytes. */
const partBytes = 1024 * 1024;

export type ObjectTable = Pick<ResultObjectTable, 'put' | 'putWhole' | 'part' | 'remove'>;

/** Objects in the database that servers share, which needs nothing besides. */
export class DatabaseObjects implements ObjectStore {
  readonly maxAtOnce = partBytes - 1;
  readonly #objects: ObjectTable;

  constructor(objects: ObjectTable) {
    this.#objects = objects;
  }

  /** The first part comes last: readers see the object once all of it is there. */
  async put(name: string, content: ObjectContent, signal?: AbortSignal): Promise<void> {
    const parts = Math.max(1, Math.ceil(content.size / partBytes));
    let first: Buffer = Buffer.of();
    let part = 0;
    for await (const bytes of partsOf(content.bytes())) {
      signal?.throwIfAborted();
      if (part === 0) first = bytes;
      else await this.#objects.put(name, part, parts, bytes);
      part += 1;
    }
    await this.#objects.put(name, 0, parts, first);
  }

  /** In one statement. */
  async putAll(objects: readonly NamedContent[], signal?: AbortSignal): Promise<void> {
    const whole = [];
    for (const { name, content } of objects) {
      const [bytes = Buffer.of()] = await Array.fromAsync(partsOf(content.bytes()));
      whole.push({ name, bytes });
    }
    signal?.throwIfAborted();
    await this.#objects.putWhole(whole);
  }

  async read(name: string, _size: number, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    const first = await this.#objects.part(name, 0);
    return first && this.#bytesFrom(name, first, signal);
  }

  async *#bytesFrom(
    name: string,
    { parts, bytes }: { parts: number; bytes: Buffer },
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    yield bytes;
    for (let part = 1; part < parts; part++) {
      signal?.throwIfAborted();
      const next = await this.#objects.part(name, part);
      if (next === null) throw storeAway(`lacks a part of ${name}`);
      yield next.bytes;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#objects.remove(name);
  }
}

async function* partsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (let piece of pieces) {
    while (size + piece.length >= partBytes) {
      const rest = partBytes - size;
      yield Buffer.concat([...waiting, piece.subarray(0, rest)]);
      piece = piece.subarray(rest);
      waiting = [];
      size = 0;
    }
    // The source may use its memory again.
    waiting.push(Buffer.from(piece));
    size += piece.length;
  }
  if (size > 0) yield Buffer.concat(waiting);
}
