import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { furtherShare } from '../../adaptive/late-responses.ts';
import type { RejectionKind } from '../engine/rejection-table.ts';
import { type ConnectShare, lateFlag, SharedPermutation, verdict } from './connect-chunk.ts';
import {
  type ConnectThreadStart,
  connectControl as control,
  type FromConnector,
  type ToConnector,
} from './connect-control.ts';
import { ConnectSockets, type Peer } from './connect-socket.ts';

/** Longest wait of an idle thread, milliseconds. */
const idleMs = 50;
/** Longest wait of a thread with work, milliseconds: interval of the timeout check. */
const expiryMs = 10;
/** Wait while other threads hold all socket slots, milliseconds. */
const placeMs = 5;
/** Attempts per turn before results are read. */
const attemptsAtOnce = 128;
/** Results are reported at this number, or after this time. */
const resultsAtOnce = 1024;
const resultsMs = 4;
/** A shortage of this machine (file handles, source ports) is waited out this long; then endpoints count as unsent. */
const shortageGiveUpMs = 5000;
/** Retry interval during a shortage, milliseconds; it doubles. */
const shortestShortageMs = 5;
/** Longest retry interval during a shortage, milliseconds. */
const longestShortageMs = 200;
/** Retries after a self-connection; each time the kernel picks another source port. */
const selfConnectionTries = 3;
/** The kernel retransmits a SYN every second (RFC 6298 section 2). */
const kernelRepeatMs = 1000;

const port = parentPort as NonNullable<typeof parentPort>;
const { control: shared, waker } = workerData as ConnectThreadStart;
const words = new Int32Array(shared);
const sockets = new ConnectSockets(waker);

const post = (message: FromConnector) => port.postMessage(message);

interface Task {
  endpoint: number;
  tryNumber: number;
}

interface Attempt extends Task {
  fd: number;
  host: number;
  port: number;
  startedAt: number;
  /** Parity of its round, of a first try. */
  parity: number;
  /** Repetitions of the SYN by the kernel. */
  repeats: number;
  sweep: Sweep;
}

/** This machine has no resources for a further attempt. */
interface Shortage {
  since: number;
  waitMs: number;
  until: number;
}

/** This thread's part of a chunk. */
class Sweep {
  readonly id: number;
  readonly walk: SharedPermutation;
  readonly #share: ConnectShare;
  readonly #addressBytes: number;
  /** In progress, oldest first. */
  readonly #quick = new Set<Attempt>();
  readonly #slow = new Set<Attempt>();
  /** To be retried. */
  #again: Task[] = [];
  readonly #selfConnections = new Map<number, number>();
  #endpoints: number[] = [];
  #verdicts: number[] = [];
  #rejections = new Map<number, RejectionKind>();
  #slowHosts: number[] = [];
  /** A retry brought a response. */
  #hasLate = false;
  /** Tries beyond the planned ones. */
  #further = 0;
  #reportedAt = performance.now();

  constructor(share: ConnectShare) {
    this.#share = share;
    this.id = share.plan.id;
    this.walk = new SharedPermutation(share);
    this.#addressBytes = share.plan.family === 4 ? 4 : 16;
  }

  get hasTask(): boolean {
    return !this.walk.stopped && (!this.walk.exhausted || this.#again.length > 0);
  }

  get isDone(): boolean {
    return this.walk.stopped || (!this.hasTask && this.#quick.size + this.#slow.size === 0);
  }

  nextTask(): Task | null {
    const fresh = this.walk.take();
    if (fresh) return fresh;
    for (;;) {
      const task = this.#again.pop();
      if (!task) return null;
      if (!this.walk.isDropped(this.#hostOf(task.endpoint))) return task;
    }
  }

  putBack(task: Task): void {
    this.#again.push(task);
  }

  /** @returns the errno name of a shortage if nothing was sent, or null */
  begin(task: Task): string | null {
    const { ports } = this.#share.plan;
    const host = this.#hostOf(task.endpoint);
    const to = ports[task.endpoint - host * ports.length] as number;
    const begun = sockets.begin(this.#peer(host, to));
    if ('shortage' in begun) return begun.shortage;
    if ('trouble' in begun) {
      this.unsent(task.endpoint, begun.trouble);
      releasePlace();
      giveBack();
      return null;
    }
    Atomics.add(words, control.sent, 1);
    const parity = Atomics.load(words, control.parity);
    if (task.tryNumber === 1) Atomics.add(words, control.firstSent + parity, 1);
    if ('verdict' in begun) {
      if (task.tryNumber === 1 && isResponse(begun.verdict)) noteResponse(parity, 0);
      this.#settle(task.endpoint, begun.verdict);
      releasePlace();
      return null;
    }
    const startedAt = performance.now();
    const attempt = { ...task, fd: begun.fd, host, port: to, startedAt, parity, repeats: 0, sweep: this };
    attempts.set(begun.fd, attempt);
    (this.walk.isSlow(host) ? this.#slow : this.#quick).add(attempt);
    return null;
  }

  /** Handles an event of an attempt. */
  end(attempt: Attempt): void {
    const { endpoint, fd, host } = attempt;
    const ended = sockets.end(fd, this.#peer(host, attempt.port));
    if (ended === null) return;
    this.#forget(attempt);
    if ('trouble' in ended) return this.unsent(endpoint, ended.trouble);
    if (ended.verdict === verdict.silent) return this.#silent(attempt);
    if (ended.itself) return this.#selfConnected(attempt);
    if (ended.rejection) this.#rejections.set(endpoint, ended.rejection);
    const isLate = attempt.tryNumber > 1 && isResponse(ended.verdict);
    this.#settle(endpoint, ended.verdict + (isLate ? lateFlag : 0));
    if (!isResponse(ended.verdict)) return;
    const latencyMs = performance.now() - attempt.startedAt;
    if (isLate) this.#hasLate = true;
    else noteResponse(attempt.parity, latencyMs);
    const isSlow = latencyMs > this.#share.plan.slowAnswerMs;
    if (isSlow && this.walk.markSlow(host)) this.#slowHosts.push(host);
  }

  /** Ends attempts that timed out. */
  expire(now: number): void {
    const { patienceMs, slowPatienceMs } = this.#share.plan;
    for (const attempt of this.#quick) {
      if (now - attempt.startedAt < patienceMs) break;
      this.#giveUp(attempt);
    }
    for (const attempt of this.#slow) {
      if (now - attempt.startedAt >= slowPatienceMs) this.#giveUp(attempt);
      else if (now - attempt.startedAt >= (attempt.repeats + 1) * kernelRepeatMs) {
        attempt.repeats += 1;
        Atomics.add(words, control.repeated, 1);
      }
    }
  }

  /** Ends attempts the kernel would continue by itself; they are repeated later. */
  hold(): void {
    for (const attempt of this.#slow) {
      this.#abandon(attempt);
      this.#again.push({ endpoint: attempt.endpoint, tryNumber: attempt.tryNumber });
    }
  }

  /** Ends attempts to hosts that must not be probed any more. */
  leaveDropped(): void {
    for (const attempt of [...this.#quick, ...this.#slow])
      if (this.walk.isDropped(attempt.host)) this.#abandon(attempt);
  }

  abandonAll(): void {
    for (const attempt of [...this.#quick, ...this.#slow]) this.#abandon(attempt);
  }

  /** Reports results, batched or at once. */
  report(now: number, atOnce: boolean): void {
    const count = this.#endpoints.length;
    const isDue = atOnce || count >= resultsAtOnce || now - this.#reportedAt >= resultsMs;
    if (!isDue) return;
    this.#reportedAt = now;
    if (count > 0) {
      const [endpoints, verdicts] = [Uint32Array.from(this.#endpoints), Uint8Array.from(this.#verdicts)];
      post({ type: 'settled', id: this.id, endpoints, verdicts, rejections: this.#rejections });
      this.#rejections = new Map();
      this.#endpoints = [];
      this.#verdicts = [];
    }
    if (this.#slowHosts.length > 0) post({ type: 'slow', id: this.id, hosts: this.#slowHosts.splice(0) });
  }

  get hasResults(): boolean {
    return this.#endpoints.length > 0;
  }

  #hostOf(endpoint: number): number {
    return Math.floor(endpoint / this.#share.plan.ports.length);
  }

  #peer(host: number, to: number): Peer {
    const { family, hosts, scopes, inOrder, egress } = this.#share.plan;
    const size = this.#addressBytes;
    const address = hosts.subarray(host * size, (host + 1) * size);
    return {
      family,
      address,
      scope: scopes[host] as number,
      port: to,
      inOrder: inOrder.includes(to),
      egress,
    };
  }

  #giveUp(attempt: Attempt): void {
    this.#abandon(attempt);
    this.#silent(attempt);
  }

  #silent({ endpoint, tryNumber }: Attempt): void {
    if (this.#isTriedAgain(tryNumber)) this.#again.push({ endpoint, tryNumber: tryNumber + 1 });
    else this.#settle(endpoint, verdict.silent);
  }

  #isTriedAgain(tryNumber: number): boolean {
    const { tries, furtherTries, hosts, ports } = this.#share.plan;
    if (tryNumber < tries) return true;
    if (!this.#hasLate || tryNumber >= tries + furtherTries) return false;
    this.#further += 1;
    return this.#further <= furtherShare * (hosts.length / this.#addressBytes) * ports.length;
  }

  #selfConnected({ endpoint, tryNumber }: Attempt): void {
    const times = (this.#selfConnections.get(endpoint) ?? 0) + 1;
    this.#selfConnections.set(endpoint, times);
    // The port belongs to this socket, so it has no listener.
    if (times >= selfConnectionTries) this.#settle(endpoint, verdict.closed);
    else this.#again.push({ endpoint, tryNumber });
  }

  unsent(endpoint: number, reason: string): void {
    this.#settle(endpoint, verdict.unsent);
    troubles.set(reason, (troubles.get(reason) ?? 0) + 1);
  }

  #settle(endpoint: number, outcome: number): void {
    this.#endpoints.push(endpoint);
    this.#verdicts.push(outcome);
  }

  #abandon(attempt: Attempt): void {
    this.#forget(attempt);
    sockets.close(attempt.fd, false);
  }

  #forget(attempt: Attempt): void {
    this.#quick.delete(attempt);
    this.#slow.delete(attempt);
    attempts.delete(attempt.fd);
    releasePlace();
  }
}

const sweeps: Sweep[] = [];
/** In progress, by descriptor. */
const attempts = new Map<number, Attempt>();
/** Attempts that could not be sent, by errno name, since the last report. */
const troubles = new Map<string, number>();
let shortage: Shortage | null = null;
let lookedAt = performance.now();
let wasHeld = false;

function isResponse(outcome: number): boolean {
  return outcome <= verdict.closed;
}

/** Of a first try. */
function noteResponse(parity: number, latencyMs: number): void {
  Atomics.add(words, control.firstResponses + parity, 1);
  const ms = Math.ceil(latencyMs);
  if (ms > Atomics.load(words, control.roundTrip)) Atomics.store(words, control.roundTrip, ms);
}

function takePlace(): boolean {
  if (Atomics.add(words, control.open, 1) < Atomics.load(words, control.most)) return true;
  releasePlace();
  return false;
}

function releasePlace(): void {
  Atomics.sub(words, control.open, 1);
}

function takeCredit(): boolean {
  const there = Atomics.sub(words, control.credits, 1);
  if (there <= 0) giveBack();
  const isLow = there - 1 <= Atomics.load(words, control.lowWater);
  if (isLow && Atomics.exchange(words, control.hungry, 1) === 0) post({ type: 'hungry' });
  return there > 0;
}

function giveBack(): void {
  Atomics.add(words, control.credits, 1);
}

/** Starts attempts. @returns milliseconds until more can start */
function begin(): number {
  for (let count = 0; count < attemptsAtOnce; count++) {
    const now = shortage ? performance.now() : 0;
    if (shortage && now < shortage.until) return shortage.until - now;
    const sweep = sweeps.find((each) => each.hasTask);
    if (!sweep || Atomics.load(words, control.held) === 1) return idleMs;
    if (!takePlace()) return attempts.size > 0 ? idleMs : placeMs;
    if (!takeCredit()) {
      releasePlace();
      return idleMs;
    }
    const task = sweep.nextTask();
    const lacking = task ? sweep.begin(task) : null;
    if (!task || lacking !== null) {
      releasePlace();
      giveBack();
    }
    if (task && lacking !== null) waitOut(sweep, task, lacking);
    else if (task) shortage = null;
  }
  return 0;
}

/** Waits out a temporary shortage. */
function waitOut(sweep: Sweep, task: Task, lacking: string): void {
  const now = performance.now();
  const { since, waitMs } = shortage ?? { since: now, waitMs: shortestShortageMs };
  shortage = { since, waitMs: Math.min(longestShortageMs, 2 * waitMs), until: now + waitMs };
  if (now - since > shortageGiveUpMs) sweep.unsent(task.endpoint, lacking);
  else sweep.putBack(task);
}

function receive(): void {
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (!received) return;
    sweeps.push(new Sweep((received.message as ToConnector).share));
  }
}

/** Ends attempts that timed out, and finished chunks. */
function tend(): void {
  const now = performance.now();
  const isHeld = Atomics.load(words, control.held) === 1;
  if (isHeld && !wasHeld) for (const sweep of sweeps) sweep.hold();
  wasHeld = isHeld;
  if (now - lookedAt >= expiryMs) {
    for (const sweep of sweeps) sweep.expire(now);
    lookedAt = now;
  }
  for (const sweep of sweeps) sweep.report(now, false);
  for (const sweep of sweeps.filter(({ isDone }) => isDone)) finish(sweep, now);
}

function finish(sweep: Sweep, now: number): void {
  sweep.abandonAll();
  sweep.report(now, true);
  sweeps.splice(sweeps.indexOf(sweep), 1);
  if (sweeps.length === 0) sockets.release();
  for (const [reason, count] of troubles) post({ type: 'trouble', reason, count });
  troubles.clear();
  post({ type: 'done', id: sweep.id });
}

function waitMs(restMs: number): number {
  if (sweeps.some((sweep) => sweep.hasResults)) return Math.min(restMs, resultsMs);
  return Math.min(restMs, attempts.size > 0 ? expiryMs : idleMs);
}

post({ type: 'ready' });
let wakeups = 0;
while (Atomics.load(words, control.stop) === 0) {
  const seen = Atomics.load(words, control.news);
  if (seen !== wakeups) {
    wakeups = seen;
    receive();
    for (const sweep of sweeps) sweep.leaveDropped();
  }
  const restMs = begin();
  for (const fd of sockets.wait(Math.ceil(waitMs(restMs)))) {
    const attempt = attempts.get(fd);
    attempt?.sweep.end(attempt);
  }
  tend();
}
for (const sweep of sweeps) sweep.abandonAll();
sockets.shut();
process.exit(0);
