import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ResultRow, SummaryRow } from '../../domain/result.ts';
import { diskError, fileMode, syncFolder } from '../atomic-file.ts';
import type { ScanFolder } from '../scan-folder.ts';
import { BlockBuffer, BlockWriter, blockRows, type PendingBlock } from './block-writer.ts';
import { openRecordFile, recordPieces } from './open-record.ts';
import {
  blockEnd,
  blockLastRow,
  indexLine,
  linesOf,
  type RecordFiles,
  readIndex,
  readSummaryLine,
  recordFiles,
} from './record-files.ts';
import { finishRecord, removeUnpublished } from './record-finish.ts';
import { finishedIndex, soundBlocks } from './record-recovery.ts';
import { rowLine } from './row-line.ts';

export interface RecordOptions {
  /** Called after every seal with the number of sealed rows. */
  onSealed?: (rows: number) => void;
  /** Called with every row, before it is sealed. */
  onRow?: (row: ResultRow) => void;
  /**
   * Whether sealed rows survive a crash of the machine, which is so unless this is false: where the database has the rows, or gets
   * them before anybody sees them. They survive the end of the process in any case.
   */
  isDurable?: boolean;
  /** Maximum delay between the first row of a block and its seal, milliseconds. */
  sealMs?: number;
}

const defaultSealMs = 250;

/** Bytes of foreign lines from which they are a block of their own: they are not copied. */
const leastWholeBytes = 128 * 1024;

/** Full blocks that may wait for the disk before `append` blocks. */
const maxWaitingBlocks = 4;

/**
 * Opens the record of a scan for appending, creating it if missing. Truncates what a crash left unsealed. Only one
 * writer may have a record open.
 * @throws PortolanError `insufficient_storage`
 */
export async function openRecord(folder: ScanFolder, options: RecordOptions = {}): Promise<RecordWriter> {
  const files = recordFiles(folder.path);
  try {
    await removeUnpublished(files);
    const compressed = await compressedRows(files);
    if (compressed !== null) return new RecordWriter(files, null, compressed - 1, options);
    const data = await openFile(files.data);
    return await withFile(data, () => openRecovered(folder, files, data, options));
  } catch (error) {
    throw diskError(error);
  }
}

async function openRecovered(
  folder: ScanFolder,
  files: RecordFiles,
  data: FileHandle,
  options: RecordOptions,
): Promise<RecordWriter> {
  if ((await readSummaryLine(data)) !== null) {
    const blocks = await finishedIndex(files, data);
    await data.close();
    return new RecordWriter(files, null, blockLastRow(blocks.at(-1)) - 1, options);
  }
  const blocks = await soundBlocks(data, await readIndex(files.index));
  const indexEnd = Buffer.byteLength(blocks.map(indexLine).join(''));
  const index = await openFile(files.index);
  return await withFile(index, async () => {
    await index.truncate(indexEnd);
    await index.sync();
    await data.truncate(blockEnd(blocks.at(-1)));
    await data.sync();
    await syncFolder(folder.path);
    const blockWriter = new BlockWriter(data, index, blocks.at(-1), indexEnd, options.isDurable);
    return new RecordWriter(files, { data, index, blockWriter }, blockWriter.rows, options);
  });
}

/** Rows of a compressed record, including its summary; null for a plain record. */
async function compressedRows(files: RecordFiles): Promise<number | null> {
  const record = await openRecordFile(files);
  if (record === null) return null;
  try {
    if (record.members === null) return null;
    if (record.members.length > 0) return blockLastRow(record.members.at(-1));
    let rows = 0;
    for await (const piece of recordPieces(record)) rows += [...linesOf(piece)].length;
    return rows;
  } finally {
    await record.file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  return await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, fileMode);
}

/** Closes the file if `work` fails. */
async function withFile<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Open files of a growing record. */
interface Growing {
  data: FileHandle;
  index: FileHandle;
  blockWriter: BlockWriter;
}

/**
 * Appends rows to the record of a running scan. Rows are durable once their block is sealed, see RecordOptions; after a failed write
 * every further call fails the same way.
 */
export class RecordWriter {
  readonly #files: RecordFiles;
  readonly #options: RecordOptions;
  readonly #buffer = new BlockBuffer();
  #growing: Growing | null;
  #rows: number;
  #waiting: PendingBlock[] = [];
  #sealing: Promise<void> | null = null;
  #afterSeal: (() => void)[] = [];
  #sealTimer: NodeJS.Timeout | null = null;
  #failure: unknown = null;
  #finished: boolean;
  #finishing = false;

  /** Created by openRecord. @param growing null for a finished record */
  constructor(files: RecordFiles, growing: Growing | null, rows: number, options: RecordOptions) {
    this.#files = files;
    this.#growing = growing;
    this.#finished = growing === null;
    this.#rows = rows;
    this.#options = options;
  }

  /** Rows of the record, including unsealed ones, without the summary. */
  get rows(): number {
    return this.#rows;
  }

  /** The record has its summary and takes no more rows. */
  get finished(): boolean {
    return this.#finished;
  }

  /**
   * Adds a row to the current block. A returned promise asks the caller to wait: the disk is slow.
   * @throws PortolanError `insufficient_storage` after a write failed for that
   */
  append(row: ResultRow): void | Promise<void> {
    this.#mustGrow();
    if (row.type === 'summary') throw new Error('The summary is written by finish().');
    this.#buffer.add(rowLine(row));
    this.#rows += 1;
    this.#options.onRow?.(row);
    return this.#added();
  }

  /**
   * Adds the rows of a block of another record as they are: whoever reads them parses them. Does not call `onRow`.
   * @param lines sound JSON Lines without a summary, at most as many as a block has; they must not change afterwards
   */
  appendLines(lines: Buffer, rows: number): void | Promise<void> {
    this.#mustGrow();
    this.#rows += rows;
    const isWhole = lines.length >= leastWholeBytes;
    const isFull = this.#buffer.rows > 0 && (isWhole || this.#buffer.rows + rows > blockRows);
    if (isFull) this.#waiting.push(this.#buffer.take());
    if (isWhole) this.#waiting.push({ bytes: lines, rows });
    if (isFull || isWhole) this.#sealSoon(0);
    if (!isWhole) this.#buffer.addLines(lines, rows);
    return this.#added();
  }

  #added(): void | Promise<void> {
    if (this.#buffer.isFull) this.#sealSoon(0);
    else if (this.#buffer.rows > 0) this.#sealSoon(this.#options.sealMs ?? defaultSealMs);
    if (this.#waiting.length > maxWaitingBlocks) return this.#roomToWait();
  }

  /** Seals all rows. */
  async seal(): Promise<void> {
    this.#mustGrow();
    await this.#sealBuffered();
  }

  /**
   * Replaces the growing record by the finished one: each identity once, sorted, the summary last. Atomic: after a
   * crash or on a full disk the record can be opened again.
   */
  async finish(summary: SummaryRow): Promise<void> {
    const { data } = this.#mustGrow();
    this.#finishing = true;
    try {
      await this.#sealBuffered();
      await finishRecord(this.#files, data, await readIndex(this.#files.index), summary);
    } catch (error) {
      // The next openRecord determines how far it came.
      this.#failure ??= error;
      throw error;
    } finally {
      this.#finishing = false;
    }
    this.#finished = true;
    await this.#closeFiles();
  }

  /** Seals all rows and closes the files. Does not throw for an earlier failed write. */
  async close(): Promise<void> {
    if (this.#growing === null) return;
    try {
      if (this.#failure === null) await this.#sealBuffered();
    } finally {
      await this.#closeFiles();
    }
  }

  async #closeFiles(): Promise<void> {
    this.#stopTimer();
    const growing = this.#growing;
    this.#growing = null;
    await growing?.data.close();
    await growing?.index.close();
  }

  #mustGrow(): Growing {
    if (this.#failure !== null) throw this.#failure;
    if (this.#finished || this.#finishing) throw new Error('The record is finished.');
    if (this.#growing === null) throw new Error('The record is closed.');
    return this.#growing;
  }

  /** Seals at once (0), or by timer unless one is running already. */
  #sealSoon(ms: number): void {
    if (ms === 0) {
      this.#sealInBackground();
    } else if (this.#sealTimer === null) {
      this.#sealTimer = setTimeout(() => this.#sealInBackground(), ms);
    }
  }

  #stopTimer(): void {
    if (this.#sealTimer) clearTimeout(this.#sealTimer);
    this.#sealTimer = null;
  }

  #sealInBackground(): void {
    // The failure is stored; the next call throws it.
    this.#sealBuffered().catch(() => {});
  }

  #sealBuffered(): Promise<void> {
    this.#stopTimer();
    if (this.#buffer.rows > 0) this.#waiting.push(this.#buffer.take());
    if (this.#sealing) return this.#sealing;
    if (this.#waiting.length === 0) return Promise.resolve();
    this.#sealing = this.#sealWaiting();
    return this.#sealing;
  }

  async #sealWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#growing) {
        const { blockWriter } = this.#growing;
        await blockWriter.seal(this.#waiting.splice(0));
        this.#options.onSealed?.(blockWriter.rows);
        this.#wakeWaiters();
      }
    } catch (error) {
      this.#failure ??= diskError(error);
      throw this.#failure;
    } finally {
      // Not in a later turn: blocks added in between would wait for a loop that has ended.
      this.#sealing = null;
      this.#wakeWaiters();
    }
  }

  #wakeWaiters(): void {
    for (const wake of this.#afterSeal.splice(0)) wake();
  }

  async #roomToWait(): Promise<void> {
    while (this.#waiting.length > maxWaitingBlocks && this.#failure === null) {
      await new Promise<void>((resolve) => this.#afterSeal.push(resolve));
    }
    if (this.#failure !== null) throw this.#failure;
  }
}
