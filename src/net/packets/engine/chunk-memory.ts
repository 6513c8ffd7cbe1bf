/**
 * Memory of chunks, shared by threads and used again by later chunks: a thread that sends allocates so little that V8
 * hardly ever collects there, and until then the memory of every chunk it had would stay.
 */
export class ChunkMemory {
  readonly #free: SharedArrayBuffer[] = [];

  /** @returns memory of zeros, of at least so many bytes */
  take(bytes: number): SharedArrayBuffer {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    const [memory] = at < 0 ? [] : this.#free.splice(at, 1);
    if (!memory) {
      // The sizes of a sweep are alike: what is too small now stays so.
      this.#free.length = 0;
      return new SharedArrayBuffer(bytes);
    }
    new Uint8Array(memory).fill(0);
    return memory;
  }

  /** Only once no thread writes there any more. */
  giveBack(memory: SharedArrayBuffer): void {
    this.#free.push(memory);
  }
}
