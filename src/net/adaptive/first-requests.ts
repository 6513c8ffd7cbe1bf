import { type AdaptiveRate, UsualShare } from './rate.ts';
import { type ParityCounts, Rounds } from './rounds.ts';

/** Adapts the rate of a scan to the responses to first requests in random order: the share that gets one stays what it is. */
export class FirstRequests {
  readonly #rate: AdaptiveRate;
  readonly #counts: ParityCounts;
  readonly #rounds: Rounds;
  #usual = new UsualShare();
  /** Longest response times in this round and the one before, milliseconds; -1 = none. */
  #roundTrips: [now: number, before: number] = [-1, -1];

  /** @param now milliseconds of the clock of the rate, as in all calls */
  constructor(rate: AdaptiveRate, counts: ParityCounts, now: number) {
    this.#rate = rate;
    this.#counts = counts;
    this.#rounds = new Rounds(now);
  }

  /** Of the requests that are sent now. */
  get parity(): 0 | 1 {
    return this.#rounds.parity;
  }

  /** Other hosts are probed from now on: what share of them responds is not known. */
  restart(now: number): void {
    this.#usual = new UsualShare();
    this.#rounds.restart(now, this.#counts, 0);
    this.#flip();
  }

  /**
   * Called every few milliseconds.
   * @param roundTripMs longest response time since the parity changed; -1 = none
   * @returns the responses of a round that was judged
   */
  tick(now: number, roundTripMs: number): number {
    this.#roundTrips[0] = Math.max(this.#roundTrips[0], roundTripMs);
    const { parity } = this;
    const round = this.#rounds.tick(now, this.#counts, 0, Math.max(...this.#roundTrips), this.#usual.usual);
    if (round && this.#rate.judge(round, this.#usual) === 'slowed')
      this.#rounds.restart(now, this.#counts, 0);
    if (this.parity !== parity) this.#flip();
    return round?.responses ?? 0;
  }

  #flip(): void {
    this.#roundTrips = [-1, this.#roundTrips[0]];
  }
}
