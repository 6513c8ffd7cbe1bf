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

/** What is new goes out this often, milliseconds. */
const mirrorMs = 200;
/** Between two tries to reach a home that is away, milliseconds; doubled up to the longest. */
const firstRetryMs = 250;
const longestRetryMs = 2000;
/** Bytes of blocks that go out in one request; a block alone may have one row more. */
const maxBatchBytes = 1024 * 1024;

/** Why a mirror gave up: the shard is somebody else's, or the home will never take what this worker has. */
export type UploadEnd = 'lost' | 'refused';

/**
 * Keeps the home of a scan up to date with the record and the checkpoint of a shard: rows in their order, a checkpoint
 * only after the rows that it builds on.
 */
export class ShardUpload {
  readonly #folder: ScanFolder;
  readonly #home: ShardHome;
  readonly #stop = new AbortController();
  readonly #onTrouble: (error: unknown) => void;
  /** Rows that the home has. */
  #sent: number;
  #checkpoint: Buffer | null = null;
  readonly #running: Promise<void>;
  /** Set when nothing more is sent. */
  ended: UploadEnd | null = null;

  /**
   * @param sent rows that the home has already, which the record begins with
   * @param onTrouble told once whenever the home goes away, and why it refused for good
   */
  constructor(folder: ScanFolder, home: ShardHome, sent: number, onTrouble: (error: unknown) => void) {
    this.#folder = folder;
    this.#home = home;
    this.#sent = sent;
    this.#onTrouble = onTrouble;
    this.#running = this.#follow();
  }

  /** Sends what is left, as long as it takes; the record does not grow any more. @returns whether all of it is there */
  async finish(signal: AbortSignal): Promise<boolean> {
    await this.stop();
    return await this.#persist(signal);
  }

  /** Sends nothing more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted && this.ended === null) {
      await this.#persist(this.#stop.signal);
      await sleep(mirrorMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Tries until everything of now is there. @returns false when it was given up */
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

  /** Null: it may go better later. */
  #endOf(error: unknown): UploadEnd | null {
    if (!(error instanceof PortolanError)) return null;
    const { code, details } = error;
    if (code === 'invalid_request') return 'refused';
    if (code !== 'conflict' && code !== 'not_found' && code !== 'unauthorized') return null;
    const held = details['rows'];
    if (typeof held !== 'number' || held >= this.#sent) return 'lost';
    // The disk of the home lost rows that were there, or came back from a backup.
    this.#sent = held;
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
