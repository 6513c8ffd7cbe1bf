/** Never slower than this, in all and for one host: nothing would ever end, packets per second. */
export const leastRate = 100;

/** Expected responses of a round that can be judged; more where not every probe gets one, so that half of them are noticed. */
const leastEvidence = 16;
const evidenceOfChance = 72;

/** Share of the usual responses that may be missing: chance, and losses that retries make up for. */
const margin = 0.1;
/** Standard deviations of chance that a shortage must exceed as well. */
const certainty = 3;

/** Growth per second after a limit was met, as a share of the rate. It doubles every second, to the most. */
const firstGrowth = 0.05;
/** The same at the most. */
const mostGrowth = 1;
/** Longest time that one round grows for, milliseconds. */
const growthSpanMs = 1000;
/** A rate that was not used to this share proves nothing about more. */
const usedShare = 0.5;

/** Slower rates in a row that brought no more responses, and the time after which the rate is not taken for the reason. */
const vainSlowdowns = 2;
const silenceTimeoutMs = 2000;
/** A slower rate has helped if the share of responses grew by this factor. */
const helpFactor = 1.5;

/** Part of the rate while responses are overdue: what is lost then is a round, not all that is sent until it is certain. */
const doubtShare = 1 / 8;

/** Time after local trouble in which more of it says nothing about the new rate, milliseconds. */
const troubleCooldownMs = 200;

/** Probes of some milliseconds, and their responses. */
export interface Round {
  sent: number;
  responses: number;
  /** What was known before it; null = nothing. */
  usual: Usual | null;
  /** When its first probe was sent, in milliseconds of the clock, and for how long it was sent. */
  beganAt: number;
  ms: number;
}

/** The share of probes that get a response, and the number of probes that it was learned from. */
export interface Usual {
  share: number;
  probes: number;
}

export type Verdict = 'grown' | 'kept' | 'slowed';

/** Packets per second. */
export interface RateBounds {
  start: number;
  least: number;
  most: number;
}

/** Responses that a round needs before it says something. @param share of the probes that get one */
export function evidenceFor(share: number): number {
  return leastEvidence + evidenceOfChance * (1 - share);
}

/** Fewer responses than chance explains; what was learned from few probes is uncertain itself. */
export function isShort(sent: number, responses: number, { share, probes }: Usual): boolean {
  const expected = sent * share;
  const missing = expected - responses;
  // Twenty of twenty does not mean that all respond (Laplace's rule of succession).
  const silent = 1 - (share * probes + 1) / (probes + 2);
  const variance = expected * silent * (1 + sent / probes) + 1;
  return missing > margin * expected && missing > certainty * Math.sqrt(variance);
}

/** The share of probes that get a response. They go out in random order, so it changes only where some are lost. */
export class UsualShare {
  #sent = 0;
  #responses = 0;

  /** Null before the first round. */
  get usual(): Usual | null {
    return this.#sent === 0 ? null : { share: this.#responses / this.#sent, probes: this.#sent };
  }

  /** A round without loss. One with clearly more responses shows what earlier ones had lost. */
  learn(sent: number, responses: number): void {
    const { usual } = this;
    const isMore =
      usual && isShort(usual.probes, usual.share * usual.probes, { share: responses / sent, probes: sent });
    if (isMore) this.adopt(0, 0);
    this.#sent += sent;
    this.#responses += responses;
  }

  /** What holds from now on, whatever it was before. */
  adopt(sent: number, responses: number): void {
    this.#sent = sent;
    this.#responses = responses;
  }
}

/**
 * The packets per second that a target bears, or the path to many. It doubles from round to round while responses keep
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
  /** When the rate fell last, and when it first did since the last round without a shortage. */
  #slowedAt = Number.NEGATIVE_INFINITY;
  #shortSince: number | null = null;
  /** Share of responses in the first round of the shortage, and in the last one. */
  #shareAtFirst = 0;
  #shareBefore = 0;
  #vain = 0;
  #grewAt: number;
  #isInDoubt = false;
  /** Whether senders wait for the rate: it is used up, by all of them together. */
  isContended: () => boolean = () => false;
  /** Called with each new rate. */
  onChange: (rate: number) => void = () => undefined;

  /** @param clock monotonic milliseconds */
  constructor({ start, least, most }: RateBounds, clock: () => number = () => performance.now()) {
    this.#bounds = { start: Math.min(start, most), least: Math.min(least, start, most), most };
    this.#clock = clock;
    this.#rate = this.#bounds.start;
    this.#threshold = most;
    this.#highest = this.#rate;
    this.#lowest = this.#rate;
    this.#grewAt = clock();
  }

  /** Packets per second. */
  get rate(): number {
    return this.#isInDoubt ? Math.max(this.#bounds.least, this.#rate * doubtShare) : this.#rate;
  }

  /** @param isInDoubt responses are overdue: it goes on gently until they come, or are lost */
  doubt(isInDoubt: boolean): void {
    if (isInDoubt === this.#isInDoubt) return;
    this.#isInDoubt = isInDoubt;
    this.onChange(this.rate);
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
  judge(round: Round, usual: UsualShare): Verdict {
    // It was sent at a rate that is over already.
    if (round.beganAt < this.#slowedAt) return 'kept';
    const { sent, responses } = round;
    if (round.usual && isShort(sent, responses, round.usual))
      return this.#short(round, round.usual.share, usual);
    usual.learn(sent, responses);
    this.#shortSince = null;
    this.#vain = 0;
    const isEnough = responses >= evidenceFor(responses / sent) / 2;
    return isEnough && this.#isUsed(round) ? this.#grow() : 'kept';
  }

  /** This machine or its link has lost packets, whoever they were for. */
  trouble(): Verdict {
    const now = this.#clock();
    if (now - this.#slowedAt < troubleCooldownMs) return 'kept';
    this.#slowedAt = now;
    this.#grewAt = now;
    this.#threshold = Math.max(this.#bounds.least, this.#rate / 2);
    this.#set(this.#rate / 2);
    return 'slowed';
  }

  /** Fewer hosts are left to share the rate: it grows anew from here. @param rate packets per second */
  fallTo(rate: number): void {
    if (rate < this.#rate) this.#set(rate);
  }

  #isUsed({ sent, ms }: Round): boolean {
    return sent * 1000 >= usedShare * this.#rate * ms || this.isContended();
  }

  #grow(): Verdict {
    const now = this.#clock();
    const ms = Math.min(growthSpanMs, now - this.#grewAt);
    this.#grewAt = now;
    if (this.#rate >= this.#bounds.most) return 'kept';
    const isBelow = this.#rate < this.#threshold;
    const growth = Math.min(mostGrowth, firstGrowth * 2 ** ((now - this.#slowedAt) / 1000));
    const slowly = this.#rate * (1 + (growth * ms) / 1000);
    this.#set(isBelow ? Math.min(this.#threshold, this.#rate * 2) : slowly);
    return 'grown';
  }

  #short({ sent, responses, ms }: Round, share: number, usual: UsualShare): Verdict {
    const now = this.#clock();
    const responded = responses / sent;
    const isFirst = this.#shortSince === null;
    if (isFirst) this.#shareAtFirst = responded;
    const hasHelped = responded > helpFactor * Math.min(this.#shareAtFirst, this.#shareBefore);
    this.#vain = isFirst || hasHelped ? 0 : this.#vain + 1;
    this.#shareBefore = responded;
    this.#shortSince ??= now;
    this.#slowedAt = now;
    this.#grewAt = now;
    if (this.#vain >= vainSlowdowns && now - this.#shortSince >= silenceTimeoutMs)
      return this.#giveUp(sent, responses, usual);
    // A rate that is not used up is not the one that was too high.
    const used = Math.min(this.#rate, (sent * 1000) / Math.max(1, ms));
    const got = responded / share;
    this.#shortAt = used;
    // What a shortage goes on at says nothing of what works.
    if (isFirst) this.#threshold = Math.max(this.#bounds.least, used * Math.max(0.5, got * (1 - margin)));
    this.#set(used * Math.min(0.5, Math.max(0.25, got)));
    return 'slowed';
  }

  /** Slower rates changed nothing, so the rate is not the reason: a filter has begun to drop, or the host has gone. */
  #giveUp(sent: number, responses: number, usual: UsualShare): Verdict {
    usual.adopt(sent, responses);
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
    this.onChange(this.rate);
  }
}
