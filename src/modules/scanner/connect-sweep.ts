import type { Host, Port, PortCounts, RejectedPorts } from '../../domain/host.ts';
import { closedPorts, maxNamedPorts, Rejections } from '../../domain/port-reasons.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import type { OptionValues } from '../../engine/options.ts';
import { onAbort } from '../../net/abort.ts';
import { mostConcurrency } from '../../net/adaptive/concurrency.ts';
import { furtherShare, furtherTries } from '../../net/adaptive/late-responses.ts';
import type { NetworkGate, PortObservation } from '../../net/gate/gate.ts';
import { type PermutationKey, randomPermutationKey } from '../../net/packets/frame/permutation.ts';
import { dropsProbes, type SweepJob, type SweepOutcome } from '../../net/tcp/sweep-job.ts';
import type { IteratorState } from '../address-iterator.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';
import { EarlierHosts } from './earlier-hosts.ts';
import { HostBatches } from './host-batches.ts';
import { type HostSource, hostSource, type SweepRecord } from './host-source.ts';
import { HostTurns, type TurningHost } from './host-turns.ts';
import { PortOrder } from './port-order.ts';
import { likelyFirst, plannedTcpPorts } from './port-plan.ts';
import type { scanOptions } from './scan-options.ts';
import { SlicedScan, type SlicedScanState } from './sliced-scan.ts';
import { connectSlowly, errorOfPort, isSilence } from './slow-connections.ts';
import { maxSlowHosts, maxSlowProbes, type SlowProbe, SlowRetry, type SlowRetryState } from './slow-retry.ts';
import { SweepLanes } from './sweep-lanes.ts';
import { acceptsEveryPort, beganToAccept } from './tarpit.ts';

/** Packets per second up to which sockets of Node.js perform about as well as threads, which take 30 MB more. */
const socketRate = 20_000;

/** Number of pairs up to which a sweep at an adaptive rate has ended before threads have started. */
const fewPairs = 1000;

/** Pairs between two progress reports. */
const progressStep = 50;

type SweepContext = Omit<ExecContext, 'options'> & { options: OptionValues<typeof scanOptions> };

/** A resumed sweep keeps the method of its first run. */
export type ConnectState = { pieces: SlicedScanState } | { pairs: SweepState };

/**
 * Sweeps the planned TCP ports of the hosts by full connections.
 * @param restored state of an interrupted run, or null
 * @param onWay called with the method of the connections and its reason
 */
export async function sweepByConnect(
  ctx: SweepContext,
  data: DataContext,
  restored: ConnectState | null,
  keep: (state: () => ConnectState) => void,
  onWay: (way: string) => void = () => undefined,
): Promise<void> {
  const net = ctx.net.limitedTo(ctx.options.rate);
  const before = restored && 'pieces' in restored ? restored.pieces : null;
  const inPairs = restored !== null && 'pairs' in restored;
  const obstacle = inPairs ? 'the scan started with them' : await whyNotThreads(net, ctx, before !== null);
  if (obstacle === null) {
    onWay('connections by threads: epoll is available');
    return await sweepPieces(ctx, data, net, before, keep);
  }
  onWay(`connections by socket objects: ${obstacle}`);
  await sweepPairs(ctx, data, net, inPairs ? restored.pairs : null, keep);
}

async function whyNotThreads(net: NetworkGate, ctx: SweepContext, begun: boolean): Promise<string | null> {
  const { rate } = ctx.options;
  if (rate <= socketRate && !begun) return `they suffice for ${rate} packets per second`;
  const pairs = ctx.net.addresses.size * BigInt(plannedTcpPorts(ctx.options).length);
  if (net.hasAdaptiveRate && pairs <= fewPairs && !begun)
    return `they suffice for ${pairs} pairs of host and port`;
  return await net.connectObstacle(ctx.signal);
}

/** By threads with thousands of concurrent connections. */
async function sweepPieces(
  ctx: SweepContext,
  data: DataContext,
  net: NetworkGate,
  before: SlicedScanState | null,
  keep: (state: () => ConnectState) => void,
): Promise<void> {
  // Sockets of a sweep burden nobody while they wait, and those that are accepted close at once: the rate sets the pace.
  const concurrency = ctx.options.concurrency || mostConcurrency;
  const knownUp = data.has('discovered_hosts');
  const ports = plannedTcpPorts(ctx.options);
  const hosts = knownUp
    ? HostBatches.discovered(data.stream<Host>('discovered_hosts'), ports.length)
    : HostBatches.of(ctx.net.addresses, before?.walk ?? null, ports.length);
  const sweep = (job: SweepJob, _side: number, hostRate?: number) =>
    hostRate === undefined ? net.sweepConnect({ ...job, concurrency }) : sweepSlowly(net, job, hostRate);
  const scan = new SlicedScan({ ctx, data, sweep, ports, hosts, knownUp, before });
  keep(() => ({ pieces: scan.state() }));
  await scan.run();
}

/** Retries the silent ports of one host, by sockets. */
async function sweepSlowly(net: NetworkGate, job: SweepJob, perSecond: number): Promise<SweepOutcome[]> {
  const { timeoutMs, signal, onOpen } = job;
  const sweepOne = async ({ ip: host }: SweepJob['hosts'][number]) =>
    await connectSlowly(
      net,
      {
        host,
        ports: [...job.ports],
        perSecond,
        timeoutMs,
        signal,
        onOpen: (port, reason) => onOpen(host, port, reason),
      },
      job,
    );
  return await Promise.all(job.hosts.map(sweepOne));
}

/** By sockets of Node.js, on any platform. */
async function sweepPairs(
  ctx: SweepContext,
  data: DataContext,
  net: NetworkGate,
  restored: SweepState | null,
  keep: (state: () => ConnectState) => void,
): Promise<void> {
  const sweep = new Sweep(ctx, data, restored, {
    ports: plannedTcpPorts(ctx.options),
    ...hostSource(ctx, data, restored?.walk),
    retries: ctx.options.retries,
    timeoutMs: ctx.options.timeout,
    net,
  });
  keep(() => ({ pairs: sweep.state() }));
  await sweep.run(new SweepLanes(ctx.options));
}

interface SweepPlan extends HostSource {
  ports: number[];
  retries: number;
  timeoutMs: number;
  net: NetworkGate;
}

/** A host in progress; `again` are ports in progress when the scan was interrupted: their outcome is unknown. */
interface HostSweep extends TurningHost {
  ip: string;
  finished: number;
  /** Ports in progress. */
  pending: Set<number>;
  /** Ports that responded only to a retry. */
  late: number;
  /** Ports that were open since the last closed one responded. */
  openRun: number;
  /** Further tries at an adaptive rate. */
  further: number;
  /** Ports without a response, up to `maxSlowProbes`. */
  silent: number[];
  /** Ports with an error. */
  rejected: Rejections;
  /** Progress of their slow retry; null until it starts. */
  retry: SlowRetry | null;
  counts: PortCounts;
}

/** Progress of a sweep in a checkpoint: a completed pair is not probed again. */
interface SweepState {
  /** Key of the port permutation. */
  key: PermutationKey;
  /** Ports that come before the others; none in a checkpoint of an earlier version. */
  leading?: number[];
  walk: IteratorState | null;
  hosts: (Pick<HostSweep, 'ip' | 'next' | 'first' | 'finished' | 'counts'> & {
    openRun?: number;
    again: number[];
    further?: number;
    rejected?: RejectedPorts[];
    /** Ports to probe slowly; everything else of the host is done. */
    slow?: number[];
    /** Progress of the slow retry. */
    retry?: SlowRetryState;
  })[];
}

function respondedOf({ counts }: Pick<HostSweep, 'counts'>): number {
  return counts.open + counts.closed;
}

/** The counts of a host including responses to the slow retry. */
function withFound({ counts, retry, rejected }: HostSweep): PortCounts {
  const errors = new Rejections([...rejected.list(), ...(retry?.rejections ?? [])]).list();
  const { open, closed } = retry?.found ?? { open: 0, closed: 0 };
  return {
    ...counts,
    open: counts.open + open,
    closed: counts.closed + closed,
    filtered: counts.filtered - open - closed,
    ...(errors.length > 0 && { rejected: errors }),
  };
}

/** Sweeps hosts x ports with a window of hosts; memory does not grow with the number of hosts. */
class Sweep {
  #ctx: SweepRecord;
  #data: DataContext;
  #plan: SweepPlan;
  readonly #order: PortOrder;
  readonly #leading: ReadonlySet<number>;
  readonly #turns: HostTurns<HostSweep>;
  /** Hosts with an unfinished pair. */
  #unfinished = new Map<string, HostSweep>();
  readonly #earlier: EarlierHosts;
  readonly #unreachable = new UnreachableHosts();
  readonly #key: PermutationKey;
  #sourceEnded = false;
  #sourceError: unknown = null;
  #pulling = false;
  /** Hosts in their slow retry. */
  #slow = new Set<Promise<void>>();
  /** Workers that wait for a host. */
  #idle: (() => void)[] = [];
  #pairsDone: number;

  constructor(ctx: SweepRecord, data: DataContext, saved: SweepState | null, plan: SweepPlan) {
    this.#ctx = ctx;
    this.#data = data;
    this.#plan = plan;
    this.#key = saved?.key ?? randomPermutationKey();
    const before = saved?.hosts.reduce((sum, host) => sum + host.finished, 0) ?? 0;
    this.#pairsDone = before + (plan.walk?.settled ?? 0) * plan.ports.length;
    this.#leading = new Set(saved ? saved.leading : likelyFirst(plan.ports));
    this.#order = new PortOrder(plan.ports, this.#key, (port) => this.#leading.has(port));
    this.#turns = new HostTurns(this.#order);
    const underWay = (saved?.hosts ?? []).map(({ ip }) => ip);
    this.#earlier = new EarlierHosts({ ctx, protocol: 'tcp', underWay, walk: plan.walk });
    for (const { slow = [], retry, further = 0, openRun = 0, rejected, ...host } of saved?.hosts ?? [])
      this.#enter({
        ...host,
        pending: new Set(),
        late: slow.length === 0 ? 0 : Infinity,
        openRun,
        further,
        silent: slow,
        rejected: new Rejections(rejected),
        retry: retry ? new SlowRetry(retry) : null,
      });
  }

  state(): SweepState {
    const hosts = [...this.#unfinished.values()].map(
      ({ pending, again, late, silent, retry, rejected, ...host }) => ({
        ...host,
        rejected: rejected.list(),
        counts: { ...host.counts },
        again: [...pending, ...again],
        ...(host.finished === this.#order.length &&
          dropsProbes(late, respondedOf(host)) && { slow: [...silent] }),
        ...(retry && { retry: retry.state() }),
      }),
    );
    return { key: this.#key, leading: [...this.#leading], walk: this.#plan.walk?.state() ?? null, hosts };
  }

  async run(lanes: SweepLanes): Promise<void> {
    if (this.#order.length === 0) return;
    // Report the progress of an interrupted run from the start.
    this.#advance(0);
    const forget = onAbort(this.#ctx.signal, () => this.#wake(Infinity));
    for (const host of this.#unfinished.values())
      if (host.finished === this.#order.length) await this.#end(host);
    const problem = await lanes.run(() => this.#step());
    await Promise.all(this.#slow);
    forget();
    if (this.#ctx.signal.aborted) await this.#accountForTheRest();
    this.#unreachable.warn(this.#ctx);
    this.#ctx.signal.throwIfAborted();
    if (problem || this.#sourceError) throw problem ?? this.#sourceError;
  }

  /** Probes the next pair; null = there are no more. A probe never throws: every failure is an observation. */
  async #step(): Promise<PortObservation | null> {
    if (this.#ctx.signal.aborted) return null;
    const pair = this.#nextPair() ?? (await this.#awaitPair());
    if (!pair) return null;
    const { host, port } = pair;
    const observation = await this.#observe(host, port);
    await this.#record(host, port, observation);
    return observation;
  }

  async #observe(sweep: HostSweep, port: number): Promise<PortObservation> {
    const host = sweep.ip;
    const options = { timeoutMs: this.#plan.timeoutMs, signal: this.#ctx.signal };
    const first = { ...options, attempt: 'first', isLeading: this.#leading.has(port) } as const;
    let observation = await this.#plan.net.probeTcp(host, port, first);
    for (let tries = 1; this.#isTriedAgain(sweep, observation, tries); tries++) {
      // An error came and only its errno is known: this time it is asked for.
      const explains = !isSilence(observation);
      const again = await this.#plan.net.probeTcp(host, port, { ...options, attempt: 'further', explains });
      // A retry that could not be sent, or lost the error to the rate limit of a router, adds nothing.
      const addsNothing = again.state === 'not_tried' || (explains && isSilence(again));
      if (!addsNothing) observation = again;
      if (again.state === 'open' || again.state === 'closed') sweep.late += 1;
    }
    return observation;
  }

  #isTriedAgain(sweep: HostSweep, { state }: PortObservation, tries: number): boolean {
    const { retries, net } = this.#plan;
    if (state !== 'filtered' || this.#ctx.signal.aborted) return false;
    if (tries <= retries) return true;
    // An adaptive rate may have been too high for all of them, and is lower by now.
    const isLossy = net.hasAdaptiveRate && retries > 0 && sweep.late > 0;
    if (!isLossy || tries > retries + furtherTries) return false;
    sweep.further += 1;
    return sweep.further <= this.#order.length * furtherShare;
  }

  /** Whether each port is named with its reason. */
  get #isNamed(): boolean {
    return this.#order.length <= maxNamedPorts;
  }

  async #record(host: HostSweep, port: number, observation: PortObservation): Promise<void> {
    if (observation.state === 'open') {
      const open: Port = { host: host.ip, port, protocol: 'tcp', state: 'open', reason: observation.reason };
      await this.#data.append('open_ports', open);
    }
    // A probe cut short by the abort has no outcome; the rest is counted at the end.
    if (observation.state === 'not_tried' && this.#ctx.signal.aborted) return;
    host.counts[observation.state] += 1;
    if (observation.state === 'open') host.openRun += 1;
    if (observation.state === 'closed') host.openRun = 0;
    host.finished += 1;
    host.pending.delete(port);
    this.#advance(1);
    const rejected = errorOfPort(port, observation);
    if (rejected) host.rejected.add(rejected);
    if (this.#isNamed && observation.state === 'closed') host.rejected.add(closedPorts(1, [port]));
    if (isSilence(observation) && host.silent.length < maxSlowProbes) host.silent.push(port);
    if (host.finished === this.#order.length) await this.#end(host);
  }

  /** Every port was tried; a host that drops probes is retried slowly, concurrently with the others. */
  async #end(host: HostSweep): Promise<void> {
    const { late, silent } = host;
    const isRetriedSlowly = silent.length > 0 && dropsProbes(late, respondedOf(host));
    if (!isRetriedSlowly || this.#slow.size >= maxSlowHosts) return await this.#finish(host);
    const slow = this.#retrySlowly(host)
      .catch((error: unknown) => {
        this.#sourceError ??= error;
      })
      .finally(() => this.#slow.delete(slow));
    this.#slow.add(slow);
  }

  async #retrySlowly(host: HostSweep): Promise<void> {
    const { signal } = this.#ctx;
    const { net, timeoutMs } = this.#plan;
    const onOpen = (port: number, reason: string) =>
      this.#data.append<Port>('open_ports', { host: host.ip, port, protocol: 'tcp', state: 'open', reason });
    const probe: SlowProbe = async (ports, perSecond, progress) => {
      const task = { host: host.ip, ports, perSecond, timeoutMs, signal, onOpen };
      const outcome = await connectSlowly(net, task, progress);
      this.#advance(0);
      return outcome;
    };
    host.retry ??= new SlowRetry();
    await host.retry.run(host.silent, probe, signal);
    // After a cancel the rest is counted at the end.
    if (!signal.aborted) await this.#finish(host);
  }

  /** Reported in hosts: only the source knows how many there will be. */
  #advance(pairs: number): void {
    this.#pairsDone += pairs;
    if (pairs === 1 && this.#pairsDone % progressStep !== 0) return;
    this.#ctx.progress(this.#pairsDone / this.#order.length, this.#plan.hostsTotal);
  }

  async #finish(host: HostSweep): Promise<void> {
    const counts = withFound(host);
    // Without discovery, a host that never responded does not count as a host.
    if (!this.#plan.knownUp && counts.open + counts.closed === 0) {
      this.#unreachable.note(host.ip, counts.rejected ?? []);
    } else {
      counts.all_ports_open = acceptsEveryPort(counts) || beganToAccept({ ...counts, openRun: host.openRun });
      if (this.#isNamed) counts.ports = [...this.#plan.ports];
      await this.#data.append('port_counts', counts);
    }
    this.#unfinished.delete(host.ip);
    this.#plan.walk?.settle(host.ip);
    const { open, closed, filtered, not_tried } = counts;
    this.#ctx.cover({ open, closed, filtered, not_tried });
  }

  /** The next pair of the hosts in the window, round-robin, or null if the window has none. */
  #nextPair(): { host: HostSweep; port: number } | null {
    this.#pullHosts();
    const pair = this.#turns.next();
    pair?.host.pending.add(pair.port);
    return pair;
  }

  async #awaitPair(): Promise<{ host: HostSweep; port: number } | null> {
    for (;;) {
      const pair = this.#nextPair();
      if (pair) return pair;
      if (this.#sourceEnded || this.#ctx.signal.aborted) return null;
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  #wake(lanes: number): void {
    for (const resume of this.#idle.splice(0, lanes)) resume();
  }

  /** Fills the window from the source; does not wait for hosts that are yet to be discovered. */
  #pullHosts(): void {
    while (this.#turns.hasRoom && !this.#pulling && !this.#sourceEnded) {
      const next = this.#plan.hosts.next();
      if (!(next instanceof Promise)) this.#take(next);
      else {
        this.#pulling = true;
        next.then(
          (result) => {
            this.#pulling = false;
            this.#take(result);
            this.#pullHosts();
          },
          (error) => {
            this.#sourceError = error;
            this.#take({ value: undefined, done: true });
          },
        );
      }
    }
  }

  #take({ value, done }: IteratorResult<string, unknown>): void {
    if (done) this.#sourceEnded = true;
    else this.#admit(value);
    this.#wake(done ? Infinity : this.#order.length);
  }

  #admit(ip: string): void {
    if (this.#earlier.isUnderWay(ip)) return;
    if (this.#earlier.takeRecorded(ip)) {
      this.#advance(this.#order.length);
      return;
    }
    const counts = { open: 0, closed: 0, filtered: 0, not_tried: 0, all_ports_open: false };
    this.#enter({
      ip,
      next: 0,
      first: Math.floor(Math.random() * this.#order.length),
      finished: 0,
      again: [],
      pending: new Set(),
      late: 0,
      openRun: 0,
      further: 0,
      silent: [],
      rejected: new Rejections(),
      retry: null,
      counts: { host: ip, protocol: 'tcp', ...counts },
    });
  }

  #enter(host: HostSweep): void {
    this.#unfinished.set(host.ip, host);
    this.#turns.add(host);
  }

  /** After a cancel: counts the unfinished pairs of the hosts in the window as not tried. */
  async #accountForTheRest(): Promise<void> {
    for (const host of this.#unfinished.values()) {
      if (host.next === 0) continue;
      host.counts.not_tried += this.#order.length - host.finished;
      await this.#finish(host).catch(() => undefined);
    }
  }
}
