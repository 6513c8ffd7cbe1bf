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

export interface ShardUploadInput {
  folder: ScanFolder;
  results: ShardResults;
  /** Rows that are stored already: the first ones of the record. */
  sent: number;
  /** Called once per outage of the store. */
  onTrouble: (error: unknown) => void;
  /** Upload interval, milliseconds. */
  everyMs?: number;
  /** Called after rows were stored. */
  onStored?: () => void;
}

/**
 * Stores the record and the checkpoint of a shard, or of an undivided scan, for the server that completes it: rows in order, a
 * checkpoint only after the rows that it builds on.
 */
export class ShardUpload {
  readonly #input: ShardUploadInput;
  readonly #stop = new AbortController();
  /** Rows that are stored. */
  #sent: number;
  #checkpoint: Buffer | null = null;
  readonly #running: Promise<void>;
  /** Whether the upload ended early: another worker has the shard. */
  lost = false;

  constructor(input: ShardUploadInput) {
    this.#input = input;
    this.#sent = input.sent;
    this.#running = this.#follow();
  }

  /** Rows that are stored. */
  get stored(): number {
    return this.#sent;
  }

  /** Whether rows or a checkpoint were stored. */
  get hasStored(): boolean {
    return this.#sent > 0 || this.#checkpoint !== null;
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
    // What ends before the first time is stored at once, at its end.
    while (!this.lost) {
      await sleep(this.#input.everyMs ?? uploadMs, undefined, { signal: this.#stop.signal }).catch(
        () => undefined,
      );
      if (this.#stop.signal.aborted) return;
      await this.#persist(this.#stop.signal);
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
        if (!troubled && !this.lost) this.#input.onTrouble(error);
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
    const { folder, results } = this.#input;
    const checkpoint = await readCheckpointBytes(folder);
    const files = recordFiles(folder.path);
    const blocks = (await readIndex(files.index)).filter((block) => blockLastRow(block) > this.#sent);
    if (blocks.length > 0) await this.#sendBlocks(files.data, blocks);
    if (checkpoint === null || this.#checkpoint?.equals(checkpoint)) return;
    await results.putCheckpoint(checkpoint);
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
        this.#sent = await this.#input.results.putRows(first_row - 1, lines);
        this.#input.onStored?.();
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
