import { startRate } from '../../domain/packet-rate.ts';
import { LateResponses } from './late-responses.ts';
import { type AdaptiveRate, isShort, type Round, type Usual, UsualShare } from './rate.ts';
import { Rounds } from './rounds.ts';

/** Interval at which rounds are looked at, milliseconds. */
const tickMs = 5;
/** Attempts after which the usual share of a host's responses is known. */
const knownAttempts = 4;
/** Hosts that are remembered: more than a sweep has under way. */
const maxHosts = 1024;

/** What is known of the responses of one host. */
interface Known {
  attempts: number;
  responses: number;
}

/** Attempts that are judged together. */
interface Attempts {
  /** Later responses do not count. */
  isOpen: boolean;
  /** Its responses were short: what stayed silent says nothing about the hosts. */
  wasShort: boolean;
  hosts: Set<string>;
  /** What each of these was to get at the most, packets per second. */
  mostPerHost: number;
  /** Those to known hosts: number, usual responses, and the sum of the attempts from which each of these is known. */
  counted: number;
  expected: number;
  basis: number;
}

/** What became of an attempt; `not_tried` = nothing was sent. */
export interface ObservedAttempt {
  state: 'open' | 'closed' | 'filtered' | 'not_tried';
  latencyMs: number;
}

/**
 * Adapts the rate of a scan to the responses to its connection attempts. Unlike the packets of a sweep they are in no random
 * order over all hosts: hosts come and go. So each host has its usual share of responses, and a round is short only of what
 * its hosts usually respond to. Only first attempts count; a further one that gets a response shows that the first was lost.
 */
export class ConnectionRounds {
  readonly #rate: AdaptiveRate;
  readonly #clock: () => number;
  readonly #rounds: Rounds;
  /** Of the attempts that are judged, by parity of their round. */
  readonly #counts = { sent: [0, 0] as [number, number], responses: [0, 0] as [number, number] };
  /** By host, the one that was probed last at the end. */
  readonly #known = new Map<string, Known>();
  #now = newAttempts();
  /** Those of the round before while their responses are coming. */
  #before: Attempts | null = null;
  #tickedAt: number;
  /** Longest response time in this round and the one before, milliseconds; -1 = none. */
  #latencies: [now: number, before: number] = [-1, -1];
  /** Highest rate to each host at which all were well, packets per second. */
  #bestPerHost = startRate;
  readonly #late: LateResponses;

  /** @param clock monotonic milliseconds, the one of the rate */
  constructor(rate: AdaptiveRate, clock: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#clock = clock;
    const now = clock();
    this.#rounds = new Rounds(now);
    this.#tickedAt = now;
    this.#late = new LateResponses(rate, now);
  }

  /**
   * @param attempt to connect to a port of the host: the first one, or a further one where it was silent
   * @param observing it is being made; never rejects
   */
  follow(host: string, attempt: 'first' | 'further', observing: Promise<ObservedAttempt>): void {
    const end = attempt === 'first' ? this.#begin(host) : this.#noteLate;
    void observing.then(({ state, latencyMs }) => {
      if (state !== 'not_tried') end(state === 'filtered' ? null : latencyMs);
    });
  }

  /** @returns to be called with the time of its response, also of one that refuses; null = silence */
  #begin(host: string): (latencyMs: number | null) => void {
    this.#tick();
    const attempts = this.#now;
    const { parity } = this.#rounds;
    const known = this.#known.get(host);
    const isKnown = (known?.attempts ?? 0) >= knownAttempts;
    attempts.hosts.add(host);
    if (known && isKnown) {
      this.#counts.sent[parity] += 1;
      attempts.counted += 1;
      attempts.expected += known.responses / known.attempts;
      attempts.basis += known.attempts;
    }
    return (latencyMs) => {
      if (latencyMs !== null) {
        this.#late.noteFirst(1);
        this.#latencies[0] = Math.max(this.#latencies[0], latencyMs);
        if (isKnown && attempts.isOpen) this.#counts.responses[parity] += 1;
      }
      if (!attempts.wasShort) this.#learn(host, latencyMs !== null);
      this.#tick();
    };
  }

  /** A response to a further attempt shows that the first was lost. */
  readonly #noteLate = (latencyMs: number | null): void => {
    if (latencyMs !== null) this.#late.noteLate(1, this.#clock());
  };

  #learn(host: string, responded: boolean): void {
    const known = this.#known.get(host) ?? { attempts: 0, responses: 0 };
    known.attempts += 1;
    if (responded) known.responses += 1;
    this.#known.delete(host);
    this.#known.set(host, known);
    const [longest] = this.#known.keys();
    if (longest !== undefined && this.#known.size > maxHosts) this.#known.delete(longest);
  }

  #tick(): void {
    const now = this.#clock();
    if (now - this.#tickedAt < tickMs) return;
    this.#tickedAt = now;
    this.#late.tick(now);
    const { parity } = this.#rounds;
    const longest = Math.max(...this.#latencies);
    const round = this.#rounds.tick(now, this.#counts, 0, longest, usualOf(this.#before ?? this.#now));
    const judged = this.#before;
    if (round && judged) this.#judge(round, judged);
    if (round) this.#before = null;
    if (this.#rounds.parity !== parity) this.#flip();
  }

  #judge(round: Round, attempts: Attempts): void {
    attempts.isOpen = false;
    const perHost = (round.sent * 1000) / Math.max(1, round.ms) / attempts.hosts.size;
    const isLost = round.usual !== null && isShort(round.sent, round.responses, round.usual);
    const verdict = this.#rate.judge(round, new UsualShare());
    if (!isLost) this.#bestPerHost = Math.max(this.#bestPerHost, Math.min(perHost, attempts.mostPerHost));
    // Slower rates did not help: the hosts have changed.
    else if (verdict === 'grown') for (const host of attempts.hosts) this.#known.delete(host);
    else attempts.wasShort = true;
    if (verdict === 'slowed') {
      this.#now.wasShort = true;
      this.#rounds.restart(this.#clock(), this.#counts, 0);
    }
  }

  #flip(): void {
    if (this.#before) this.#before.isOpen = false;
    const mostPerHost = 2 * this.#bestPerHost;
    this.#now.mostPerHost = mostPerHost;
    this.#rate.fallTo(this.#now.hosts.size * mostPerHost);
    this.#before = this.#now;
    this.#now = newAttempts();
    this.#latencies = [-1, this.#latencies[0]];
  }
}

/** Null while none of the hosts is known. */
function usualOf({ counted, expected, basis }: Attempts): Usual | null {
  return counted === 0 ? null : { share: expected / counted, probes: basis / counted };
}

const newAttempts = (): Attempts => ({
  isOpen: true,
  wasShort: false,
  hosts: new Set(),
  mostPerHost: startRate,
  counted: 0,
  expected: 0,
  basis: 0,
});
