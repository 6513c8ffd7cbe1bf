import type { ProbeRejection } from '../../domain/host.ts';
import {
  type Address,
  addressBytes,
  addressText,
  type Family,
  parseAddress,
} from '../../domain/targets/address.ts';
import type { Egress, SocketEgress } from '../egress.ts';
import { localTrouble } from '../failure.ts';
import type { UdpDatagram, UdpOutcome, UdpSweepOptions, UdpTask } from '../gate/gate.ts';
import type { PacketRateLimiter } from '../gate/rate.ts';
import { icmpMeaning } from '../icmp/icmp-meaning.ts';
import { ItemSource } from '../icmp/ping.ts';
import { scopeIdOf } from '../interface-index.ts';
import {
  type Datagram,
  datagramBatch,
  type IcmpError,
  type UdpEndpoint,
  type UdpPath,
  type UdpResponse,
} from '../packets/linux/udp-socket.ts';
import { PollTimer, runPolled } from '../polled-sweep.ts';
import { HostInterval } from './send-interval.ts';
import { ConnectedUdp } from './udp-connected.ts';
import { UdpSockets } from './udp-sockets.ts';

/** Hosts probed concurrently: each on its own is probed slowly. */
const hostWindow = 1024;

/** Maximum number of outstanding probes; bounds the memory of a sweep. */
const maxOutstanding = 16_384;

/** Interval of the timeout check. */
const expiryMs = 20;

/** How long a probe waits for kernel buffers: packets to hosts that do not reply to ARP occupy theirs for 3 s. */
const longestShortageMs = 5000;

/** Send pause after the kernel buffers were full. */
const shortagePauseMs = 5;

interface UdpRun extends UdpSweepOptions {
  rate: PacketRateLimiter;
  egress: Egress;
  /** The canonical address if it may be probed now, else null. */
  admit(host: string): string | null;
  /** Whether an endpoint belongs to this server. */
  isOwn(address: string, port: number): boolean;
  onSent(count: number): void;
  /** Called for each probe that could not be sent. */
  onUnsent(reason: string): void;
  onSpared(): void;
  /** Opens the transport for datagrams of a family; by default the best one of this system. */
  open?: (family: Family, egress: SocketEgress | null) => UdpPath | { unbound: string };
}

/** One socket for each host if its error queue is readable, else one for each endpoint. */
function openPath(family: Family, egress: SocketEgress | null): UdpPath | { unbound: string } {
  const sockets = UdpSockets.open(family, egress);
  return 'reason' in sockets ? new ConnectedUdp(family, egress) : sockets;
}

/**
 * UDP probes to the ports of every host, round-robin over hosts, each at a rate it can handle, all at the rate of the
 * gate. A silent port is retried; one timeout after the last try it is `open|filtered`.
 */
export function sweepUdp<T extends UdpTask>(
  tasks: AsyncIterable<T> | Iterable<T>,
  options: UdpRun,
): AsyncGenerator<UdpOutcome<T>, void, undefined> {
  return runPolled(new Sweep(tasks, options), options.signal);
}

/** A host in progress. */
interface Target<T> {
  task: T;
  host: string;
  path: UdpPath;
  /** Of the path: responses and errors count only if they reach it. */
  channel: number;
  address: Uint8Array;
  scopeId: number;
  key: string;
  pace: HostInterval;
  /** Probes without an outcome, by port. */
  open: Map<number, Probe<T>>;
  /** Probes that are due for another try. */
  again: Probe<T>[];
  /** The task has no further port. */
  exhausted: boolean;
  /** This machine could not send the last probe: no pace spares the host anything. */
  isCutOff: boolean;
}

interface Probe<T> extends Datagram {
  target: Target<T>;
  payloads: readonly UdpDatagram[];
  tries: number;
  attempt: number;
  /** Whether any try was sent. */
  sent: boolean;
  /** performance.now() of the last try. */
  sentAt: number;
  /** performance.now() of the next retry or the give-up; Infinity while it waits to be sent. */
  due: number;
  /** The last try was counted as silent already. */
  suspected: boolean;
  /** performance.now() since when the kernel buffers are full for it, or null. */
  blockedSince: number | null;
}

class Sweep<T extends UdpTask> {
  readonly timer = new PollTimer();
  #options: UdpRun;
  #source: ItemSource<T>;
  /** By family, and whether for addresses of this machine. */
  #paths = new Map<string, UdpPath | { unbound: string }>();
  #targets = new Map<string, Target<T>>();
  /** Targets with ports left, in turn. */
  #rotation: Target<T>[] = [];
  #turn = 0;
  #outstanding = 0;
  #ready: Probe<T>[] = [];
  #outcomes: UdpOutcome<T>[] = [];
  #isWaitingForTokens = false;
  /** performance.now() of the end of a send pause. */
  #sendAgainAt = 0;
  #lastExpiry = 0;
  #closed = false;

  constructor(tasks: AsyncIterable<T> | Iterable<T>, options: UdpRun) {
    this.#options = options;
    this.#source = new ItemSource(tasks, () => this.timer.wake());
  }

  get finished(): boolean {
    return this.#source.ended && this.#targets.size === 0 && this.#outcomes.length === 0;
  }

  *responses(): Generator<UdpOutcome<T>, void, undefined> {
    for (const path of this.#paths.values()) {
      if ('unbound' in path) continue;
      for (const response of path.answers()) this.#takeResponse(response, path);
      for (const error of path.errors()) this.#takeError(error, path);
    }
    yield* this.decisions();
  }

  *decisions(): Generator<UdpOutcome<T>, void, undefined> {
    while (this.#outcomes.length > 0) yield* this.#outcomes.splice(0);
  }

  /** Schedules retries of silent probes and gives up those out of retries. */
  expire(): void {
    const now = performance.now();
    if (now - this.#lastExpiry < expiryMs) return;
    this.#lastExpiry = now;
    for (const target of this.#targets.values()) this.#expireHost(target, now);
  }

  /** Picks the next probes of the hosts that may get one now. */
  fill(): void {
    this.#admitTasks();
    const now = performance.now();
    let passed = 0;
    while (this.#ready.length < datagramBatch && passed < this.#rotation.length) {
      this.#turn = (this.#turn + 1) % this.#rotation.length;
      const target = this.#rotation[this.#turn] as Target<T>;
      if (target.pace.isDue(now) && this.#pick(target, now)) passed = 0;
      else passed += 1;
    }
  }

  requestTokens(): void {
    if (this.#isWaitingForTokens || this.#ready.length === 0 || performance.now() < this.#sendAgainAt) return;
    this.#isWaitingForTokens = true;
    this.#options.rate.takeUpTo(this.#ready.length, this.#options.signal).then((granted) => {
      this.#isWaitingForTokens = false;
      if (granted > 0 && !this.#closed) this.#send(granted);
      this.timer.wake();
    });
  }

  close(): void {
    this.#closed = true;
    this.#source.close();
    for (const path of this.#paths.values()) if (!('unbound' in path)) path.close();
    this.#paths.clear();
  }

  #admitTasks(): void {
    while (this.#targets.size < hostWindow) {
      const task = this.#source.next();
      if (task === null) return;
      const target = this.#prepare(task);
      if (!target) continue;
      this.#targets.set(target.key, target);
      this.#rotation.push(target);
    }
  }

  #prepare(task: T): Target<T> | null {
    const host = this.#options.admit(task.host);
    const address = host === null ? null : parseAddress(host);
    if (host === null || !address) return this.#refuseAll(task, 'out_of_scope');
    const endpoint = { address: addressBytes(address), scopeId: scopeIdOf(address.zone) };
    const key = hostKey(endpoint);
    if (this.#targets.has(key)) return this.#refuseAll(task, 'asked_twice');
    const path = this.#pathTo(address);
    if ('unbound' in path) return this.#refuseAll(task, path.unbound, this.#options.onUnsent);
    const channel = path.enter();
    if (typeof channel !== 'number')
      return this.#refuseAll(task, localTrouble(channel.unbound), this.#options.onUnsent);
    return {
      task,
      host,
      path,
      channel,
      ...endpoint,
      key,
      pace: new HostInterval(task.ports * (1 + this.#options.retries)),
      open: new Map(),
      again: [],
      exhausted: false,
      isCutOff: false,
    };
  }

  #refuseAll(task: T, reason: string, onEach: (reason: string) => void = () => undefined): null {
    for (let port = task.nextPort(); port !== null; port = task.nextPort()) {
      onEach(reason);
      this.#outcomes.push({ task, port, state: 'not_tried', reason });
    }
    return null;
  }

  #pathTo(address: Address): UdpPath | { unbound: string } {
    const { egress, open = openPath } = this.#options;
    const refusal = egress.refusal(address);
    if (refusal !== null) return { unbound: refusal };
    const isLocal = egress.isLocal(address);
    const key = `${address.family} ${isLocal}`;
    const known = this.#paths.get(key);
    if (known) return known;
    const opened = open(address.family, egress.socket(address.family, isLocal));
    const path = 'unbound' in opened ? { unbound: localTrouble(opened.unbound) } : opened;
    this.#paths.set(key, path);
    return path;
  }

  /** Queues one probe of a host for sending; false if it has none now. */
  #pick(target: Target<T>, now: number): boolean {
    const probe = this.#nextAgain(target) ?? this.#fresh(target);
    if (!probe) return false;
    // Silence of a port that got a request of its protocol is meaningful, if no ICMP error was suppressed.
    if (!target.isCutOff) target.pace.spend(now, probe.payloads.length > 0);
    this.#ready.push(probe);
    return true;
  }

  #nextAgain(target: Target<T>): Probe<T> | undefined {
    for (;;) {
      const probe = target.again.shift();
      // Got a response meanwhile.
      if (!probe || target.open.get(probe.port) === probe) return probe;
    }
  }

  #fresh(target: Target<T>): Probe<T> | null {
    const room = Math.min(maxOutstanding, target.path.capacity);
    if (target.exhausted || this.#outstanding >= room) return null;
    const port = target.task.nextPort();
    if (port === null) {
      target.exhausted = true;
      this.#retire(target);
      return null;
    }
    const payloads = this.#options.payloads(port);
    const probe: Probe<T> = {
      target,
      address: target.address,
      scopeId: target.scopeId,
      channel: target.channel,
      port,
      payloads,
      bytes: nothing,
      tries: Math.max(1 + this.#options.retries, payloads.length),
      attempt: 0,
      sent: false,
      sentAt: 0,
      due: Infinity,
      suspected: false,
      blockedSince: null,
    };
    target.open.set(port, probe);
    this.#outstanding += 1;
    return probe;
  }

  /** Removes a host once every port has its outcome. */
  #retire(target: Target<T>): void {
    if (!target.exhausted || target.open.size > 0) return;
    if (!this.#targets.delete(target.key)) return;
    target.path.leave(target.channel);
    const at = this.#rotation.indexOf(target);
    if (at >= 0) this.#rotation.splice(at, 1);
  }

  #expireHost(target: Target<T>, now: number): void {
    const suspiciousAfterMs = target.pace.suspiciousAfterMs;
    for (const probe of target.open.values()) {
      if (!probe.suspected && probe.sent && now - probe.sentAt > suspiciousAfterMs) {
        probe.suspected = true;
        target.pace.stayedSilent();
      }
      if (probe.due > now) continue;
      if (probe.attempt < probe.tries) this.#tryAgain(probe);
      else this.#settle(probe, 'open|filtered', 'no-response');
    }
  }

  #tryAgain(probe: Probe<T>): void {
    probe.due = Infinity;
    probe.target.again.push(probe);
  }

  #send(granted: number): void {
    const batch = this.#ready.splice(0, granted).filter((probe) => this.#stillWanted(probe));
    for (const [path, group] of Map.groupBy(batch, ({ target }) => target.path)) this.#sendGroup(path, group);
    this.timer.noteActivity(performance.now());
  }

  /** No response meanwhile, and still in scope at the moment of sending. */
  #stillWanted(probe: Probe<T>): boolean {
    const { target, port } = probe;
    if (target.open.get(port) !== probe) return false;
    const host = this.#options.admit(target.host);
    if (host !== null && !this.#options.isOwn(host, port)) return true;
    if (host !== null) this.#options.onSpared();
    // Do not wait for a response to an earlier try.
    this.#settle(probe, 'not_tried', host === null ? 'out_of_scope' : 'own_listener');
    return false;
  }

  #sendGroup(path: UdpPath, group: Probe<T>[]): void {
    const now = performance.now();
    for (const probe of group) {
      probe.bytes = (probe.payloads[probe.attempt % probe.payloads.length] ?? { bytes: nothing }).bytes;
    }
    const { done, refused } = path.send(group);
    this.#options.onSent(done - refused.size);
    for (const [at, probe] of group.slice(0, done).entries()) {
      probe.attempt += 1;
      probe.due = now + this.#waitOf(probe);
      probe.blockedSince = null;
      const trouble = refused.get(at);
      probe.target.isCutOff = trouble !== undefined;
      if (trouble !== undefined) this.#noteTrouble(probe, trouble);
      else {
        probe.sent = true;
        probe.sentAt = now;
        probe.suspected = false;
      }
    }
    if (done < group.length) this.#holdBack(group.slice(done), now);
  }

  /** The kernel buffers are full: these go first later, or count as unsent. */
  #holdBack(probes: Probe<T>[], now: number): void {
    this.#sendAgainAt = now + shortagePauseMs;
    const waiting = probes.filter((probe) => {
      probe.blockedSince ??= now;
      return now - probe.blockedSince < longestShortageMs;
    });
    for (const probe of probes) if (!waiting.includes(probe)) this.#noteTrouble(probe, 'ENOBUFS');
    this.#ready.unshift(...waiting);
  }

  /** The last try gets a full timeout. */
  #waitOf({ attempt, tries }: Probe<T>): number {
    const { timeoutMs } = this.#options;
    return attempt >= tries ? timeoutMs : Math.max(1, timeoutMs / tries);
  }

  /** Further tries are useless; a response to an earlier one may still arrive. */
  #noteTrouble(probe: Probe<T>, code: string): void {
    const reason = localTrouble(code);
    this.#options.onUnsent(reason);
    if (probe.sent) probe.due = performance.now() + this.#options.timeoutMs;
    else this.#settle(probe, 'not_tried', reason);
    probe.attempt = probe.tries;
  }

  #takeResponse(response: UdpResponse, path: UdpPath): void {
    const target = this.#targetOf(response, path);
    const probe = target && (target.open.get(response.port) ?? probeOfOtherPort(target, response));
    if (!probe?.sent) return;
    this.#learn(probe, false);
    this.#settle(probe, 'open', 'udp-response');
  }

  #takeError(error: IcmpError, path: UdpPath): void {
    const probe = this.#targetOf(error, path)?.open.get(error.port);
    const reason = icmpMeaning(path.family, error);
    if (!probe?.sent || reason === null) return;
    const isClosed = reason === 'port-unreachable';
    // Only the host itself knows its ports; a router reports other obstacles (RFC 1122, 3.2.2.1; RFC 4443, 3.1).
    if (isClosed && !error.fromDestination) return;
    this.#learn(probe, isClosed);
    const { type, code, from } = error;
    const rejection = { reason, icmp: { type, code }, from: from && addressText(from) };
    this.#settle(probe, isClosed ? 'closed' : 'filtered', reason, rejection);
  }

  /** The host in progress, if the message has reached the channel from which it was probed. */
  #targetOf(from: UdpResponse | IcmpError, path: UdpPath): Target<T> | undefined {
    const target = this.#targets.get(hostKey(from));
    return target?.path === path && target.channel === from.channel ? target : undefined;
  }

  #learn(probe: Probe<T>, closed: boolean): void {
    const now = performance.now();
    this.timer.noteActivity(now);
    probe.target.pace.answered(now - probe.sentAt, closed);
  }

  #settle(probe: Probe<T>, state: UdpOutcome<T>['state'], reason: string, rejection?: ProbeRejection): void {
    const { target, port } = probe;
    target.open.delete(port);
    target.path.release(probe);
    this.#outstanding -= 1;
    this.#outcomes.push({ task: target.task, port, state, reason, ...(rejection && { rejection }) });
    this.#retire(target);
  }
}

const nothing = new Uint8Array(0);

/**
 * The probe to which a datagram from another port of its host responds: accepts only a protocol whose servers do so,
 * and only a datagram of that protocol. Late and repeated responses to other probes arrive at this socket too.
 */
function probeOfOtherPort<T>({ open }: Target<T>, { bytes }: UdpResponse): Probe<T> | undefined {
  const fitting = [...open.values()].filter(
    ({ sent, payloads }) =>
      sent && payloads.some(({ answersElsewhere, looksLike }) => answersElsewhere && looksLike?.(bytes)),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function hostKey({ address, scopeId }: Pick<UdpEndpoint, 'address' | 'scopeId'>): string {
  return `${Buffer.from(address).toString('latin1')}/${scopeId}`;
}
