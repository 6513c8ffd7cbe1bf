import { stat } from 'node:fs/promises';
import { PortolanError } from '../../domain/errors.ts';
import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import { isCurrent, isFinished, type OpenRecord, openRecordFile, recordPieces } from './open-record.ts';
import {
  type Block,
  BlockMemory,
  blockEnd,
  blockLastRow,
  linesOf,
  readBlock,
  readIndex,
  recordFiles,
} from './record-files.ts';
import { type GzipMember, readMember, unpackedStream } from './record-members.ts';
import { mergeRecord } from './record-merge.ts';
import { describeLines } from './record-recovery.ts';
import { sequenceLength } from './record-sequence.ts';
import { isPlausibleRow, parseRow } from './row-line.ts';
import { compareRows } from './row-order.ts';
import type { RecordDamage, RecordView } from './scan-record.ts';

/** Verification results of unchanged records; null = intact. */
const verified = new Map<string, RecordDamage | null>();
/** Maximum number of remembered verification results. */
const maxVerifiedRecords = 1000;
/** Records being verified while pages of them are served. */
const underVerification = new Set<string>();
/** A larger record is not verified before its first response starts, bytes: this size takes some 20 ms. */
const maxBytesVerifiedFirst = 8 * 1024 * 1024;
/** Pause of a background verification after each block, as a multiple of its duration: pages have priority. */
const restPerBlock = 4;

/** Called after each verified block, with the milliseconds that it took. */
type AfterBlock = (ms: number) => Promise<void> | void;

/** A record whose files stay open, whatever happens to its folder meanwhile. */
export class FileView implements RecordView {
  readonly summary: SummaryRow | null;
  readonly #folder: string;
  readonly #record: OpenRecord | null;
  /** Sealed blocks of a growing record, blocks or members of a finished one; none if their index is lost. */
  readonly #blocks: readonly Block[];
  #fault: RecordDamage | null = null;
  #tolerant = false;
  /** What to do with the result of `verifyWhileReading`. */
  #verification: { key: string; onDamage: () => void } | null = null;

  private constructor(folder: string, record: OpenRecord | null, blocks: readonly Block[]) {
    this.#folder = folder;
    this.#record = record;
    this.#blocks = blocks;
    const line = record?.summaryLine ?? null;
    this.summary = line === null ? null : (parseRow(line) as SummaryRow | null);
  }

  static async open(path: string): Promise<FileView> {
    const files = recordFiles(path);
    for (;;) {
      const record = await openRecordFile(files);
      if (record === null) return new FileView(path, null, []);
      try {
        if (record.members !== null) return new FileView(path, record, record.members);
        const blocks = await readIndex(files.index);
        if (isFinished(record)) return new FileView(path, record, await fitting(blocks, record));
        if (await isCurrent(files, record)) return new FileView(path, record, blocks);
      } catch (error) {
        await record.file.close();
        throw error;
      }
      // Finished or deleted between the two reads: retry.
      await record.file.close();
    }
  }

  async close(): Promise<void> {
    await this.#record?.file.close();
  }

  get total(): number | null {
    if (this.#record === null || !isFinished(this.#record) || this.#blocks.length === 0) return null;
    return blockLastRow(this.#blocks.at(-1)) - (this.summary === null ? 0 : 1);
  }

  get exists(): boolean {
    return this.#record !== null;
  }

  get fault(): RecordDamage | null {
    return this.#fault;
  }

  accept(fault: RecordDamage | null): void {
    this.#fault = fault;
  }

  /** Skips damage from now on, without a full verification. */
  tolerateDamage(): void {
    this.#tolerant = true;
  }

  async verify(afterBlock: AfterBlock = () => undefined): Promise<RecordDamage | null> {
    this.#fault = this.#record === null ? 'missing' : await this.#verifyOnce(this.#record, afterBlock);
    return this.#fault;
  }

  async verifyBehindPage(): Promise<RecordDamage | null> {
    const key = this.#blocks.length > 0 ? await this.#keyOfLarge() : null;
    if (key === null) return await this.verify();
    if (verified.has(key)) return this.#known(key);
    if (!underVerification.has(key)) {
      underVerification.add(key);
      void verifyAside(this.#folder).finally(() => underVerification.delete(key));
    }
    return null;
  }

  async verifyWhileReading(onDamage: () => void): Promise<RecordDamage | null> {
    const key = await this.#keyOfLarge();
    if (key === null) return await this.verify();
    if (verified.has(key)) return this.#known(key);
    this.#verification = { key, onDamage };
    return null;
  }

  #known(key: string): RecordDamage | null {
    this.#fault = verified.get(key) ?? null;
    return this.#fault;
  }

  /** Null for a record that is small, or unfinished. */
  async #keyOfLarge(): Promise<string | null> {
    const record = this.#record;
    if (record === null || record.summaryLine === null) return null;
    const { key, size } = await identityOf(record, this.#folder);
    return size <= maxBytesVerifiedFirst ? null : key;
  }

  async #verifyOnce(record: OpenRecord, afterBlock: AfterBlock): Promise<RecordDamage | null> {
    const { key, size } = await identityOf(record, this.#folder);
    const known = verified.get(key);
    if (known !== undefined) return known;
    const fault = await this.#verifyBytes(record, size, afterBlock);
    remember(key, fault);
    return fault;
  }

  async #verifyBytes(record: OpenRecord, size: number, afterBlock: AfterBlock): Promise<RecordDamage | null> {
    if (record.members === null && blockEnd(this.#blocks.at(-1)) > size) return 'damaged';
    const memory = new BlockMemory();
    for (const block of this.#blocks) {
      const started = performance.now();
      if (!(await this.#bytesOf(record, block, memory)).sound) return 'damaged';
      await afterBlock(performance.now() - started);
    }
    if (record.summaryLine === null) {
      if (this.#blocks.length > 0 && record.members === null) return 'unfinished';
      return size > 0 ? 'damaged' : 'missing';
    }
    return this.#blocks.length > 0 || (await this.#hasAllRows(record)) ? null : 'damaged';
  }

  /** Without an index: every line is readable, and their number matches the summary. */
  async #hasAllRows(record: OpenRecord): Promise<boolean> {
    const counted = new RowCount();
    const pieces = record.members === null ? recordPieces(record) : unpackedStream(record.file, true);
    try {
      for await (const bytes of pieces) {
        for (const row of rowsOf(bytes)) {
          if (row === null) return false;
          counted.add(row);
        }
      }
    } catch {
      return false;
    }
    return counted.hasAllOf(this.summary);
  }

  async hasWholeSequence(): Promise<boolean> {
    const { total } = this;
    return total === null || (await sequenceLength(recordFiles(this.#folder).sequence)) === total;
  }

  async *rows(damaged: 'readable' | 'none' = 'readable'): AsyncGenerator<ResultRow> {
    const record = this.#record;
    if (record === null) return;
    const soundOnly = damaged === 'none';
    if (!isFinished(record)) yield* this.#mergedRows(record, soundOnly);
    else if (this.#blocks.length > 0) yield* this.#blockRows(record, soundOnly);
    else yield* this.#allRows(record);
  }

  async *#mergedRows(record: OpenRecord, soundOnly: boolean): AsyncGenerator<ResultRow> {
    const { file } = record;
    let blocks = this.#blocks;
    if (soundOnly) blocks = await this.#soundBlocks(record);
    // The record is finished and the index is lost: use the complete lines.
    else if (this.#fault === 'damaged' && blocks.length === 0) blocks = await describeLines(file);
    for await (const { row } of mergeRecord(file, blocks)) if (row.type !== 'summary') yield row;
  }

  async #soundBlocks(record: OpenRecord): Promise<Block[]> {
    const sound: Block[] = [];
    const memory = new BlockMemory();
    for (const block of this.#blocks)
      if ((await this.#bytesOf(record, block, memory)).sound) sound.push(block);
    return sound;
  }

  async *#blockRows(record: OpenRecord, soundOnly: boolean): AsyncGenerator<ResultRow> {
    let last: ResultRow | null = null;
    for (const block of this.#blocks) {
      const { bytes, sound } = await this.#trustedBytes(record, block);
      if (soundOnly && !sound) continue;
      for (const { start, end } of linesOf(bytes)) {
        const row = parseRow(bytes.toString('utf8', start, end));
        if (row === null || row.type === 'summary') continue;
        // A changed byte may have turned a row into another kind, which renderers would not expect there.
        if (!sound && (!isPlausibleRow(row) || (last !== null && compareRows(last, row) >= 0))) continue;
        last = row;
        yield row;
      }
    }
    if (this.#verification) remember(this.#verification.key, null);
  }

  async *#allRows(record: OpenRecord): AsyncGenerator<ResultRow> {
    const counted = new RowCount();
    for await (const bytes of recordPieces(record)) {
      for (const row of rowsOf(bytes)) {
        if (row !== null) counted.add(row);
        else if (this.#verification) this.#throwDamage();
        if (row !== null && row.type !== 'summary') yield row;
      }
    }
    if (this.#verification && !counted.hasAllOf(this.summary)) this.#throwDamage();
    if (this.#verification) remember(this.#verification.key, null);
  }

  async page(after: number, last: number): Promise<ResultRow[] | null> {
    const record = this.#record;
    if (record === null || this.total === null) return null;
    const rows: ResultRow[] = [];
    for (let at = blockOf(this.#blocks, after + 1); at < this.#blocks.length; at++) {
      const block = this.#blocks[at] as Block;
      if (block.first_row > last) break;
      const { bytes, sound } = await this.#trustedBytes(record, block);
      let number = block.first_row - 1;
      for (const { start, end } of linesOf(bytes)) {
        if (++number > last) break;
        // A block has thousands of rows before those of the page.
        if (number <= after) continue;
        const row = parseRow(bytes.toString('utf8', start, end));
        if (row !== null && (sound || isPlausibleRow(row))) rows.push(row);
      }
    }
    return rows;
  }

  /** @throws PortolanError `internal_error` for damage not known before */
  async #trustedBytes(record: OpenRecord, block: Block): Promise<{ bytes: Buffer; sound: boolean }> {
    const read = await this.#bytesOf(record, block);
    if (read.sound || this.#fault !== null || this.#tolerant) return read;
    return this.#throwDamage();
  }

  #throwDamage(): never {
    if (this.#verification) {
      remember(this.#verification.key, 'damaged');
      this.#verification.onDamage();
    }
    throw new PortolanError('internal_error', 'The results of the scan are damaged.');
  }

  /** A damaged member is unreadable as a whole. */
  async #bytesOf(
    { file, members }: OpenRecord,
    block: Block,
    memory?: BlockMemory,
  ): Promise<{ bytes: Buffer; sound: boolean }> {
    if (members === null) return await readBlock(file, block, memory?.for(block));
    const bytes = await readMember(file, block as GzipMember);
    return { bytes: bytes ?? Buffer.alloc(0), sound: bytes !== null };
  }
}

/** @returns size in bytes, and a key that changes with the file and its index */
async function identityOf({ file }: OpenRecord, path: string): Promise<{ key: string; size: number }> {
  const { dev, ino, size, mtimeMs, ctimeMs } = await file.stat();
  const index = await stat(recordFiles(path).index).catch(() => null);
  return { key: [dev, ino, size, mtimeMs, ctimeMs, index?.ino, index?.ctimeMs].join(' '), size };
}

function remember(key: string, fault: RecordDamage | null): void {
  if (verified.size >= maxVerifiedRecords) verified.clear();
  verified.set(key, fault);
}

/** Verifies a record in a separate view. A deleted folder has nothing to verify. */
async function verifyAside(path: string): Promise<void> {
  try {
    const view = await FileView.open(path);
    await view.verify((ms) => rest(restPerBlock * ms)).finally(() => view.close());
  } catch {
    // The next reader of the record gets the same error.
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Counts rows of the kinds in a summary. */
class RowCount {
  readonly #counts = new Map<ResultRow['type'], number>();

  add({ type }: ResultRow): void {
    this.#counts.set(type, this.#of(type) + 1);
  }

  #of(type: ResultRow['type']): number {
    return this.#counts.get(type) ?? 0;
  }

  hasAllOf(summary: SummaryRow | null): boolean {
    const { live_hosts = 0, open_ports = 0, vulnerabilities = 0 } = summary ?? {};
    const found = this.#of('host') >= live_hosts && this.#of('port') >= open_ports;
    return found && this.#of('vulnerability') >= vulnerabilities;
  }
}

/** None if the index does not match the file: it may be stale after a crash. */
async function fitting(blocks: readonly Block[], { file }: OpenRecord): Promise<readonly Block[]> {
  return blockEnd(blocks.at(-1)) === (await file.stat()).size ? blocks : [];
}

/** The rows of a block; null for one that is unreadable. */
function* rowsOf(bytes: Buffer): Generator<ResultRow | null> {
  for (const { start, end } of linesOf(bytes)) yield parseRow(bytes.toString('utf8', start, end));
}

/** Binary search: index of the block of a row. */
function blockOf(blocks: readonly Block[], row: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (blockLastRow(blocks[middle]) >= row) high = middle;
    else low = middle + 1;
  }
  return low;
}
