import type { ShardQueue } from '../../queue/shard-queue.ts';
import type { ShardState } from '../../store/shards.ts';

/** Shards of which none runs have waited for so long when their jobs are looked for, and again, milliseconds. */
const lookMs = 60_000;

/** Gives shards new jobs that wait although theirs are gone: a database may lose its last transactions in a crash. */
export class LostJobs {
  readonly #scanId: string;
  readonly #line: Pick<ShardQueue, 'giveJobs'>;
  readonly #onFound: (count: number) => void;
  readonly #clock: () => number;
  #from: number | null = null;

  /**
   * @param onFound called with the number of shards that got new jobs
   * @param clock milliseconds
   */
  constructor(
    scanId: string,
    line: Pick<ShardQueue, 'giveJobs'>,
    onFound: (count: number) => void,
    clock: () => number = () => performance.now(),
  ) {
    this.#scanId = scanId;
    this.#line = line;
    this.#onFound = onFound;
    this.#clock = clock;
  }

  /** @param shards of the scan */
  async look(shards: readonly Pick<ShardState, 'state'>[]): Promise<void> {
    const now = this.#clock();
    const waits = shards.some(({ state }) => state === 'waiting');
    if (!waits || shards.some(({ state }) => state === 'running')) this.#from = null;
    else this.#from ??= now + lookMs;
    if (this.#from === null || now < this.#from) return;
    this.#from = now + lookMs;
    const count = await this.#line.giveJobs(this.#scanId);
    if (count > 0) this.#onFound(count);
  }
}
