import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Number of items per write to the spill file. */
const spillBatch = 512;

/**
 * Unread items of one reader of one stream. Keeps at most `limit` items in memory: while the reader reads, a full
 * backlog blocks producers; before the reader has opened the stream (it may be busy with another one), items go to a
 * temporary file instead, so that a reader that drains its inputs one after the other can never deadlock its
 * producers.
 */
export class Backlog<T> {
  readonly #limit: number;
  readonly #spillDir: string;
  #head: T[] = [];
  #headIndex = 0;
  #tail: T[] = [];
  #spill: SpillFile | null = null;
  #opened = false;
  #ended = false;
  #closed = false;
  #failure: unknown = null;
  #reader: (() => void) | null = null;
  #producers: (() => void)[] = [];
  #firstItem: (() => void)[] = [];
  #pushed = 0;

  constructor(limit: number, spillDir: string) {
    this.#limit = Math.max(1, limit);
    this.#spillDir = spillDir;
  }

  /** Resolves when there is room again; undefined if there is room now. */
  push(item: T): Promise<void> | undefined {
    if (this.#closed || this.#failure) return undefined;
    this.#pushed++;
    if (this.#tail.length === 0 && !this.#spill?.pending && this.#inMemory() < this.#limit)
      this.#head.push(item);
    else this.#tail.push(item);
    this.#wakeReader();
    this.#wakeStart();
    if (this.#inMemory() <= this.#limit) return undefined;
    if (this.#opened) return new Promise((resolve) => this.#producers.push(resolve));
    if (this.#tail.length >= spillBatch) this.#spillTail();
    return undefined;
  }

  end(): void {
    this.#ended = true;
    this.#wakeReader();
    this.#wakeStart();
  }

  /** Makes the reader throw; unread items are dropped. */
  fail(reason: unknown): void {
    this.#failure ??= reason ?? new Error('aborted');
    this.#release();
  }

  /** The reader is gone: drops all items and unblocks producers. */
  close(): void {
    this.#closed = true;
    this.#release();
  }

  /** Resolves at the first item, or when the stream ends without one. */
  started(): Promise<void> {
    if (this.#pushed > 0 || this.#ended || this.#failure || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#firstItem.push(resolve));
  }

  get pushed(): number {
    return this.#pushed;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    this.#opened = true;
    for (;;) {
      if (this.#failure) throw this.#failure;
      if (this.#headIndex < this.#head.length || this.#refill()) {
        const item = this.#head[this.#headIndex++] as T;
        if (this.#headIndex >= 1024 && this.#headIndex * 2 > this.#head.length) this.#compact();
        if (this.#inMemory() < this.#limit) this.#wakeProducers();
        return { done: false, value: item };
      }
      this.#wakeProducers();
      if (this.#ended || this.#closed) {
        this.#dropSpill();
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#reader = resolve;
      });
    }
  }

  #inMemory(): number {
    return this.#head.length - this.#headIndex + this.#tail.length;
  }

  #compact(): void {
    this.#head = this.#head.slice(this.#headIndex);
    this.#headIndex = 0;
  }

  #refill(): boolean {
    const batch = this.#spill?.pending ? (this.#spill.read() as T[]) : this.#tail;
    if (batch === this.#tail) this.#tail = [];
    this.#head = batch;
    this.#headIndex = 0;
    return batch.length > 0;
  }

  #spillTail(): void {
    this.#spill ??= new SpillFile(this.#spillDir);
    this.#spill.write(this.#tail);
    this.#tail = [];
  }

  #wakeReader(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.();
  }

  #wakeProducers(): void {
    if (this.#producers.length === 0) return;
    for (const resolve of this.#producers.splice(0)) resolve();
  }

  #wakeStart(): void {
    if (this.#firstItem.length === 0) return;
    for (const resolve of this.#firstItem.splice(0)) resolve();
  }

  #release(): void {
    this.#head = [];
    this.#headIndex = 0;
    this.#tail = [];
    this.#dropSpill();
    this.#wakeReader();
    this.#wakeProducers();
    this.#wakeStart();
  }

  #dropSpill(): void {
    this.#spill?.close();
    this.#spill = null;
  }
}

/** Batches of items as JSON in an already unlinked file: a killed process leaves nothing behind. */
class SpillFile {
  readonly #fd: number;
  #batches: { offset: number; length: number }[] = [];
  #end = 0;

  constructor(dir: string) {
    const folder = mkdtempSync(join(dir, 'portolan-spill-'));
    this.#fd = openSync(join(folder, 'batches'), 'wx+', 0o600);
    rmSync(folder, { recursive: true });
  }

  get pending(): boolean {
    return this.#batches.length > 0;
  }

  write(items: unknown[]): void {
    const bytes = Buffer.from(JSON.stringify(items));
    let written = 0;
    while (written < bytes.length) {
      written += writeSync(this.#fd, bytes, written, bytes.length - written, this.#end + written);
    }
    this.#batches.push({ offset: this.#end, length: bytes.length });
    this.#end += bytes.length;
  }

  read(): unknown[] {
    const batch = this.#batches.shift();
    if (!batch) return [];
    const bytes = Buffer.alloc(batch.length);
    let read = 0;
    while (read < batch.length) {
      read += readSync(this.#fd, bytes, read, batch.length - read, batch.offset + read);
    }
    return JSON.parse(bytes.toString()) as unknown[];
  }

  close(): void {
    this.#batches = [];
    closeSync(this.#fd);
  }
}
