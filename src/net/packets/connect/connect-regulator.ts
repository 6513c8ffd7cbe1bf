import { startRate } from '../../../domain/packet-rate.ts';
import { FirstRequests } from '../../adaptive/first-requests.ts';
import { LateResponses } from '../../adaptive/late-responses.ts';
import type { AdaptiveRate } from '../../adaptive/rate.ts';
import { connectControl as control } from './connect-control.ts';

/** Interval at which rounds are looked at, milliseconds. */
const tickMs = 5;

/** Adapts the rate of a scan to the responses to the first attempts of threads, which go out in random order. */
export class ConnectRegulator {
  readonly #words: Int32Array;
  readonly #rate: AdaptiveRate;
  readonly #late: LateResponses;
  readonly #first: FirstRequests;
  #timer: NodeJS.Timeout | null = null;

  /** @param words shared with the threads, see `connectControl` */
  constructor(words: Int32Array, rate: AdaptiveRate) {
    const now = performance.now();
    this.#words = words;
    this.#rate = rate;
    this.#late = new LateResponses(rate, now);
    const two = (at: number) => words.subarray(at, at + 2);
    const counts = { sent: two(control.firstSent), responses: two(control.firstResponses) };
    this.#first = new FirstRequests(rate, counts, now);
  }

  /** Of the other ports another share responds than of the leading ones: it is learned at a rate that loses nothing. */
  leaveHead(): void {
    this.#rate.fallTo(startRate);
    this.restart();
  }

  /** Other hosts are probed from now on. */
  restart(): void {
    this.#first.restart(performance.now());
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
    const { parity } = this.#first;
    this.#late.noteFirst(this.#first.tick(now, Atomics.load(this.#words, control.roundTrip)));
    this.#late.tick(now);
    if (this.#first.parity !== parity) this.#publish();
  }

  #publish(): void {
    Atomics.store(this.#words, control.roundTrip, -1);
    Atomics.store(this.#words, control.parity, this.#first.parity);
  }
}
