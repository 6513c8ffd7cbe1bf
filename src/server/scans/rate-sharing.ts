import { rateShares } from '../../worker/rate-shares.ts';
import type { Blackout } from './blackout.ts';
import type { PoolContext } from './pool-context.ts';
import type { ScanSlot } from './scan-slot.ts';

/** Divides `scanner.max_rate` among the sending scans. */
export class RateSharing {
  readonly #context: Pick<PoolContext, 'slots' | 'config' | 'log'>;
  readonly #blackout: Pick<Blackout, 'window'>;
  /** Serializes updates. */
  #last: Promise<void> = Promise.resolve();

  constructor(context: Pick<PoolContext, 'slots' | 'config' | 'log'>, blackout: Pick<Blackout, 'window'>) {
    this.#context = context;
    this.#blackout = blackout;
  }

  /** Called when a scan starts, ends, pauses or resumes. */
  renew(): void {
    this.#last = this.#last
      .then(() => this.#share())
      .catch((err) => this.#context.log.error({ err }, 'cannot divide the rate'));
  }

  /** Waits for lowered rates before it raises others: the sum never exceeds the limit. */
  async #share(): Promise<void> {
    const running = [...this.#context.slots.values()].filter(({ process }) => process && !process.outcome);
    const requested = new Map(
      running.filter((slot) => this.#sends(slot)).map((slot) => [slot.scanId, slot.requestedRate]),
    );
    const shares = rateShares(requested, this.#context.config.scanner.max_rate);
    const shareOf = ({ scanId }: ScanSlot) => shares.get(scanId) ?? 0;
    const apply = async (slot: ScanSlot) => {
      slot.assignedRate = shareOf(slot);
      await slot.process?.setRate(slot.assignedRate);
    };
    await Promise.all(running.filter((slot) => shareOf(slot) < slot.assignedRate).map(apply));
    for (const slot of running) if (shareOf(slot) > slot.assignedRate) void apply(slot);
  }

  #sends({ paused, process }: ScanSlot): boolean {
    return !paused && this.#blackout.window === null && Boolean(process?.startedAt);
  }
}
