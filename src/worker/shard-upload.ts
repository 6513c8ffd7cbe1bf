import { setTimeout as sleep } from 'node:timers/promises';
import { PortolanError } from '../domain/errors.ts';
import { openPlain } from '../workspace/plain-file.ts';
import { readCheckpointBytes } from '../workspace/record/checkpoint.ts';
import {
  type Block,
  blockLastRow,
  readBlock,
  readIndex,
  recordFiles,
} from '../workspace/record/record-files.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { ShardHome } from './shard-home.ts';

/** Upload interval, milliseconds. */
const uploadMs = 200;
/** Backoff while the owner is unreachable, milliseconds; doubled up to the longest. */
const firstRetryMs = 250;
/** Longest delay between two tries, milliseconds. */
const longestRetryMs = 2000;
/** Maximum bytes of blocks per request; a single block may exceed it by one row. */
const maxBatchBytes = 1024 * 1024;

/** Why an upload ended early: the lease is lost, or the owner rejects the rows for good. */
export type UploadEnd = 'lost' | 'refused';

/**
 * Uploads the record and the checkpoint of a shard to the owner of the scan: rows in order, a checkpoint only after
 * the rows that it builds on.
 */
export class ShardUpload {
  readonly #folder: ScanFolder;
  readonly #home: ShardHome;
  readonly #stop = new AbortController();
  readonly #onTrouble: (error: unknown) => void;
  /** Rows that the owner has. */
  #sent: number;
  #checkpoint: Buffer | null = null;
  readonly #running: Promise<void>;
  /** Set when the upload ended early. */
  ended: UploadEnd | null = null;

  /**
   * @param sent rows that the owner already has: the first ones of the record
   * @param onTrouble called once per outage of the owner, and when the owner rejects the upload for good
   */
  constructor(folder: ScanFolder, home: ShardHome, sent: number, onTrouble: (error: unknown) => void) {
    this.#folder = folder;
    this.#home = home;
    this.#sent = sent;
    this.#onTrouble = onTrouble;
    this.#running = this.#follow();
  }

  /** Uploads the rest of a complete record, however long it takes. @returns whether the owner has all of it */
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
    while (!this.#stop.signal.aborted && this.ended === null) {
      await this.#persist(this.#stop.signal);
      await sleep(uploadMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Retries until the owner has everything recorded so far. @returns false when it ended early */
  async #persist(signal: AbortSignal): Promise<boolean> {
    let troubled = false;
    for (let wait = firstRetryMs; this.ended === null; wait = Math.min(wait * 2, longestRetryMs)) {
      try {
        await this.#sendNew();
        return true;
      } catch (error) {
        this.ended = this.#endOf(error);
        if (!troubled && this.ended !== 'lost') this.#onTrouble(error);
        troubled = true;
        if (signal.aborted) return false;
        if (this.ended === null) await sleep(wait, undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }

  /** Null: worth a retry. */
  #endOf(error: unknown): UploadEnd | null {
    if (!(error instanceof PortolanError)) return null;
    const { code, details } = error;
    if (code === 'invalid_request') return 'refused';
    if (code !== 'conflict' && code !== 'not_found' && code !== 'unauthorized') return null;
    const ownerRows = details['rows'];
    if (typeof ownerRows !== 'number' || ownerRows >= this.#sent) return 'lost';
    // The owner lost rows: a disk failure, or a restored backup.
    this.#sent = ownerRows;
    return null;
  }

  async #sendNew(): Promise<void> {
    const checkpoint = await readCheckpointBytes(this.#folder);
    const files = recordFiles(this.#folder.path);
    const blocks = (await readIndex(files.index)).filter((block) => blockLastRow(block) > this.#sent);
    if (blocks.length > 0) await this.#sendBlocks(files.data, blocks);
    if (checkpoint === null || this.#checkpoint?.equals(checkpoint)) return;
    await this.#home.putCheckpoint(checkpoint);
    this.#checkpoint = checkpoint;
  }

  async #sendBlocks(file: string, blocks: readonly Block[]): Promise<void> {
    const data = await openPlain(file);
    try {
      for (const batch of batchesOf(blocks)) {
        const parts: Buffer[] = [];
        for (const block of batch) parts.push((await readBlock(data, block)).bytes);
        const first = (batch[0]?.first_row ?? 1) - 1;
        this.#sent = await this.#home.putRows(first, Buffer.concat(parts));
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
