import { evidenceFor, isShort, type Round, type Usual } from './rate.ts';

/** Shortest round, milliseconds: of fewer probes chance says more than the target. */
const leastRoundMs = 20;
/** Responses are waited for so much longer than the round trip, milliseconds: threads have their turns. */
const slackMs = 10;
/** A longer round trip is waited for only if responses are missing: it may have been that of one host, or one delay. */
const usualMs = 50;
/** The same before missing ones count as lost. */
const doubtMs = 100;
/** Wait for responses where no round trip is known, milliseconds. */
const unknownMs = 1000;

/** Cumulative counts of probes and of responses to them, by the parity of their round. */
export interface ParityCounts {
  sent: ArrayLike<number>;
  responses: ArrayLike<number>;
}

/**
 * Cuts a stream of probes into rounds whose responses can be told apart: each probe carries the parity of its round. A
 * round is complete once its responses are there, or had their time. Nothing is made for a single packet.
 */
export class Rounds {
  #parity: 0 | 1 = 0;
  #beganAt: number;
  #sentBefore = 0;
  #responsesBefore = 0;
  /** Whether responses to the round before are still coming; the rest is about that one. */
  #isWaiting = false;
  #isInDoubt = false;
  #endedAt = 0;
  #earlierBeganAt = 0;
  #earlierSent = 0;
  #earlierResponses = 0;

  /** @param now monotonic milliseconds, as in all calls */
  constructor(now: number) {
    this.#beganAt = now;
  }

  /** Whether responses are overdue that may still come: until that is certain, more probes would be lost with them. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Of the probes that are sent now. */
  get parity(): 0 | 1 {
    return this.#parity;
  }

  /**
   * Called every few milliseconds.
   * @param at place of the even counts; the odd ones follow
   * @param roundTripMs the longest one; -1 = nothing has responded yet
   * @param usual share of the probes that get a response; null = not known
   * @returns a round that can be judged
   */
  tick(
    now: number,
    counts: ParityCounts,
    at: number,
    roundTripMs: number,
    usual: Usual | null,
  ): Round | null {
    const round = this.#isWaiting ? this.#complete(now, counts, at, roundTripMs, usual) : null;
    if (round) this.#isWaiting = false;
    if (!this.#isWaiting && this.#isEnough(now, counts, at, usual)) this.#flip(now, counts, at);
    return round;
  }

  /** Starts anew: the rate has changed, or the probes have. */
  restart(now: number, counts: ParityCounts, at: number): void {
    this.#flip(now, counts, at);
    this.#isWaiting = false;
    this.#isInDoubt = false;
  }

  #isEnough(now: number, { sent, responses }: ParityCounts, at: number, usual: Usual | null): boolean {
    if (now - this.#beganAt < leastRoundMs) return false;
    const probes = (sent[at + this.#parity] as number) - this.#sentBefore;
    const received = (responses[at + this.#parity] as number) - this.#responsesBefore;
    const share = usual?.share ?? received / Math.max(1, probes);
    return Math.max(received, probes * share) >= evidenceFor(share);
  }

  #flip(now: number, { sent, responses }: ParityCounts, at: number): void {
    this.#isWaiting = true;
    this.#endedAt = now;
    this.#earlierBeganAt = this.#beganAt;
    this.#earlierSent = this.#sentBefore;
    this.#earlierResponses = this.#responsesBefore;
    this.#parity = this.#parity === 0 ? 1 : 0;
    this.#sentBefore = sent[at + this.#parity] as number;
    this.#responsesBefore = responses[at + this.#parity] as number;
    this.#beganAt = now;
  }

  #complete(
    now: number,
    counts: ParityCounts,
    at: number,
    roundTripMs: number,
    usual: Usual | null,
  ): Round | null {
    const parity = 1 - this.#parity;
    const sent = (counts.sent[at + parity] as number) - this.#earlierSent;
    const responses = (counts.responses[at + parity] as number) - this.#earlierResponses;
    const waited = now - this.#endedAt;
    const isOverdue = waited >= Math.min(roundTripMs, usualMs) + slackMs;
    const isReady =
      responses >= sent ||
      waited >= longestMs(roundTripMs, usual !== null) ||
      (usual !== null && isOverdue && !isShort(sent, responses, usual));
    this.#isInDoubt = !isReady && usual !== null && waited >= roundTripMs + slackMs;
    if (!isReady) return null;
    const beganAt = this.#earlierBeganAt;
    return { sent, responses, usual, beganAt, ms: this.#endedAt - beganAt };
  }
}

/** What is missing after this time is lost. */
function longestMs(roundTripMs: number, isKnown: boolean): number {
  if (roundTripMs < 0) return unknownMs;
  return 2 * roundTripMs + (isKnown ? doubtMs : 2 * slackMs);
}
