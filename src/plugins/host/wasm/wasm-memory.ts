/** What a module did wrong in a call of the host; fails its node. */
export class WasmFault extends Error {}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
const pageBytes = 65_536;

/** The linear memory of a module. Pointers and lengths come from the module: every access checks them. */
export class WasmMemory {
  readonly #memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /**
   * A view that is valid until the module runs again.
   * @param most bytes that the caller accepts
   * @throws WasmFault
   */
  bytes(pointer: unknown, length: unknown, what: string, most = Number.POSITIVE_INFINITY): Uint8Array {
    const from = unsigned(pointer);
    const count = unsigned(length);
    const { buffer } = this.#memory;
    if (from + count > buffer.byteLength) {
      throw new WasmFault(
        `${what}: ${count} bytes at ${from} are outside the memory of ${buffer.byteLength} bytes`,
      );
    }
    if (count > most) throw new WasmFault(`${what}: ${count} bytes, above the limit of ${most}`);
    return new Uint8Array(buffer, from, count);
  }

  /** @throws WasmFault if the text is not in the memory or no UTF-8 */
  text(pointer: unknown, length: unknown, what: string, most: number): string {
    const bytes = this.bytes(pointer, length, what, most);
    try {
      return strict.decode(bytes);
    } catch {
      throw new WasmFault(`${what} is not UTF-8`);
    }
  }

  /** Text for people: longer text is cut, bytes that are no UTF-8 become U+FFFD. @throws WasmFault if not in the memory */
  message(pointer: unknown, length: unknown, what: string, most: number): string {
    return lenient.decode(this.bytes(pointer, length, what).subarray(0, most));
  }

  /** JSON after its length (u32, little-endian). @throws WasmFault */
  block(pointer: unknown, what: string, most: number): string {
    const head = this.bytes(pointer, 4, what);
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
    return this.text(unsigned(pointer) + 4, length, what, most);
  }

  /** @throws WasmFault */
  setU32(pointer: unknown, value: number, what: string): void {
    const { buffer, byteOffset } = this.bytes(pointer, 4, what);
    new DataView(buffer, byteOffset).setUint32(0, value, true);
  }

  /** @throws WasmFault */
  setU64(pointer: unknown, value: bigint, what: string): void {
    const { buffer, byteOffset } = this.bytes(pointer, 8, what);
    new DataView(buffer, byteOffset).setBigUint64(0, value, true);
  }

  /**
   * Writes a block.
   * @param alloc the module's own allocator; without it the memory grows
   * @returns its address
   * @throws WasmFault if there is no room
   */
  writeBlock(json: string, alloc: ((length: number) => unknown) | null): number {
    const length = Buffer.byteLength(json);
    const pointer = alloc ? unsigned(alloc(length + 4)) : this.#grow(length + 4);
    if (pointer === 0) throw new WasmFault(`alloc returned 0 for ${length + 4} bytes of input`);
    const target = this.bytes(pointer, length + 4, 'alloc');
    encoder.encodeInto(json, target.subarray(4));
    this.setU32(pointer, length, 'alloc');
    return pointer;
  }

  #grow(bytes: number): number {
    const pages = Math.ceil(bytes / pageBytes);
    const before = this.#memory.buffer.byteLength;
    try {
      this.#memory.grow(pages);
    } catch {
      throw new WasmFault(`no room for ${bytes} bytes of input in the memory of ${before} bytes`);
    }
    return before;
  }
}

/** A wasm i32 as an unsigned number; a module may declare its imports with other types. */
export function unsigned(value: unknown): number {
  return Number(value) >>> 0;
}
