/** Never slower than this, in all and for one host: below it nothing would ever end, packets per second. */
export const leastRate = 100;

/** Responses that a round must expect before it is judged: fewer say little. */
export const leastEvidence = 16;

/** Share of the expected responses that may be missing: chance, and losses that retries make up for. */
const margin = 0.1;
/** Standard deviations of chance that a shortage must exceed as well. */
const certainty = 3;

/** Growth per second once a limit was met, as a share of what is known to work. */
const growthPerSecond = 0.05;
/** Longest time that one round grows for, milliseconds. */
const growthSpanMs = 1000;
/** A rate that was not used to this share proves nothing about more. */
const usedShare = 0.5;

/** Slower rates that brought no more responses, and the time after which silence is taken for what it is. */
const vainSlowdowns = 2;
const patienceMs = 2000;
/** A slower rate has helped where the share of responses grew by this factor. */
const helpedBy = 1.5;

/** Time after local trouble in which more of it says nothing about the new rate, milliseconds. */
const settleMs = 200;

/** Probes of some milliseconds, and their responses. */
export interface Round {
  sent: number;
  answered: number;
  /** Responses as earlier rounds make them likely; null = nothing is known yet. */
  expected: number | null;
  /** When its first probe was sent, in milliseconds of the clock, and for how long it was sent. */
  beganAt: number;
  ms: number;
}

export type Verdict = 'grown' | 'kept' | 'slowed';

export interface RateBounds {
  start: number;
  least: number;
  most: number;
}

/** The share of probes that get a response. Probes go out in random order, so it stays what it is unless some are lost. */
export class UsualShare {
  #sent = 0;
  #answered = 0;

  /** Null before the first round. */
  get share(): number | null {
    return this.#sent === 0 ? null : this.#answered / this.#sent;
  }

  expected(sent: number): number | null {
    return this.share === null ? null : sent * this.share;
  }

  /** Fewer responses than chance explains. */
  isShort(sent: number, answered: number): boolean {
    const share = this.share ?? 0;
    return isShort(answered, sent * share, share);
  }

  /** A round without loss. One with clearly more responses shows what earlier ones had lost. */
  learn(sent: number, answered: number): void {
    const { share } = this;
    if (share !== null && isShort(sent * share, answered, Math.min(1, answered / sent))) this.adopt(0, 0);
    this.#sent += sent;
    this.#answered += answered;
  }

  /** What holds from now on, whatever it was before. */
  adopt(sent: number, answered: number): void {
    this.#sent = sent;
    this.#answered = answered;
  }
}

function isShort(answered: number, expected: number, share: number): boolean {
  const missing = expected - answered;
  return missing > margin * expected && missing > certainty * Math.sqrt(expected * (1 - share) + 1);
}

/**
 * The packets per second that a target, or the path to many, bears. It doubles from round to round while responses keep
 * coming, halves at once where they stay away, and then grows slowly below what went wrong.
 */
export class AdaptiveRate {
  readonly #bounds: RateBounds;
  readonly #clock: () => number;
  #rate: number;
  /** Below it the rate doubles; above it grows slowly. */
  #threshold: number;
  #highest: number;
  #lowest: number;
  /** The last rate with a shortage; null = there was none. */
  #shortAt: number | null = null;
  /** When the rate fell last, and when it first did since a round without shortage. */
  #slowedAt = Number.NEGATIVE_INFINITY;
  #shortSince: number | null = null;
  #shareBefore = 0;
  #vain = 0;
  #grewAt: number;
  /** Called with each new rate. */
  onChange: (rate: number) => void = () => undefined;

  /** @param clock monotonic milliseconds */
  constructor(bounds: RateBounds, clock: () => number = () => performance.now()) {
    this.#bounds = { ...bounds, least: Math.min(bounds.least, bounds.start) };
    this.#clock = clock;
    this.#rate = Math.min(bounds.start, bounds.most);
    this.#threshold = bounds.most;
    this.#highest = this.#rate;
    this.#lowest = this.#rate;
    this.#grewAt = clock();
  }

  /** Packets per second. */
  get rate(): number {
    return this.#rate;
  }

  /** The extremes so far. */
  get highest(): number {
    return this.#highest;
  }

  get lowest(): number {
    return this.#lowest;
  }

  /** The last rate at which responses stayed away; null = they never did. */
  get shortAt(): number | null {
    return this.#shortAt;
  }

  /**
   * Judges a round that has got its responses.
   * @param usual learns from it, unless probes were lost
   */
  judge(round: Round, usual: Pick<UsualShare, 'learn' | 'adopt' | 'isShort'>): Verdict {
    // It was sent at a rate that is over already.
    if (round.beganAt < this.#slowedAt) return 'kept';
    if (round.expected !== null && usual.isShort(round.sent, round.answered))
      return this.#short(round, usual);
    usual.learn(round.sent, round.answered);
    this.#shortSince = null;
    this.#vain = 0;
    return round.answered >= leastEvidence / 2 && this.#isUsed(round) ? this.#grow() : 'kept';
  }

  /** This machine or its link dropped packets: whoever would have responded. */
  trouble(): Verdict {
    const now = this.#clock();
    if (now - this.#slowedAt < settleMs) return 'kept';
    this.#slowedAt = now;
    this.#threshold = Math.max(this.#bounds.least, this.#rate / 2);
    this.#set(this.#rate / 2);
    return 'slowed';
  }

  #isUsed({ sent, ms }: Round): boolean {
    return sent * 1000 >= usedShare * this.#rate * ms;
  }

  #grow(): Verdict {
    const now = this.#clock();
    const ms = Math.min(growthSpanMs, now - this.#grewAt);
    this.#grewAt = now;
    if (this.#rate >= this.#bounds.most) return 'kept';
    const isBelow = this.#rate < this.#threshold;
    const slowly = Math.max(this.#rate, this.#threshold) * growthPerSecond * (ms / 1000);
    this.#set(isBelow ? Math.min(this.#threshold, this.#rate * 2) : this.#rate + slowly);
    return 'grown';
  }

  #short({ sent, answered, expected, ms }: Round, usual: Pick<UsualShare, 'adopt'>): Verdict {
    const now = this.#clock();
    const share = answered / sent;
    this.#vain =
      this.#shortSince !== null && share < this.#shareBefore * helpedBy + 1e-9 ? this.#vain + 1 : 0;
    this.#shareBefore = share;
    this.#shortSince ??= now;
    this.#slowedAt = now;
    this.#grewAt = now;
    if (this.#vain >= vainSlowdowns && now - this.#shortSince >= patienceMs)
      return this.#giveUp(sent, answered, usual);
    // What was really sent: a rate that is not used up is not the one that was too high.
    const used = Math.min(this.#rate, (sent * 1000) / Math.max(1, ms));
    const got = answered / (expected as number);
    this.#shortAt = used;
    this.#threshold = Math.max(this.#bounds.least, used * Math.max(0.5, got * (1 - margin)));
    this.#set(used * Math.min(0.5, Math.max(0.25, got)));
    return 'slowed';
  }

  /** Slower rates changed nothing, so the rate is not why: a filter has begun to drop, a host has gone. */
  #giveUp(sent: number, answered: number, usual: Pick<UsualShare, 'adopt'>): Verdict {
    usual.adopt(sent, answered);
    this.#shortSince = null;
    this.#vain = 0;
    this.#threshold = this.#bounds.start;
    this.#set(this.#bounds.start);
    return 'grown';
  }

  #set(rate: number): void {
    const { least, most } = this.#bounds;
    this.#rate = Math.min(most, Math.max(least, rate));
    this.#highest = Math.max(this.#highest, this.#rate);
    this.#lowest = Math.min(this.#lowest, this.#rate);
    this.onChange(this.#rate);
  }
}
