import { LateResponses } from '../../adaptive/late-responses.ts';
import { type AdaptiveRate, UsualShare } from '../../adaptive/rate.ts';
import { Rounds } from '../../adaptive/rounds.ts';
import { connectControl as control } from './connect-control.ts';

/** Interval at which rounds are looked at, milliseconds. */
const tickMs = 5;

/** Adapts the rate of a scan to the responses to the first attempts of threads, which go out in random order. */
export class ConnectRegulator {
  readonly #words: Int32Array;
  readonly #rate: AdaptiveRate;
  readonly #late: LateResponses;
  #usual = new UsualShare();
  readonly #rounds = new Rounds(performance.now());
  readonly #counts: { sent: Int32Array; responses: Int32Array };
  /** Longest response times in this round and the one before, milliseconds. */
  #roundTrips: [now: number, before: number] = [-1, -1];
  #timer: NodeJS.Timeout | null = null;

  /** @param words shared with the threads, see `connectControl` */
  constructor(words: Int32Array, rate: AdaptiveRate) {
    this.#words = words;
    this.#rate = rate;
    this.#late = new LateResponses(rate, performance.now());
    const two = (at: number) => words.subarray(at, at + 2);
    this.#counts = { sent: two(control.firstSent), responses: two(control.firstResponses) };
  }

  /** Other hosts are probed from now on: what share of them responds is not known. */
  restart(): void {
    this.#usual = new UsualShare();
    this.#rounds.restart(performance.now(), this.#counts, 0);
    this.#publish();
    this.#timer ??= setInterval(() => this.#tick(performance.now()), tickMs).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** A retry brought a response. */
  noteLate(): void {
    this.#late.noteLate(1, performance.now());
  }

  #tick(now: number): void {
    this.#roundTrips[0] = Math.max(this.#roundTrips[0], Atomics.load(this.#words, control.roundTrip));
    const { parity } = this.#rounds;
    const round = this.#rounds.tick(now, this.#counts, 0, Math.max(...this.#roundTrips), this.#usual.usual);
    if (round) {
      this.#late.noteFirst(round.responses);
      if (this.#rate.judge(round, this.#usual) === 'slowed') this.#rounds.restart(now, this.#counts, 0);
    }
    this.#late.tick(now);
    if (this.#rounds.parity !== parity) this.#publish();
  }

  #publish(): void {
    this.#roundTrips = [-1, this.#roundTrips[0]];
    Atomics.store(this.#words, control.roundTrip, -1);
    Atomics.store(this.#words, control.parity, this.#rounds.parity);
  }
}
