import type { PortCoverage, Protocol } from '../../domain/host.ts';
import type { ExecContext } from '../../engine/module.ts';
import type { AddressIterator } from '../address-iterator.ts';

export interface EarlierHostsInput {
  ctx: Pick<ExecContext, 'restored' | 'recordedCounts' | 'cover' | 'recount'>;
  protocol: Protocol;
  /** Hosts in progress in the checkpoint: the sweep continues them and covers them when done. */
  underWay: Iterable<string>;
  /** Source of the hosts, or null if they are discovered. */
  walk: AddressIterator | null;
}

/**
 * The hosts that an interrupted sweep has started. Their source returns them again, perhaps after the resumed sweep
 * has finished them; each is swept and counted once.
 */
export class EarlierHosts {
  readonly #input: EarlierHostsInput;
  readonly #underWay: ReadonlySet<string>;
  readonly #recorded: ReadonlyMap<string, PortCoverage>;
  /** Whether the iterator knows which of them the checkpoint does not cover yet. */
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

  /** The record may be newer than the coverage in the checkpoint: recount from the record. */
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

  /** Whether the record has the outcome of a host; it is then complete and covered. */
  takeRecorded(host: string): boolean {
    const counts = this.#recorded.get(host);
    if (!counts) return false;
    this.#input.walk?.settle(host);
    if (this.#coversEach) this.#input.ctx.cover(counts);
    return true;
  }
}
