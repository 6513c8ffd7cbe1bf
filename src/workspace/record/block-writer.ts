import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeFully } from '../atomic-file.ts';
import { type Block, blockEnd, blockLastRow, indexLine } from './record-files.ts';

/** Maximum rows or bytes of a block. */
export const blockRows = 5000;
export const blockBytes = 1024 * 1024;

/** Lines of the next block. */
export class BlockBuffer {
  #lines: string[] = [];
  #bytes = 0;

  /** @param line without line break */
  add(line: string): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
  }

  get rows(): number {
    return this.#lines.length;
  }

  get isFull(): boolean {
    return this.#lines.length >= blockRows || this.#bytes >= blockBytes;
  }

  /** Returns the block and starts an empty one. */
  take(): PendingBlock {
    const block = { bytes: Buffer.from(`${this.#lines.join('\n')}\n`), rows: this.#lines.length };
    this.#lines = [];
    this.#bytes = 0;
    return block;
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
  #last: Block | undefined;
  #indexEnd: number;

  /** @param after the last block in both files; `indexEnd` valid bytes of the index */
  constructor(data: FileHandle, index: FileHandle, after: Block | undefined, indexEnd: number) {
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
    await writeFully(this.#data, Buffer.concat(blocks.map((block) => block.bytes)), blockEnd(this.#last));
    await this.#writeIndex(described);
  }

  async sync(): Promise<void> {
    await this.#data.sync();
    await this.#index.sync();
  }

  /** Seals blocks: first syncs their data, then writes the index lines that make them valid. */
  async seal(blocks: readonly PendingBlock[]): Promise<void> {
    const described = this.#describe(blocks);
    await writeFully(this.#data, Buffer.concat(blocks.map((block) => block.bytes)), blockEnd(this.#last));
    await this.#data.datasync();
    await this.#writeIndex(described);
    await this.#index.datasync();
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
      const block = {
        offset: blockEnd(last),
        length: bytes.length,
        first_row: blockLastRow(last) + 1,
        rows,
        crc32: crc32(bytes),
      };
      described.push(block);
      last = block;
    }
    return described;
  }
}
