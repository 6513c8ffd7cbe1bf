import type { PortCoverage, Protocol } from '../../domain/host.ts';
import type { ExecContext } from '../../engine/module.ts';
import type { AddressIterator } from '../address-iterator.ts';

export interface EarlierHostsInput {
  ctx: Pick<ExecContext, 'restored' | 'recordedCounts' | 'cover' | 'recount'>;
  protocol: Protocol;
  /** Hosts that the checkpoint has under way: the sweep goes on with them, and covers them when they are done. */
  underWay: Iterable<string>;
  /** Where the hosts come from, or null when they are discovered. */
  walk: AddressIterator | null;
}

/**
 * The hosts that an interrupted sweep has begun. Their source gives them again, perhaps after the resumed sweep is done
 * with them; each is swept and counted once.
 */
export class EarlierHosts {
  readonly #input: EarlierHostsInput;
  readonly #underWay: ReadonlySet<string>;
  readonly #recorded: ReadonlyMap<string, PortCoverage>;
  /** The walk tells which of them the checkpoint has not covered yet. */
  readonly #coversEach: boolean;

  constructor(input: EarlierHostsInput) {
    const { ctx, protocol, underWay, walk } = input;
    this.#input = input;
    this.#underWay = new Set(underWay);
    this.#recorded = ctx.recordedCounts(protocol);
    this.#coversEach = walk?.resumed === true;
    const wasRunBefore = ctx.restored !== null || this.#recorded.size > 0;
    if (wasRunBefore && !this.#coversEach) this.#recount();
  }

  /** What a checkpoint covers and what the record has differ by what was done after it: the record is newer. */
  #recount(): void {
    const sum: PortCoverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
    for (const [host, counts] of this.#recorded) {
      if (this.#underWay.has(host)) continue;
      for (const name of ['open', 'closed', 'filtered', 'not_tried'] as const) sum[name] += counts[name];
    }
    this.#input.ctx.recount(sum);
  }

  isUnderWay(host: string): boolean {
    return this.#underWay.has(host);
  }

  /** Whether the record has the outcome of a host; then it is settled and covered. */
  takeRecorded(host: string): boolean {
    const counts = this.#recorded.get(host);
    if (!counts) return false;
    this.#input.walk?.settle(host);
    if (this.#coversEach) this.#input.ctx.cover(counts);
    return true;
  }
}
