import type { QueueClaim } from '../../store/scan-queue.ts';
import type { Blackout } from './blackout.ts';
import type { PoolCapacity } from './pool-capacity.ts';
import type { PoolContext } from './pool-context.ts';

/** Poll interval in case a NOTIFY is lost, milliseconds. */
const pollMs = 2000;

/** Claims waiting scans while there is capacity. */
export class ClaimLoop {
  readonly #context: Pick<PoolContext, 'queue' | 'log' | 'stopping' | 'config' | 'slots'>;
  readonly #blackout: Blackout;
  readonly #capacity: PoolCapacity;
  readonly #begin: (claim: QueueClaim) => void;
  #timer: NodeJS.Timeout | null = null;
  #filling: Promise<void> | null = null;
  #fillAgain = false;
  /** Whether the failure of the queue was logged. */
  #failing = false;
  #lastClaim: Promise<unknown> = Promise.resolve();
  #foundNothing = false;

  /** @param begin creates the slot of a claimed scan, synchronously */
  constructor(
    context: Pick<PoolContext, 'queue' | 'log' | 'stopping' | 'config' | 'slots'>,
    blackout: Blackout,
    capacity: PoolCapacity,
    begin: (claim: QueueClaim) => void,
  ) {
    this.#context = context;
    this.#blackout = blackout;
    this.#capacity = capacity;
    this.#begin = begin;
  }

  /** False if it claims nothing. */
  get alive(): boolean {
    return this.#timer !== null && !this.#context.stopping.aborted;
  }

  /** Whether no scan waited at the last look, for want of room neither, and none has come since. */
  get foundNothing(): boolean {
    return this.#foundNothing;
  }

  /** Resolves when the last claim has ended: its scan has no slot before. */
  get lastClaim(): Promise<unknown> {
    return this.#lastClaim;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs);
    this.wake();
  }

  /** Called when a scan may be waiting. */
  wake(): void {
    this.#foundNothing = false;
    this.#fillAgain = true;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = null;
      if (this.#fillAgain && this.alive) this.wake();
    });
  }

  /** Called after `stopping` is aborted. Resolves when nothing more is claimed. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#filling;
  }

  async #fill(): Promise<void> {
    const { log } = this.#context;
    try {
      while (this.#fillAgain && this.alive) {
        this.#fillAgain = false;
        await this.#blackout.storeMarks();
        await this.#claimAll();
        this.#failing = false;
      }
    } catch (err) {
      // The poll retries; until then the health response shows the unreachable store.
      if (!this.#failing) log.error({ err }, 'cannot read the queue, retrying');
      this.#failing = true;
    }
  }

  async #claimAll(): Promise<void> {
    while (this.alive && this.#blackout.window === null && this.#capacity.hasRoom) {
      const hasRoomForAll = this.#capacity.hasRoomForAll;
      const claim = await this.#claim();
      if (claim === null) {
        this.#foundNothing = hasRoomForAll && !this.#fillAgain;
        break;
      }
      this.#begin(claim);
      this.#capacity.follow();
    }
    this.#capacity.follow();
  }

  #claim(): Promise<QueueClaim | null> {
    const claim = this.#context.queue.claim(`server:${process.pid}`, {
      pools: this.#capacity.poolsWithRoom(),
      running: this.#capacity.runningByTenant(),
      weights: this.#context.config.multi_tenant.weights,
      fullPools: this.#capacity.fullPools(),
      onlySmall: this.#capacity.isForSmall,
      held: [...this.#context.slots.keys()],
    });
    this.#lastClaim = claim.catch(() => null);
    return claim;
  }
}
