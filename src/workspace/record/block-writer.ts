import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeFully } from '../atomic-file.ts';
import { type Block, blockEnd, blockLastRow, indexLine, newLine } from './record-files.ts';

/** Maximum rows or bytes of a block. */
export const blockRows = 5000;
export const blockBytes = 1024 * 1024;

/** Memory kept from one block to the next, bytes; a block with a longer line has more. */
const maxKeptMemory = 2 * blockBytes;

/** Memory for the first lines of a record, bytes: most scans find little. */
const firstMemory = 64 * 1024;

/**
 * Lines of the next block. Kept as bytes: as strings they would live through several collections of V8's young generation, which
 * then take as long as all the rest.
 */
export class BlockBuffer {
  #memory: Buffer = Buffer.allocUnsafeSlow(firstMemory);
  #bytes = 0;
  #rows = 0;

  /** @param line without line break */
  add(line: string): void {
    // A UTF-16 unit has at most three bytes in UTF-8.
    this.#reserve(3 * line.length + 1);
    this.#bytes += this.#memory.write(line, this.#bytes);
    this.#memory[this.#bytes] = newLine;
    this.#bytes += 1;
    this.#rows += 1;
  }

  /** @param lines with their line breaks */
  addLines(lines: Buffer, rows: number): void {
    this.#reserve(lines.length);
    this.#bytes += lines.copy(this.#memory, this.#bytes);
    this.#rows += rows;
  }

  get rows(): number {
    return this.#rows;
  }

  get isFull(): boolean {
    return this.#rows >= blockRows || this.#bytes >= blockBytes;
  }

  /** Returns the block and starts an empty one. */
  take(): PendingBlock {
    // A copy of its size: blocks that wait for the disk are mostly small ones.
    const block = { bytes: Buffer.from(this.#memory.subarray(0, this.#bytes)), rows: this.#rows };
    if (this.#memory.length > maxKeptMemory) this.#memory = Buffer.allocUnsafeSlow(firstMemory);
    this.#bytes = 0;
    this.#rows = 0;
    return block;
  }

  #reserve(bytes: number): void {
    const needed = this.#bytes + bytes;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length));
    this.#memory.copy(larger, 0, 0, this.#bytes);
    this.#memory = larger;
  }
}

export interface PendingBlock {
  bytes: Buffer;
  rows: number;
}

/** Appends blocks to a data file and their lines to its index. */
export class BlockWriter {
  readonly #data: FileHandle;
  readonly #index: FileHandle;
  readonly #isDurable: boolean;
  #last: Block | undefined;
  #indexEnd: number;

  /**
   * @param after the last block in both files; `indexEnd` valid bytes of the index
   * @param isDurable whether sealed blocks survive a crash of the machine
   */
  constructor(
    data: FileHandle,
    index: FileHandle,
    after: Block | undefined,
    indexEnd: number,
    isDurable = true,
  ) {
    this.#isDurable = isDurable;
    this.#data = data;
    this.#index = index;
    this.#last = after;
    this.#indexEnd = indexEnd;
  }

  /** Rows of all blocks written. */
  get rows(): number {
    return blockLastRow(this.#last);
  }

  /** Writes blocks and their index lines, durable only after the next `sync`. */
  async write(blocks: readonly PendingBlock[]): Promise<void> {
    const described = this.#describe(blocks);
    await this.#writeData(blocks);
    await this.#writeIndex(described);
  }

  async sync(): Promise<void> {
    await this.#data.sync();
    await this.#index.sync();
  }

  /** Seals blocks: first syncs their data, then writes the index lines that make them valid. */
  async seal(blocks: readonly PendingBlock[]): Promise<void> {
    const described = this.#describe(blocks);
    await this.#writeData(blocks);
    if (this.#isDurable) await this.#data.datasync();
    await this.#writeIndex(described);
    if (this.#isDurable) await this.#index.datasync();
  }

  async #writeData(blocks: readonly PendingBlock[]): Promise<void> {
    let offset = blockEnd(this.#last);
    for (const { bytes } of blocks) {
      await writeFully(this.#data, bytes, offset);
      offset += bytes.length;
    }
  }

  async #writeIndex(described: readonly Block[]): Promise<void> {
    const lines = Buffer.from(described.map(indexLine).join(''));
    await writeFully(this.#index, lines, this.#indexEnd);
    this.#indexEnd += lines.length;
    this.#last = described.at(-1) ?? this.#last;
  }

  #describe(blocks: readonly PendingBlock[]): Block[] {
    const described: Block[] = [];
    let last = this.#last;
    for (const { bytes, rows } of blocks) {
      const block: Block = {
        offset: blockEnd(last),
        length: bytes.length,
        first_row: blockLastRow(last) + 1,
        rows,
        crc32: crc32(bytes),
        ...(!this.#isDurable && { unsynced: true }),
      };
      described.push(block);
      last = block;
    }
    return described;
  }
}
