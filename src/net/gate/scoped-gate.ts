import { invalidRequest } from '../../domain/errors.ts';
import { type Address, parseAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import type { Scope } from '../../domain/targets/scope.ts';
import { addTraffic, noTraffic, type ProbeErrorKind, type Traffic } from '../../domain/traffic.ts';
import { ConnectionRounds } from '../adaptive/connection-rounds.ts';
import type { AdaptiveRate } from '../adaptive/rate.ts';
import { Egress, type EgressChoice, egressProblem } from '../egress.ts';
import { notTried } from '../failure.ts';
import { neighborhood, sweepNeighbors } from '../icmp/neighbor-sweep.ts';
import { choosePingMethod, ping } from '../icmp/ping.ts';
import { loopClock } from '../loop-clock.ts';
import { synTimeoutMs } from '../tcp/attempt.ts';
import type { ConnectSweeper } from '../tcp/connect-sweep.ts';
import { dial } from '../tcp/dial.ts';
import type { ConnectJob, SweepOutcome, SynJob } from '../tcp/sweep-job.ts';
import type { SynSweeper } from '../tcp/syn-sweep.ts';
import { probeTcp } from '../tcp/tcp-probe.ts';
import { requestUdp } from '../udp/udp-request.ts';
import { sweepUdp } from '../udp/udp-sweep.ts';
import { admittedAddress } from './admitted-address.ts';
import type {
  DialOptions,
  DialResult,
  Neighborhood,
  NeighborResponse,
  NeighborSweepOptions,
  NetworkGate,
  PingOptions,
  PingResponse,
  PortObservation,
  ProbeOptions,
  ScanGate,
  Slowdown,
  UdpOutcome,
  UdpProbeOptions,
  UdpSweepOptions,
  UdpTask,
} from './gate.ts';
import { openFilesLimit } from './open-files-limit.ts';
import { PauseGate } from './pause-gate.ts';
import { errorKindOf, leftOutOf } from './probe-errors.ts';
import { PacketRateLimiter } from './rate.ts';
import { Slots } from './slots.ts';
import { SlowResponders, slowResponseMs } from './slow-responders.ts';
import { Slowdowns } from './slowdowns.ts';
import { suspendRate } from './suspend-rate.ts';

/** File handles reserved for everything except connections to targets. */
const reservedHandles = 64;

/** Connections of one scan when neither the option nor the system sets a lower limit. */
const defaultMaxConnections = 4096;

export interface GateOptions {
  /** Every address this scan may probe. */
  addresses: AddressSet;
  scope: Scope;
  /** Addresses to exclude. */
  blocklist?: AddressSet;
  /** The rate of the whole scan. */
  rate: PacketRateLimiter;
  /** Sets that rate by the responses; null = it is fixed. */
  adaptive?: AdaptiveRate | null;
  /** The way out of this machine; by default that of the routing table. */
  egress?: Partial<EgressChoice>;
  /** While it is closed nothing is sent and no connection stays open. */
  hold?: PauseGate;
  /** After it aborts nothing is sent any more, whatever a module requests. */
  signal?: AbortSignal;
  /** Endpoints of this server itself, to exclude. */
  isOwn?: (address: string, port: number) => boolean;
  /** Ports whose connections end by a FIN, not by a reset: their devices have few sessions and keep reset ones. */
  closesInOrder?: (port: number) => boolean;
  /** Maximum number of open connections; also limited by the file handles of the process. */
  maxConnections?: number;
}

/** The gate of one scan. */
export function createGate(options: GateOptions): ScanGate {
  const handles = openFilesLimit() - reservedHandles;
  const mostConnections = Math.max(1, Math.min(options.maxConnections ?? defaultMaxConnections, handles));
  const door = options.hold ?? new PauseGate();
  suspendRate(options.rate, door, options.signal);
  const admission: Admission = {
    addresses: options.addresses,
    admitted: options.addresses,
    admit: (host: string) => admittedAddress(host, admission.admitted, options),
    isOwn: options.isOwn ?? (() => false),
    closesInOrder: options.closesInOrder ?? (() => false),
    traffic: noTraffic(),
    spared: 0,
    slots: new Slots(mostConnections),
    mostConnections,
    slow: new SlowResponders(),
    unsent: new Map<string, number>(),
    adaptive: options.adaptive ?? null,
    rounds: options.adaptive ? new ConnectionRounds(options.adaptive) : null,
    slowed: new Slowdowns(),
    door,
    sweepers: new Set<SynSweeper | ConnectSweeper>(),
  };
  return new ScopedGate(admission, options.rate, new Egress(options.egress));
}

/** State shared by all views of one scan's gate. */
interface Admission {
  /** As planned. */
  addresses: AddressSet;
  /** The part that may still be probed. */
  admitted: AddressSet;
  admit(host: string): string | null;
  isOwn(address: string, port: number): boolean;
  closesInOrder(port: number): boolean;
  traffic: Traffic;
  spared: number;
  slots: Slots;
  mostConnections: number;
  /** Hosts with slow responses. */
  slow: SlowResponders;
  unsent: Map<string, number>;
  /** Sets the rate of the scan by the responses; null = it is fixed. */
  adaptive: AdaptiveRate | null;
  /** What it learns from connection attempts. */
  rounds: ConnectionRounds | null;
  slowed: Slowdowns;
  door: PauseGate;
  /** One per sweep method and rate. */
  sweepers: Set<SynSweeper | ConnectSweeper>;
}

class ScopedGate implements ScanGate {
  readonly addresses: AddressSet;
  readonly hasAdaptiveRate: boolean;
  #admission: Admission;
  #rate: PacketRateLimiter;
  readonly #egress: Egress;
  /** Loaded on demand: most scans do without them. */
  #sweeper: Promise<SynSweeper> | null = null;
  #connectSweeper: Promise<ConnectSweeper> | null = null;

  constructor(admission: Admission, rate: PacketRateLimiter, egress: Egress) {
    this.addresses = admission.addresses;
    this.hasAdaptiveRate = admission.adaptive !== null;
    this.#admission = admission;
    this.#rate = rate;
    this.#egress = egress;
  }

  /** What every sweep through this view gets: the limits of the scan, and its counters. */
  #sending() {
    const admission = this.#admission;
    return {
      rate: this.#rate,
      egress: this.#egress,
      admit: admission.admit,
      isOwn: admission.isOwn,
      onSent: (packets: number) => {
        admission.traffic.sent += packets;
      },
      onUnsent: (reason: string, count?: number) => this.#noteUnsent(reason, count),
      onSpared: () => {
        admission.spared += 1;
      },
    };
  }

  get packetsSent(): number {
    return this.traffic.sent;
  }

  get traffic(): Traffic {
    return this.#admission.traffic;
  }

  get unsent(): ReadonlyMap<string, number> {
    return this.#admission.unsent;
  }

  get slowed(): ReadonlyMap<string, Slowdown> {
    return this.#admission.slowed.hosts;
  }

  get reached(): { lowest: number; highest: number } | null {
    return this.#admission.adaptive;
  }

  get spared(): number {
    return this.#admission.spared;
  }

  narrow(permitted: (addresses: AddressSet) => AddressSet): bigint {
    const { admitted } = this.#admission;
    this.#admission.admitted = permitted(admitted).intersect(admitted);
    for (const sweeper of this.#admission.sweepers) sweeper.narrowed();
    return admitted.size - this.#admission.admitted.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#admission.sweepers].map((sweeper) => sweeper.close()));
  }

  synObstacle(signal: AbortSignal): Promise<string | null> {
    return this.#syn().then((sweeper) => sweeper.obstacle(signal));
  }

  async sweepSyn(job: SynJob): Promise<SweepOutcome[]> {
    const outcomes = await (await this.#syn()).sweep(job);
    for (const outcome of outcomes) {
      this.#noteSweep(outcome);
      this.#noteErrors('unsent', leftOutOf(outcome));
    }
    return outcomes;
  }

  /** A packet engine is a separate process, so it is started on demand. */
  #syn(): Promise<SynSweeper> {
    this.#sweeper ??= this.#newSynSweeper();
    return this.#sweeper;
  }

  async #newSynSweeper(): Promise<SynSweeper> {
    const { SynSweeper: Sweeper } = await import('../tcp/syn-sweep.ts');
    const admission = this.#admission;
    const sweeper = new Sweeper({
      ...this.#sending(),
      adaptive: admission.adaptive,
      onSlowed: (host, slowdown) => admission.slowed.note(host, slowdown),
      onRawPackets: (packets) => {
        admission.traffic = addTraffic(admission.traffic, { ...noTraffic(), raw: packets });
      },
    });
    admission.sweepers.add(sweeper);
    return sweeper;
  }

  connectObstacle(signal: AbortSignal): Promise<string | null> {
    return this.#connecting().then((sweeper) => sweeper.obstacle(signal));
  }

  async sweepConnect(job: ConnectJob): Promise<SweepOutcome[]> {
    const outcomes = await (await this.#connecting()).sweep(job);
    for (const outcome of outcomes) this.#noteSweep(outcome);
    return outcomes;
  }

  #connecting(): Promise<ConnectSweeper> {
    this.#connectSweeper ??= this.#newConnectSweeper();
    return this.#connectSweeper;
  }

  async #newConnectSweeper(): Promise<ConnectSweeper> {
    const { ConnectSweeper: Sweeper } = await import('../tcp/connect-sweep.ts');
    const admission = this.#admission;
    const sweeper = new Sweeper({
      ...this.#sending(),
      adaptive: admission.adaptive,
      slots: admission.slots,
      mostConnections: admission.mostConnections,
      door: admission.door,
      slowAnswerMs: slowResponseMs,
      isSlow: (host) => admission.slow.has(host),
      closesInOrder: admission.closesInOrder,
      onSlow: (host) => this.#admission.slow.note(host, Infinity),
    });
    admission.sweepers.add(sweeper);
    return sweeper;
  }

  async throughPauses<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { door } = this.#admission;
    for (;;) {
      const { times } = door;
      const result = await work();
      if (door.times === times || !(await door.released(signal))) return result;
    }
  }

  limitedTo(packetsPerSecond: number): NetworkGate {
    if (packetsPerSecond >= this.#rate.ceiling) return this;
    const rate = new PacketRateLimiter({ rate: packetsPerSecond, upstream: this.#rate });
    return new ScopedGate(this.#admission, rate, this.#egress);
  }

  through(chosen: Partial<EgressChoice>): NetworkGate {
    const given = Object.fromEntries(
      Object.entries(chosen).filter(([, value]) => value !== '' && value !== 0),
    );
    if (Object.keys(given).length === 0) return this;
    const choice = { ...this.#egress.choice, ...given };
    const problem = egressProblem(choice);
    if (problem) throw invalidRequest(`${problem.field}: ${problem.reason}`, [problem]);
    return new ScopedGate(this.#admission, this.#rate, new Egress(choice));
  }

  async probeTcp(host: string, port: number, options: ProbeOptions): Promise<PortObservation> {
    const opened = await this.#open(host, port, options.signal);
    if (typeof opened !== 'string') return opened;
    try {
      const pace = this.#pace(opened, options.timeoutMs, options.signal);
      // One probe is one SYN, unless the host is slow: callers retry for more.
      const timeoutMs = Math.min(options.timeoutMs, pace.synMs);
      const inOrder = this.#admission.closesInOrder(port);
      const observing = probeTcp(opened, port, { ...options, ...pace, timeoutMs, inOrder });
      const group = options.isLeading ? `${opened} leading` : opened;
      if (options.attempt) this.#admission.rounds?.follow(group, options.attempt, observing);
      const observation = await observing;
      this.#note(opened, observation);
      return observation;
    } finally {
      this.#admission.slots.release();
    }
  }

  async connect(host: string, port: number, options: DialOptions): Promise<DialResult> {
    const waitingSince = loopClock.now();
    const opened = await this.#open(host, port, options.signal);
    options.onWait?.(loopClock.now() - waitingSince);
    if (typeof opened !== 'string') return { failure: opened };
    const pace = this.#pace(opened, options.connectMs ?? options.deadlineMs, options.signal);
    const onError = (kind: ProbeErrorKind) => this.#noteErrors(kind, 1);
    const inOrder = this.#admission.closesInOrder(port);
    const result = await dial(opened, port, { ...options, ...pace, onError, inOrder });
    if ('failure' in result) this.#note(opened, result.failure);
    else this.#admission.slow.note(opened, result.connection.latencyMs);
    if (result.closed) result.closed.then(() => this.#admission.slots.release());
    else this.#admission.slots.release();
    return result;
  }

  ping(
    hosts: AsyncIterable<string> | Iterable<string>,
    options: PingOptions,
  ): AsyncGenerator<PingResponse, void, undefined> {
    return this.#noting(ping(hosts, { ...options, ...this.#sending(), adaptive: this.#admission.adaptive }));
  }

  async *sweepUdp<T extends UdpTask>(
    tasks: AsyncIterable<T> | Iterable<T>,
    options: UdpSweepOptions,
  ): AsyncGenerator<UdpOutcome<T>, void, undefined> {
    const outcomes = sweepUdp(tasks, { ...options, ...this.#sending() });
    for await (const outcome of outcomes) {
      const kind = errorKindOf(outcome);
      if (kind) this.#noteErrors(kind, 1);
      yield outcome;
    }
  }

  async askUdp(
    host: string,
    port: number,
    request: Uint8Array,
    options: UdpProbeOptions,
  ): Promise<Buffer | null> {
    const opened = await this.#open(host, port, options.signal);
    if (typeof opened !== 'string') return null;
    try {
      const again = async () => (await this.#again(options.signal)) && this.#admission.admit(opened) !== null;
      const egress = this.#egressTo(opened);
      return await requestUdp(opened, port, request, {
        ...options,
        door: this.#admission.door,
        again,
        egress,
      });
    } finally {
      this.#admission.slots.release();
    }
  }

  neighborhood(interfaceName: string | null): Neighborhood {
    return neighborhood(this.#admission.admitted, interfaceName ?? (this.#egress.choice.interface || null));
  }

  sweepNeighbors(
    hosts: Iterable<string>,
    options: NeighborSweepOptions,
  ): AsyncGenerator<NeighborResponse, void, undefined> {
    return this.#noting(sweepNeighbors(hosts, { ...options, ...this.#sending() }));
  }

  async *#noting<R extends { host: string; latencyMs: number }>(
    responses: AsyncIterable<R>,
  ): AsyncGenerator<R, void, undefined> {
    for await (const response of responses) {
      this.#admission.slow.note(response.host, response.latencyMs);
      yield response;
    }
  }

  pingMethod(): { method: 'raw' | 'datagram' | 'none'; reason: string } {
    const families = new Set(this.addresses.intervals.map((interval) => interval.family));
    const methods = [...families].map((family) => choosePingMethod(family, this.#egress));
    return methods.find(({ method }) => method !== 'none') ?? methods[0] ?? choosePingMethod(4, this.#egress);
  }

  /** Takes a slot and a token for one packet; returns the canonical address, or why nothing may be sent. */
  async #open(host: string, port: number, signal: AbortSignal): Promise<string | PortObservation> {
    const { admit, slots } = this.#admission;
    if (signal.aborted) return notTried('canceled');
    const admitted = admit(host);
    if (admitted === null) return notTried('out_of_scope');
    const refusal = this.#egress.refusal(parseAddress(admitted) as Address);
    if (refusal !== null) {
      this.#noteUnsent(refusal);
      return notTried(refusal);
    }
    if (this.#admission.isOwn(admitted, port)) {
      this.#admission.spared += 1;
      return notTried('own_listener');
    }
    if (!slots.tryAcquire() && !(await slots.acquire(signal))) return notTried('canceled');
    if (!(await this.#again(signal))) {
      slots.release();
      return notTried('canceled');
    }
    // The wait may have been long: what counts is the scope at the moment of connecting.
    const address = admit(host);
    if (address !== null) return address;
    slots.release();
    return notTried('out_of_scope');
  }

  /** How the SYNs of one attempt are sent; counts each, including those the kernel repeats itself. */
  #pace(host: string, timeoutMs: number, signal: AbortSignal) {
    return {
      synMs: this.#admission.slow.has(host) ? timeoutMs : Math.min(timeoutMs, synTimeoutMs),
      door: this.#admission.door,
      egress: this.#egressTo(host),
      again: async () => (await this.#again(signal)) && this.#admission.admit(host) !== null,
      onRepeat: () => {
        this.#rate.charge();
        this.#admission.traffic.sent += 1;
      },
    };
  }

  #egressTo(host: string) {
    return this.#egress.connectionTo(parseAddress(host) as Address);
  }

  #note(host: string, observation: PortObservation): void {
    const { state, reason, latencyMs } = observation;
    const kind = errorKindOf(observation);
    if (kind) this.#noteErrors(kind, 1);
    if (state === 'not_tried') {
      if (reason !== 'canceled') this.#noteUnsent(reason);
    } else if (state !== 'filtered') this.#admission.slow.note(host, latencyMs);
  }

  #noteUnsent(reason: string, count = 1): void {
    const { unsent } = this.#admission;
    unsent.set(reason, (unsent.get(reason) ?? 0) + count);
    this.#noteErrors('unsent', count);
  }

  #noteErrors(kind: ProbeErrorKind, count: number): void {
    this.#admission.traffic.errors[kind] += count;
  }

  #noteSweep({ closed, filtered, rejected = 0 }: SweepOutcome): void {
    this.#noteErrors('refused', closed);
    this.#noteErrors('unreachable', rejected);
    this.#noteErrors('timeout', filtered - rejected);
  }

  /** A token for one more packet. */
  async #again(signal: AbortSignal): Promise<boolean> {
    if (!this.#rate.tryTake() && !(await this.#rate.take(signal))) return false;
    this.#admission.traffic.sent += 1;
    return true;
  }
}
