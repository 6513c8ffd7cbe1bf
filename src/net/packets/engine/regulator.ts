import { AdaptiveRate, type Usual, UsualShare } from '../../adaptive/rate.ts';
import { Rounds } from '../../adaptive/rounds.ts';
import { type Chunk, word } from './chunk.ts';
import { control, type EngineRound, type LearnedRates, type SlowedHost } from './engine-control.ts';
import type { HostRates } from './host-rates.ts';

/** Interval at which rounds are looked at, milliseconds. */
const tickMs = 5;
/** Hosts that one tick looks at, about; more take their turns. */
const hostsPerTick = 4096;
/** Where there are more hosts, a single one is not why the responses of all are short. */
const fewHosts = 16;

/** One host of a chunk: its rounds and its rate. */
interface RatedHost {
  usual: UsualShare;
  rounds: Rounds;
  rate: AdaptiveRate;
}

interface RatedChunk {
  chunk: Chunk;
  shared: HostRates;
  /** By host; made once it responds. */
  hosts: (RatedHost | undefined)[];
  /** Whether a host may be slowed because its responses are overdue. */
  hasDoubts: boolean;
  /** 1 = its leading ports have been probed. */
  isPastHead: number;
}

interface RegulatorEvents {
  onRound(round: EngineRound): void;
  /** The leading ports of a chunk have been probed. */
  onPastHead(): void;
  /** A host of a chunk was slowed for the first time. */
  onSlowed(id: number, host: SlowedHost): void;
}

/**
 * Adapts the rate of each host to its responses, and reports rounds of all hosts together, by which the rate of the scan
 * adapts. Only first tries count: a further one asks what was silent.
 */
export class Regulator {
  /** What is known of the responses to all hosts; null = nothing. */
  usual: Usual | null = null;
  readonly #words: Int32Array;
  readonly #events: RegulatorEvents;
  readonly #chunks = new Map<number, RatedChunk>();
  readonly #rounds = new Rounds(performance.now());
  /** Of all chunks in their first try, by parity. */
  readonly #sums = { sent: new Float64Array(2), responses: new Float64Array(2) };
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Chunks in their first try. */
  #probing = '';
  /** Since the last reported round, other chunks are. */
  #isNew = true;

  constructor(words: Int32Array, events: RegulatorEvents) {
    this.#words = words;
    this.#events = events;
  }

  add(chunk: Chunk): void {
    const shared = chunk.hostRates;
    if (!shared) return;
    this.#chunks.set(chunk.plan.id, {
      chunk,
      shared,
      hosts: new Array(chunk.hostCount),
      hasDoubts: false,
      isPastHead: Atomics.load(chunk.control, word.isPastHead),
    });
    this.#timer ??= setInterval(() => this.#tick(performance.now()), tickMs);
  }

  /** What was learned of its hosts; null if their rates were fixed. */
  remove(id: number): LearnedRates | null {
    const rated = this.#chunks.get(id);
    if (!rated) return null;
    endDoubts(rated);
    this.#chunks.delete(id);
    if (this.#chunks.size === 0 && this.#timer) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    return { rates: Uint32Array.from(rated.shared.rates), slowed: slowedHosts(rated) };
  }

  #tick(now: number): void {
    const first: RatedChunk[] = [];
    for (const rated of this.#chunks.values()) {
      this.#followHead(rated, now);
      if (Atomics.load(rated.chunk.control, word.try) <= 1) first.push(rated);
      else endDoubts(rated);
    }
    const roundTripMs = Atomics.load(this.#words, control.roundTrip);
    const hasSlowed = this.#tickSome(first, now, roundTripMs);
    this.#sum(first);
    const probing = first.map(({ chunk, isPastHead }) => `${chunk.plan.id} ${isPastHead}`).join();
    const hosts = first.reduce((sum, { chunk }) => sum + chunk.hostCount, 0);
    const isOfOne = hasSlowed && hosts > 1 && hosts <= fewHosts;
    if (probing !== this.#probing) this.#isNew = true;
    if (probing !== this.#probing || isOfOne) this.#rounds.restart(now, this.#sums, 0);
    this.#probing = probing;
    const usual = this.#isNew ? null : this.usual;
    const round = first.length > 0 ? this.#rounds.tick(now, this.#sums, 0, roundTripMs, usual) : null;
    Atomics.store(this.#words, control.parity, this.#rounds.parity);
    if (!round) return;
    const { beganAt, sent, responses, ms } = round;
    this.#events.onRound({ sent, responses, ms, ageMs: now - beganAt, isNew: this.#isNew });
    this.#isNew = false;
  }

  /** Of the other ports another share responds than of the leading ones: it is learned at a rate that loses nothing. */
  #followHead(rated: RatedChunk, now: number): void {
    const isPastHead = Atomics.load(rated.chunk.control, word.isPastHead);
    if (isPastHead === rated.isPastHead) return;
    rated.isPastHead = isPastHead;
    this.#events.onPastHead();
    for (const [host, one] of rated.hosts.entries()) {
      if (!one) continue;
      one.usual = new UsualShare();
      one.rate.fallTo(rated.chunk.plan.adaptive?.bounds.start ?? one.rate.rate);
      one.rounds.restart(now, rated.shared, 2 * host);
      rated.shared.parities[host] = one.rounds.parity;
    }
  }

  /** @returns whether a host was slowed */
  #tickSome(chunks: readonly RatedChunk[], now: number, roundTripMs: number): boolean {
    let hasSlowed = false;
    let looked = 0;
    for (let left = chunks.length; left > 0 && looked < hostsPerTick; left--) {
      this.#turn = (this.#turn + 1) % chunks.length;
      const rated = chunks[this.#turn] as RatedChunk;
      looked += rated.chunk.hostCount;
      hasSlowed = this.#tickHosts(rated, now, roundTripMs) || hasSlowed;
    }
    return hasSlowed;
  }

  #sum(chunks: readonly RatedChunk[]): void {
    const { sent, responses } = this.#sums;
    sent.fill(0);
    responses.fill(0);
    for (const { shared } of chunks) {
      for (let parity = 0; parity < 2; parity++) {
        (sent[parity] as number) += shared.sent[shared.sent.length - 2 + parity] as number;
        (responses[parity] as number) += shared.responses[shared.responses.length - 2 + parity] as number;
      }
    }
  }

  /** @returns whether one was slowed */
  #tickHosts(rated: RatedChunk, now: number, roundTripMs: number): boolean {
    const { chunk, shared, hosts } = rated;
    let hasSlowed = false;
    for (let host = 0; host < chunk.hostCount; host++) {
      const known = hosts[host];
      if (!known && !hasResponded(shared, host)) continue;
      const one = known ?? newHost(chunk, shared, host, now);
      hosts[host] = one;
      const round = one.rounds.tick(now, shared, 2 * host, roundTripMs, one.usual.usual);
      const before = one.rate.shortAt;
      const verdict = round && one.rate.judge(round, one.usual);
      one.rate.doubt(one.rounds.isInDoubt);
      rated.hasDoubts ||= one.rounds.isInDoubt;
      if (verdict === 'slowed') {
        hasSlowed = true;
        const slowed = before === null ? slowedHost(one, host) : null;
        if (slowed) this.#events.onSlowed(chunk.plan.id, slowed);
        one.rounds.restart(now, shared, 2 * host);
      }
      shared.parities[host] = one.rounds.parity;
    }
    return hasSlowed;
  }
}

/** Responses of the first try are not waited for any more. */
function endDoubts(rated: RatedChunk): void {
  if (!rated.hasDoubts) return;
  for (const one of rated.hosts) one?.rate.doubt(false);
  rated.hasDoubts = false;
}

function newHost({ plan }: Chunk, shared: HostRates, host: number, now: number): RatedHost {
  const start = shared.rates[host] as number;
  const bounds = plan.adaptive?.bounds ?? { start, least: start, most: start };
  const rate = new AdaptiveRate({ ...bounds, start });
  rate.onChange = (perSecond) => {
    shared.rates[host] = Math.round(perSecond);
  };
  return { usual: new UsualShare(), rounds: new Rounds(now), rate };
}

function hasResponded({ responses }: HostRates, host: number): boolean {
  return responses[2 * host] !== 0;
}

function slowedHosts({ hosts }: RatedChunk): SlowedHost[] {
  return hosts.flatMap((one, host) => (one ? (slowedHost(one, host) ?? []) : []));
}

function slowedHost({ rate }: RatedHost, host: number): SlowedHost | null {
  const { shortAt, lowest } = rate;
  return shortAt === null ? null : { host, shortAt, lowest };
}
