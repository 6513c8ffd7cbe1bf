import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../domain/errors.ts';
import { openPlain } from '../workspace/plain-file.ts';
import { readCheckpointBytes } from '../workspace/record/checkpoint.ts';
import {
  type Block,
  BlockMemory,
  blockEnd,
  blockLastRow,
  readBytes,
  readIndex,
  recordFiles,
} from '../workspace/record/record-files.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ShardResults } from './shard-results.ts';

/** Upload interval, milliseconds. */
const uploadMs = 200;
/** Backoff while the store is unreachable, milliseconds; doubled up to the longest. */
const firstRetryMs = 250;
/** Longest delay between two tries, milliseconds. */
const longestRetryMs = 2000;
/** Maximum bytes of blocks stored at once; a single block may exceed it by one row. */
const maxBatchBytes = 1024 * 1024;

/**
 * Stores the record and the checkpoint of a shard for the server that completes the scan: rows in order, a checkpoint
 * only after the rows that it builds on.
 */
export class ShardUpload {
  readonly #folder: ScanFolder;
  readonly #results: ShardResults;
  readonly #stop = new AbortController();
  readonly #onTrouble: (error: unknown) => void;
  /** Rows that are stored. */
  #sent: number;
  #checkpoint: Buffer | null = null;
  readonly #running: Promise<void>;
  /** Whether the upload ended early: another worker has the shard. */
  lost = false;

  /**
   * @param sent rows that are stored already: the first ones of the record
   * @param onTrouble called once per outage of the store
   */
  constructor(folder: ScanFolder, results: ShardResults, sent: number, onTrouble: (error: unknown) => void) {
    this.#folder = folder;
    this.#results = results;
    this.#sent = sent;
    this.#onTrouble = onTrouble;
    this.#running = this.#follow();
  }

  /** Uploads the rest of a complete record, however long it takes. @returns whether all of it is stored */
  async finish(signal: AbortSignal): Promise<boolean> {
    await this.stop();
    return await this.#persist(signal);
  }

  /** Stops the periodic upload. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted && !this.lost) {
      await this.#persist(this.#stop.signal);
      await sleep(uploadMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Retries until everything recorded so far is stored. @returns false when it ended early */
  async #persist(signal: AbortSignal): Promise<boolean> {
    let troubled = false;
    for (let wait = firstRetryMs; !this.lost; wait = Math.min(wait * 2, longestRetryMs)) {
      try {
        await this.#sendNew();
        return true;
      } catch (error) {
        this.lost = this.#isLoss(error);
        if (!troubled && !this.lost) this.#onTrouble(error);
        troubled = true;
        if (signal.aborted) return false;
        if (!this.lost) await sleep(wait, undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }

  /** Everything else is worth a retry. */
  #isLoss(error: unknown): boolean {
    if (!(error instanceof PortolanError) || error.code !== 'conflict') return false;
    const storedRows = error.details['rows'];
    if (typeof storedRows !== 'number' || storedRows >= this.#sent) return true;
    // The database lost rows: a restored backup.
    this.#sent = storedRows;
    return false;
  }

  async #sendNew(): Promise<void> {
    const checkpoint = await readCheckpointBytes(this.#folder);
    const files = recordFiles(this.#folder.path);
    const blocks = (await readIndex(files.index)).filter((block) => blockLastRow(block) > this.#sent);
    if (blocks.length > 0) await this.#sendBlocks(files.data, blocks);
    if (checkpoint === null || this.#checkpoint?.equals(checkpoint)) return;
    await this.#results.putCheckpoint(checkpoint);
    this.#checkpoint = checkpoint;
  }

  async #sendBlocks(file: string, blocks: readonly Block[]): Promise<void> {
    const data = await openPlain(file);
    const memory = new BlockMemory();
    try {
      for (const batch of batchesOf(blocks)) {
        const { offset, first_row } = batch[0] as Block;
        const length = blockEnd(batch.at(-1)) - offset;
        // One memory for all batches: memory for each would be most of the garbage of a worker.
        const lines = await readBytes(data, offset, length, memory.for({ length }));
        this.#sent = await this.#results.putRows(first_row - 1, lines);
      }
    } finally {
      await data.close();
    }
  }
}

function* batchesOf(blocks: readonly Block[]): Generator<Block[]> {
  let batch: Block[] = [];
  let bytes = 0;
  for (const block of blocks) {
    if (batch.length > 0 && bytes + block.length > maxBatchBytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(block);
    bytes += block.length;
  }
  if (batch.length > 0) yield batch;
}
