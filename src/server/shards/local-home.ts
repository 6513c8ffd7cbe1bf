import { PortolanError } from '../../domain/errors.ts';
import type { QueuedShard } from '../../queue/shard-queue.ts';
import type { ShardHome } from '../../worker/shard-home.ts';
import { rowLines, type ShardCredentials, type ShardIngest } from './shard-ingest.ts';

/** Owner of a scan for a worker in the same process: the interface of remote owners, without a network. */
export class LocalHome implements ShardHome {
  readonly #intakes: ReadonlyMap<string, ShardIngest>;
  readonly #sender: ShardCredentials;

  constructor(intakes: ReadonlyMap<string, ShardIngest>, { scanId, shard, attempt, key }: QueuedShard) {
    this.#intakes = intakes;
    this.#sender = { scanId, shard, attempt, key };
  }

  async rows(): Promise<AsyncIterable<Uint8Array>> {
    return (await this.#intake.rows(this.#sender)).stream;
  }

  async checkpoint(): Promise<Buffer | null> {
    return await this.#intake.checkpoint(this.#sender);
  }

  async putRows(first: number, lines: Buffer): Promise<number> {
    return await this.#intake.append(this.#sender, first, rowLines(lines));
  }

  async putCheckpoint(bytes: Buffer): Promise<void> {
    await this.#intake.keepCheckpoint(this.#sender, bytes);
  }

  /** @throws PortolanError `unavailable` */
  get #intake(): ShardIngest {
    const intake = this.#intakes.get(this.#sender.scanId);
    if (intake) return intake;
    throw new PortolanError('unavailable', 'The scan does not accept rows now; try again.');
  }
}
