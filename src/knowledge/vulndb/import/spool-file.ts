import { closeSync, openSync, writeSync } from 'node:fs';
import { readBlockBytes } from '../generation/block-file.ts';

/** Write buffer, bytes. */
const flushBytes = 4 * 1024 * 1024;

/** A temporary file to append texts to and read them back from. */
export class SpoolFile {
  readonly #fd: number;
  #size = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** @param path must not exist */
  constructor(path: string) {
    this.#fd = openSync(path, 'wx+', 0o600);
  }

  /** Bytes appended so far. */
  get size(): number {
    return this.#size;
  }

  /** @returns offset and length of the text, bytes */
  append(text: string): { offset: number; length: number } {
    const bytes = Buffer.from(text);
    const offset = this.#size;
    this.#size += bytes.length;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= flushBytes) this.#flush();
    return { offset, length: bytes.length };
  }

  read(offset: number, length: number): string {
    this.#flush();
    return readBlockBytes(this.#fd, offset, length).toString();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    if (this.#pendingBytes === 0) return;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
  }
}
