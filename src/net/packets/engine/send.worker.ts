import { flushCompileCache } from 'node:module';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { cookie, halfSipHash } from '../frame/cookie.ts';
import type { EndpointOrder } from '../frame/endpoint-order.ts';
import { SynBatch, synsAtOnce } from '../frame/syn-batch.ts';
import { Carrier } from './carrier.ts';
import { Chunk, type ChunkPlan, clockMs, sentTick, word } from './chunk.ts';
import { control, type FromSender, type ThreadStart, type ToSender } from './engine-control.ts';
import { HostQueues } from './host-queues.ts';

/** Longest wait of an idle thread, the cost of a missed wake-up. */
const idleMs = 20;
/** Maximum number of positions per turn of a chunk: skipping complete ones takes time too. */
const countersAtOnce = 65_536;

const port = parentPort as NonNullable<typeof parentPort>;
const { control: shared, key, ownPort } = workerData as ThreadStart;
const words = new Int32Array(shared);

const post = (message: FromSender) => port.postMessage(message);

/** Minimum interval between two marks of the progress of the last try, milliseconds. */
const markMs = 20;

/** Lifetime of unused credits for a host, milliseconds: more would be a burst. */
const allowanceMs = 20;

/** Wait for hosts that may get no more now, milliseconds. */
const restMs = 2;
/** Packets of further tries, at most, as a share of those before; and of the silent endpoints, those that responded. */
const furtherShare = 0.2;
const worthShare = 0.02;

/** The state of one chunk during its passes. */
class Sweep {
  readonly chunk: Chunk;
  readonly #plan: ChunkPlan;
  readonly #batch: SynBatch;
  readonly #carrier: Carrier | null;
  readonly #hashes: Int32Array;
  readonly #spared: ReadonlySet<number>;
  readonly #order: EndpointOrder;
  #counter: number;
  #try: number;
  /** Packets that the rates of the single hosts allow now; the permutation spreads them evenly. */
  #allowance = 0;
  #allowedAt = performance.now();
  /** When a pass ended and the wait for the next one, or the end, started. */
  #waitsSince: number | null = null;
  /** Progress of the last try over time (`performance.now`): those whose responses may still arrive. */
  readonly #marks: { at: number; counter: number }[] = [];
  /** The previous try was waited for completely, and nothing responded. */
  #afterSilence = false;
  /** Only if the rate of each host adapts. */
  readonly #queues: HostQueues | null;
  /** Packets so far, those of further tries among them, and late responses at the start of this try. */
  #sent = 0;
  #sentFurther = 0;
  #lateBefore = 0;

  constructor(plan: ChunkPlan, memory: SharedArrayBuffer) {
    this.chunk = new Chunk(plan, memory);
    this.#plan = plan;
    this.#batch = new SynBatch(plan, ownPort);
    this.#carrier = plan.rung === 'frame' ? Carrier.of(plan.link) : null;
    const addressBytes = plan.family === 4 ? 4 : 16;
    this.#hashes = Int32Array.from({ length: this.chunk.hostCount }, (_, host) =>
      halfSipHash(key, plan.hosts, host * addressBytes, addressBytes),
    );
    this.#spared = new Set(plan.spared);
    this.#order = this.chunk.order;
    const counter = this.chunk.control[word.counter] as number;
    this.#try = this.chunk.tryAt(counter);
    this.#counter = counter - (this.#try - 1) * this.chunk.walkLength;
    this.#queues = this.#restoredQueues();
  }

  #restoredQueues(): HostQueues | null {
    const { hostRates, endpoints } = this.chunk;
    if (!hostRates) return null;
    const queues = new HostQueues(hostRates.rates, endpoints, performance.now());
    if (!this.#plan.restored?.waiting) return queues;
    const ports = this.#plan.ports.length;
    for (let endpoint = 0; endpoint < endpoints; endpoint++)
      if (hostRates.isWaiting(endpoint)) queues.push(Math.floor(endpoint / ports), endpoint);
    return queues;
  }

  /** @returns what to do with the chunk, or milliseconds until there is something to do */
  turn(): 'again' | 'done' | number {
    const isConnected = this.#carrier?.isThere() !== false;
    if (isConnected) this.#show();
    if (this.#isOver()) return 'done';
    // Responses do not arrive either: pending endpoints are not silent yet.
    if (!isConnected) return idleMs;
    if (this.#counter < this.#order.length || this.#hasQueues)
      return this.#queues ? this.#sendRated(this.#queues) : this.#send();
    return this.#wait();
  }

  close(): void {
    this.#batch.close();
  }

  /** Probes that could not be sent, by errno name. */
  get unsent(): ReadonlyMap<string, number> {
    return this.#batch.unsent;
  }

  get #hasQueues(): boolean {
    return this.#queues !== null && this.#queues.size > 0;
  }

  #isOver(): boolean {
    const { control: own, endpoints } = this.chunk;
    return Atomics.load(own, word.stop) === 1 || Atomics.load(own, word.settled) >= endpoints;
  }

  /** Sends as many probes as there are credits, at most one batch. */
  #send(): 'again' | number {
    const allowed = Math.min(synsAtOnce, this.#allowed());
    if (allowed === 0) return 1;
    const credits = takeCredits(allowed);
    if (credits === 0) return idleMs;
    const count = this.#fill(credits);
    this.#transmit(count);
    // Count only sent packets; return the rest of the credits.
    giveBack(credits - count);
    this.#allowance -= count;
    return 'again';
  }

  /** The same where each host gets what it bears: endpoints of a host that may get no more now wait. */
  #sendRated(queues: HostQueues): 'again' | number {
    const there = Atomics.load(words, control.credits);
    if (there <= Atomics.load(words, control.lowWater)) askForCredits();
    if (there <= 0) return idleMs;
    const credits = Math.min(synsAtOnce, there);
    const now = performance.now();
    const count = this.#fillRated(queues, this.#fillQueued(queues, 0, credits, now), credits, now);
    // Another sender may have taken some in between: the next grant makes up for it.
    Atomics.sub(words, control.credits, count);
    this.#transmit(count);
    return count > 0 || (this.#counter < this.#order.length && !queues.isFull) ? 'again' : restMs;
  }

  #transmit(count: number): void {
    const { crowded } = this.#batch;
    const failed = this.#batch.send(count);
    const sent = count - failed.length;
    Atomics.add(words, control.sent, sent);
    if (this.#batch.crowded > crowded) Atomics.add(words, control.crowded, 1);
    if (this.#try > 1) Atomics.add(words, control.retransmitted, sent);
    this.#sent += sent;
    if (this.#try > this.#plan.tries) this.#sentFurther += sent;
    for (const endpoint of failed) this.#note(endpoint);
    Atomics.add(this.chunk.control, word.sent, count);
    this.#mark();
    if (this.#counter >= this.#order.length && !this.#hasQueues) this.#waitsSince = clockMs();
  }

  #mark(): void {
    if (this.#try < this.#plan.tries) return;
    const at = performance.now();
    const before = this.#marks.at(-1);
    if (before && at - before.at < markMs && this.#counter < this.#order.length) return;
    this.#marks.push({ at, counter: this.#reached });
  }

  /** Not the end of the try while endpoints wait that it has passed over. */
  get #reached(): number {
    return this.#hasQueues ? Math.min(this.#counter, this.#order.length - 1) : this.#counter;
  }

  /** Publishes the progress for a checkpoint. A kill loses the responses still on their way. */
  #show(): void {
    if (this.#try < this.#plan.tries) return this.#storeCounter(this.#reached);
    const until = performance.now() - this.#lateMs();
    let past: number | null = null;
    while (this.#marks[0] && this.#marks[0].at <= until) past = this.#marks.shift()?.counter ?? null;
    if (past !== null) this.#storeCounter(past);
  }

  /** One word contains the try too: a reader never sees one of the two without the other. */
  #storeCounter(counter: number): void {
    Atomics.store(this.chunk.control, word.counter, (this.#try - 1) * this.chunk.walkLength + counter);
  }

  #allowed(): number {
    const { hostRate } = this.#plan;
    if (hostRate === 0) return synsAtOnce;
    const now = performance.now();
    const perMs = (hostRate * this.chunk.hostCount) / 1000;
    const most = Math.max(1, perMs * allowanceMs);
    this.#allowance = Math.min(most, this.#allowance + (now - this.#allowedAt) * perMs);
    this.#allowedAt = now;
    return Math.floor(this.#allowance);
  }

  #fill(most: number): number {
    const { chunk } = this;
    const ports = this.#plan.ports.length;
    const end = Math.min(this.#order.length, this.#counter + countersAtOnce);
    const tick = sentTick(clockMs());
    let count = 0;
    let counter = this.#counter;
    for (; counter < end && count < most; counter++) {
      const endpoint = this.#order.at(counter);
      if (endpoint < 0) continue;
      const host = Math.floor(endpoint / ports);
      if (chunk.isSettled(endpoint)) {
        // Another chunk probed it too, and got the response first.
        if (this.#try === 1 && !this.#spared.has(endpoint)) (chunk.counts.probed[host] as number)++;
        continue;
      }
      if (chunk.dropped[host] === 1) continue;
      this.#put(count++, endpoint, host, tick);
    }
    this.#moveTo(counter);
    return count;
  }

  #moveTo(counter: number): void {
    const { head } = this.#order;
    if (this.#try === 1 && this.#counter < head && counter >= head)
      Atomics.store(this.chunk.control, word.isPastHead, 1);
    this.#counter = counter;
  }

  #put(place: number, endpoint: number, host: number, tick: number): void {
    const { chunk } = this;
    const number = endpoint - host * this.#plan.ports.length;
    const to = this.#plan.ports[number] as number;
    // The same number at each try: a host with a half-open connection responds to a different one with a reset.
    const sequence = cookie(key, this.#hashes[host] as number, (to << 16) | ownPort);
    this.#batch.put(place, endpoint, host, number, sequence);
    chunk.sentAt[endpoint] = tick;
    if (this.#try === 1) (chunk.counts.probed[host] as number)++;
  }

  /** Probes that have waited. @returns the number of probes in the batch */
  #fillQueued(queues: HostQueues, from: number, most: number, now: number): number {
    const { chunk } = this;
    const tick = sentTick(clockMs());
    let count = from;
    for (let at = queues.queues - 1; at >= 0 && count < most; at--) {
      const host = queues.queuedHost(at);
      while (count < most) {
        const endpoint = queues.peek(host);
        const isOver = chunk.isSettled(endpoint) || chunk.dropped[host] === 1;
        if (!isOver && !queues.take(host, now)) break;
        if (isOver) this.#passOver(endpoint, host);
        else this.#putRated(count++, endpoint, host, tick);
        if (!queues.drop(at)) break;
      }
    }
    return count;
  }

  #passOver(endpoint: number, host: number): void {
    this.chunk.hostRates?.setWaiting(endpoint, false);
    // Another chunk probed it too, and got the response first.
    if (this.#try === 1 && this.chunk.isSettled(endpoint)) (this.chunk.counts.probed[host] as number)++;
  }

  #putRated(place: number, endpoint: number, host: number, tick: number): void {
    const { hostRates } = this.chunk;
    // In the last try it waits for the response too: a kill loses those on their way.
    if (this.#try < this.#plan.tries) hostRates?.setWaiting(endpoint, false);
    if (this.#try === 1) hostRates?.noteSent(endpoint, host, Atomics.load(words, control.parity));
    this.#put(place, endpoint, host, tick);
  }

  #fillRated(queues: HostQueues, from: number, most: number, now: number): number {
    const { chunk } = this;
    const ports = this.#plan.ports.length;
    const end = Math.min(this.#order.length, this.#counter + countersAtOnce);
    const tick = sentTick(clockMs());
    let count = from;
    let counter = this.#counter;
    for (; counter < end && count < most && !queues.isFull; counter++) {
      const endpoint = this.#order.at(counter);
      if (endpoint < 0) continue;
      const host = Math.floor(endpoint / ports);
      if (chunk.isSettled(endpoint)) {
        if (this.#try === 1 && !this.#spared.has(endpoint)) (chunk.counts.probed[host] as number)++;
        continue;
      }
      if (chunk.dropped[host] === 1) continue;
      // After a kill some wait already.
      if (chunk.hostRates?.isWaiting(endpoint)) continue;
      if (!queues.hasQueue(host) && queues.take(host, now)) {
        this.#putRated(count++, endpoint, host, tick);
        continue;
      }
      chunk.hostRates?.setWaiting(endpoint, true);
      queues.push(host, endpoint);
    }
    this.#moveTo(counter);
    return count;
  }

  /** A probe that could not be sent: its endpoint stays unknown. */
  #note(endpoint: number): void {
    const host = Math.floor(endpoint / this.#plan.ports.length);
    if (this.chunk.settle(endpoint)) (this.chunk.counts.unsent[host] as number)++;
  }

  #wait(): 'again' | 'done' | number {
    const left = this.#waitMs() - ((clockMs() - (this.#waitsSince as number)) & 0x7fffffff);
    if (left > 0) return left;
    if (this.#try >= this.#plan.tries && !this.#isWorthATry()) {
      this.#storeCounter(this.#order.length);
      return 'done';
    }
    this.#afterSilence = Atomics.load(words, control.roundTrip) < 0;
    this.#try += 1;
    Atomics.store(this.chunk.control, word.try, this.#try);
    this.#counter = 0;
    this.#marks.length = 0;
    this.chunk.hostRates?.waiting.fill(0);
    this.#waitsSince = null;
    this.#lateBefore = this.#late;
    return 'again';
  }

  get #late(): number {
    let late = 0;
    for (const count of this.chunk.late) late += count;
    return late;
  }

  /** The last try brought responses, and what stays silent is little beside what was sent. */
  #isWorthATry(): boolean {
    const { tries, furtherTries = 0 } = this.#plan;
    if (tries === 1 || this.#try >= tries + furtherTries) return false;
    const { endpoints, control: own } = this.chunk;
    const silent = endpoints - Atomics.load(own, word.settled);
    const most = furtherShare * (this.#sent - this.#sentFurther) - this.#sentFurther;
    return silent <= most && this.#late - this.#lateBefore >= Math.max(1, worthShare * silent);
  }

  /**
   * Twice the longest observed round trip, and some time for a busy machine. Between tries the minimum wait doubles:
   * a host repeats a lost response at most twice a second.
   */
  #waitMs(): number {
    const { between, final, most } = this.#plan.waits;
    const roundTrip = Atomics.load(words, control.roundTrip);
    if (roundTrip < 0) return most;
    const least = this.#try >= this.#plan.tries ? final : between * 2 ** (this.#try - 1);
    return Math.min(most, Math.max(least, 2 * roundTrip + 50));
  }

  /** Age of a probe of the last try from which a checkpoint may call it silent. */
  #lateMs(): number {
    const { final, most, known } = this.#plan.waits;
    const hasRoundTrip = Atomics.load(words, control.roundTrip) >= 0;
    return !hasRoundTrip && (known || this.#afterSilence) ? Math.min(most, final) : this.#waitMs();
  }
}

/** Once until they arrive. */
function askForCredits(): void {
  if (Atomics.exchange(words, control.hungry, 1) === 0) post({ type: 'hungry' });
}

function takeCredits(most: number): number {
  let there = Atomics.load(words, control.credits);
  let taken = 0;
  // Another sender may take some of them in between.
  for (;;) {
    taken = Math.min(most, Math.max(0, there));
    const before = Atomics.compareExchange(words, control.credits, there, there - taken);
    if (before === there) break;
    there = before;
  }
  const isLow = there - taken <= Atomics.load(words, control.lowWater);
  if (isLow) askForCredits();
  return taken;
}

function giveBack(count: number): void {
  if (count > 0) Atomics.add(words, control.credits, count);
}

const sweeps: Sweep[] = [];

function receive(): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (!received) return;
    const { plan, memory } = received.message as ToSender;
    try {
      sweeps.push(new Sweep(plan, memory));
    } catch (error) {
      post({ type: 'failed', id: plan.id, reason: (error as Error).message, unsent: new Map() });
    }
  }
}

/**
 * Runs a turn of the first chunk that can send: while the others wait for responses it sends, so they do not all wait
 * at the same time.
 * @returns milliseconds until there is something to do
 */
function round(): number {
  let rest = idleMs;
  for (const sweep of sweeps.slice()) {
    const { id } = sweep.chunk.plan;
    try {
      const next = sweep.turn();
      if (next === 'again') return 0;
      if (next === 'done') end(sweep, { type: 'done', id, unsent: sweep.unsent });
      rest = Math.min(rest, typeof next === 'number' ? next : 0);
    } catch (error) {
      end(sweep, { type: 'failed', id, reason: (error as Error).message, unsent: sweep.unsent });
    }
  }
  return rest;
}

function end(sweep: Sweep, message: FromSender): void {
  sweeps.splice(sweeps.indexOf(sweep), 1);
  sweep.close();
  post(message);
}

// The process is terminated: flush the compile cache before.
flushCompileCache();
while (Atomics.load(words, control.stop) === 0) {
  const seen = Atomics.load(words, control.wake);
  receive();
  const rest = round();
  if (rest > 0) Atomics.wait(words, control.wake, seen, rest);
}
process.exit(0);
