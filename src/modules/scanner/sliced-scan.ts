import {
  type Port,
  type PortCounts,
  type PortCoverage,
  type RejectedPorts,
  type StackTraits,
  zeroWindow,
} from '../../domain/host.ts';
import { maxNamedPorts, Rejections } from '../../domain/port-reasons.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import { maxChunkEndpoints } from '../../net/packets/engine/chunk.ts';
import type { SweepHost, SweepJob, SweepOutcome, SweepProgress } from '../../net/tcp/sweep-job.ts';
import type { IteratorState } from '../address-iterator.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';
import { UntriedHosts } from '../untried-hosts.ts';
import { EarlierHosts } from './earlier-hosts.ts';
import type { HostBatches } from './host-batches.ts';
import { type PackedPart, packed, unpacked } from './packed-progress.ts';
import { likelyFirst } from './port-plan.ts';
import { maxSlowHosts, type SlowProbe, SlowRetry, type SlowRetryState } from './slow-retry.ts';
import { acceptsEveryPort, beganToAccept } from './tarpit.ts';

/** Concurrent jobs: while some wait for late responses, the next one sends. */
const jobsAtOnce = 8;
/** Maximum number of unread open ports; beyond that, no further job starts. */
const maxWaiting = 20_000;
/** Hosts whose leading ports are swept before the other ports of all of them; bounds their memory and the checkpoint. */
export const maxHostsAhead = 1024;

interface SweepOptions {
  retries: number;
  timeout: number;
}

export interface SlicedScanInput {
  ctx: Pick<
    ExecContext,
    'signal' | 'progress' | 'restored' | 'recordedCounts' | 'warn' | 'cover' | 'recount'
  > & { options: SweepOptions };
  data: DataContext;
  /**
   * How the ports of some hosts are swept.
   * @param side number of concurrent jobs with the same hosts
   * @param hostRate maximum packets per second to each host, for slow jobs
   */
  sweep(job: SweepJob, side: number, hostRate?: number): Promise<SweepOutcome[]>;
  ports: number[];
  hosts: HostBatches;
  /** The hosts are known to be up, so each one is counted even if it stays silent now. */
  knownUp: boolean;
  before: SlicedScanState | null;
}

/** Progress of a scan in a checkpoint. */
export interface SlicedScanState {
  walk: IteratorState | null;
  /** Ports that come before the others, in the order of the slices; none in a checkpoint of an earlier version. */
  leading?: number[];
  batches: {
    hosts: SweepHost[];
    counts: number[][];
    /** Hosts with ports that were accepted with window 0, and how many. */
    zeroWindows?: [host: string, ports: number][];
    /** Hosts that began to accept every port. */
    suddenlyOpen?: string[];
    slices: SliceState[];
    /** By host: of complete slices. */
    rejected?: [string, RejectedPorts[]][];
  }[];
}

export interface SliceState {
  /** Which ports: index of the slice. */
  slice: number;
  parts: PackedPart[];
  /** Hosts that drop probes and are retried slowly, once every other pair of the slice is complete. */
  slow?: ({ host: string } & SlowRetryState)[];
}

/** Hosts swept together, and their results so far. */
interface Batch {
  hosts: SweepHost[];
  /** By host: open, closed, filtered, not tried. */
  counts: Map<string, [number, number, number, number]>;
  /** By host: the first one that a slice received. */
  stacks: Map<string, StackTraits>;
  /** By host: ports with an ICMP error, of complete slices. */
  rejected: Map<string, Rejections>;
  /** By host: why a slice could not be swept. */
  problems: Map<string, string>;
  /** Hosts that began to accept every port. */
  suddenlyOpen: Set<string>;
  /** By host: ports accepted with window 0. */
  zeroWindows: Map<string, number>;
  /** Unfinished slices of the ports, with the progress of an interrupted run. */
  left: Map<number, SweepProgress | null>;
  /** By slice and host: slow retries. */
  slow: Map<number, Map<string, SlowRetry>>;
  /** Running slices. */
  running: number;
}

/** A slice that waits to be swept. */
interface Waiting {
  batch: Batch;
  slice: number;
}

/** Sweeps hosts x ports in pieces that fit the engine. */
export class SlicedScan {
  readonly #input: SlicedScanInput;
  /** The leading ones first, then ascending. */
  readonly #ports: Uint16Array;
  readonly #leading: readonly number[];
  readonly #batches = new Set<Batch>();
  /** Slices of leading ports, and the others. */
  readonly #first: Waiting[] = [];
  readonly #rest: Waiting[] = [];
  readonly #untried = new UntriedHosts();
  readonly #unreachable = new UnreachableHosts();
  readonly #earlier: EarlierHosts;
  #waiting = 0;
  #failure: unknown = null;
  #pairsDone = 0;
  #wake: (() => void) | null = null;
  #active = 0;
  #isPumping = false;

  constructor(input: SlicedScanInput) {
    this.#input = input;
    this.#leading = input.before ? (input.before.leading ?? []) : likelyFirst(input.ports);
    const leading = new Set(this.#leading);
    this.#ports = Uint16Array.from([...leading, ...input.ports.filter((port) => !leading.has(port))]);
    const underWay = (input.before?.batches ?? []).flatMap(({ hosts }) => hosts.map(({ ip }) => ip));
    this.#earlier = new EarlierHosts({ ctx: input.ctx, protocol: 'tcp', underWay, walk: input.hosts.walk });
  }

  state(): SlicedScanState {
    const batches = [...this.#batches].map(
      ({ hosts, counts, rejected, zeroWindows, suddenlyOpen, left, slow }) => ({
        hosts,
        ...(rejected.size > 0 && {
          rejected: [...rejected].map(([host, ports]) => [host, ports.list()] as [string, RejectedPorts[]]),
        }),
        counts: hosts.map(({ ip }) => counts.get(ip) as number[]),
        ...(zeroWindows.size > 0 && { zeroWindows: [...zeroWindows] }),
        ...(suddenlyOpen.size > 0 && { suddenlyOpen: [...suddenlyOpen] }),
        slices: [...left].map(([slice, state]) => ({
          slice,
          parts: (state?.parts ?? []).map(packed),
          slow: [...(slow.get(slice) ?? [])].map(([host, retry]) => ({ host, ...retry.state() })),
        })),
      }),
    );
    return { walk: this.#input.hosts.walk?.state() ?? null, leading: [...this.#leading], batches };
  }

  async run(): Promise<void> {
    if (this.#ports.length === 0) return;
    const { ctx, hosts, before } = this.#input;
    for (const saved of before?.batches ?? []) await this.#enter(restoredBatch(saved));
    for await (const found of hosts) {
      const fresh = found.filter(({ ip }) => !this.#earlier.isUnderWay(ip) && !this.#isRecorded(ip));
      if (fresh.length > 0) await this.#enter(this.#newBatch(fresh));
      while (this.#hasQueue && this.#hostsAhead >= maxHostsAhead) await this.#event();
      if (ctx.signal.aborted || this.#failure) break;
    }
    while (this.#active > 0 || this.#hasQueue) await this.#event();
    if (ctx.signal.aborted) for (const batch of this.#batches) await this.#finish(batch);
    this.#untried.warn(ctx);
    this.#unreachable.warn(ctx);
    ctx.signal.throwIfAborted();
    if (this.#failure) throw this.#failure;
  }

  #isRecorded(ip: string): boolean {
    if (!this.#earlier.takeRecorded(ip)) return false;
    this.#advance(this.#ports.length);
    return true;
  }

  #newBatch(hosts: SweepHost[]): Batch {
    return {
      hosts,
      counts: new Map(hosts.map(({ ip }) => [ip, [0, 0, 0, 0]])),
      stacks: new Map(),
      rejected: new Map(),
      problems: new Map(),
      suddenlyOpen: new Set(),
      zeroWindows: new Map(),
      left: new Map(Array.from({ length: this.#slices(hosts.length) }, (_, slice) => [slice, null])),
      slow: new Map(),
      running: 0,
    };
  }

  /** Ports of one job for the given number of hosts. */
  #sliceSize(hosts: number): number {
    return Math.min(this.#ports.length, Math.max(1, Math.floor(maxChunkEndpoints / hosts)));
  }

  /** Number of leading ports in a slice of their own: they lead within the slice where one holds all ports. */
  #apart(hosts: number): number {
    return this.#sliceSize(hosts) < this.#ports.length ? this.#leading.length : 0;
  }

  #slices(hosts: number): number {
    const apart = this.#apart(hosts);
    return (apart > 0 ? 1 : 0) + Math.ceil((this.#ports.length - apart) / this.#sliceSize(hosts));
  }

  #portsOf(slice: number, hosts: number): Uint16Array {
    const apart = this.#apart(hosts);
    if (apart > 0 && slice === 0) return this.#ports.slice(0, apart);
    const size = this.#sliceSize(hosts);
    const from = apart + (slice - (apart > 0 ? 1 : 0)) * size;
    return this.#ports.slice(from, from + size);
  }

  /** Sweeps the slices of a batch as there is room; the last one publishes its hosts. */
  async #enter(batch: Batch): Promise<void> {
    this.#batches.add(batch);
    for (const slice of batch.left.keys()) {
      const isLeading = slice === 0 && this.#leading.length > 0;
      (isLeading ? this.#first : this.#rest).push({ batch, slice });
    }
    if (batch.left.size === 0) await this.#finish(batch);
    this.#pump();
  }

  get #hasQueue(): boolean {
    const isEnded = this.#input.ctx.signal.aborted || this.#failure;
    return !isEnded && this.#first.length + this.#rest.length > 0;
  }

  get #hostsAhead(): number {
    let hosts = 0;
    for (const batch of this.#batches) hosts += batch.hosts.length;
    return hosts;
  }

  /** Starts jobs: at once those of leading ports, the others after those of all batches that are there already. */
  #pump(): void {
    this.#start(this.#first);
    if (this.#leading.length === 0) this.#start(this.#rest);
    else if (this.#rest.length > 0) this.#pumpLater();
  }

  #pumpLater(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#start(this.#first);
      this.#start(this.#rest);
    });
  }

  #start(queue: Waiting[]): void {
    while (this.#hasQueue && this.#active < jobsAtOnce && this.#waiting <= maxWaiting) {
      const next = queue.shift();
      if (!next) return;
      const { batch, slice } = next;
      this.#active += 1;
      batch.running += 1;
      this.#job(batch, slice, batch.left.get(slice) ?? null)
        .catch((error: unknown) => {
          this.#failure ??= error;
        })
        .finally(() => {
          this.#active -= 1;
          this.#pump();
          this.#wake?.();
        });
    }
  }

  #event(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #job(batch: Batch, slice: number, restored: SweepProgress | null): Promise<void> {
    const { ctx } = this.#input;
    const ports = this.#portsOf(slice, batch.hosts.length);
    const pairs = batch.hosts.length * ports.length;
    let reported = 0;
    const job: SweepJob = {
      hosts: batch.hosts,
      ports,
      leading: slice === 0 ? this.#leading.length : 0,
      retries: ctx.options.retries,
      timeoutMs: ctx.options.timeout,
      signal: ctx.signal,
      listsClosed: this.#ports.length <= maxNamedPorts,
      onOpen: (host, port, reason = 'syn-ack') => {
        if (reason === zeroWindow) batch.zeroWindows.set(host, (batch.zeroWindows.get(host) ?? 0) + 1);
        this.#publish(host, port, reason);
      },
      onState: (state) => {
        batch.left.set(slice, state);
        const done = Math.min(pairs, pairsOf(state));
        this.#advance(done - reported);
        reported = done;
      },
      restored,
    };
    const outcomes = await this.#input.sweep(job, this.#sideBySide(batch));
    const dropping = outcomes.filter(({ silent }) => silent !== undefined);
    if (dropping.length <= maxSlowHosts)
      await Promise.all(
        dropping.map((outcome) =>
          this.#retrySlowly(batch, job, outcome, this.#retryOf(batch, slice, outcome)),
        ),
      );
    for (const outcome of outcomes) this.#add(batch, outcome);
    batch.left.delete(slice);
    batch.slow.delete(slice);
    batch.running -= 1;
    this.#advance(pairs - reported);
    if (batch.left.size === 0 || (ctx.signal.aborted && batch.running === 0)) await this.#finish(batch);
  }

  /** The retry of an interrupted run, or a new one. */
  #retryOf({ slow }: Batch, slice: number, { host }: SweepOutcome): SlowRetry {
    const retries = slow.get(slice) ?? new Map<string, SlowRetry>();
    const retry = retries.get(host) ?? new SlowRetry();
    slow.set(slice, retries.set(host, retry));
    return retry;
  }

  /** Retries the silent ports of a host that responds to fewer probes per second than it gets. */
  async #retrySlowly(batch: Batch, job: SweepJob, outcome: SweepOutcome, retry: SlowRetry): Promise<void> {
    const host = batch.hosts.find(({ ip }) => ip === outcome.host);
    if (!outcome.silent || !host) return;
    const probe: SlowProbe = async (ports, perSecond, progress) => {
      const only = { hosts: [host], ports: Uint16Array.from(ports), leading: 0 };
      const again = { ...job, ...only, retries: 0, listsSilent: true };
      const side = this.#sideBySide(batch);
      const [slow] = await this.#input.sweep({ ...again, ...progress }, side, perSecond / side);
      this.#advance(0);
      return slow;
    };
    await retry.run(outcome.silent, probe, job.signal);
    const { open, closed } = retry.found;
    outcome.open += open;
    outcome.closed += closed;
    outcome.filtered -= open + closed;
    outcome.rejections = [...(outcome.rejections ?? []), ...retry.rejections];
  }

  /** Runs jobs with ports of the same hosts concurrently. */
  #sideBySide({ hosts }: Batch): number {
    return Math.min(jobsAtOnce, this.#slices(hosts.length));
  }

  #publish(host: string, port: number, reason: string): void {
    const open: Port = { host, port, protocol: 'tcp', state: 'open', reason };
    this.#waiting += 1;
    this.#input.data
      .append('open_ports', open)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#waiting -= 1;
        this.#pump();
        this.#wake?.();
      });
  }

  #add(batch: Batch, outcome: SweepOutcome): void {
    const { host, open, closed, filtered, not_tried, stack, problem, rejections = [] } = outcome;
    const counts = batch.counts.get(host);
    if (!counts) return;
    if (rejections.length > 0) {
      const rejected = batch.rejected.get(host) ?? new Rejections();
      batch.rejected.set(host, rejected);
      for (const each of rejections) rejected.add(each);
    }
    for (const [at, more] of [open, closed, filtered, not_tried].entries())
      counts[at] = (counts[at] as number) + more;
    if (beganToAccept(outcome)) batch.suddenlyOpen.add(host);
    if (stack && !batch.stacks.has(host)) batch.stacks.set(host, stack);
    if (problem !== null && !batch.problems.has(host)) batch.problems.set(host, problem);
  }

  async #finish(batch: Batch): Promise<void> {
    const { data, hosts, knownUp } = this.#input;
    const covered: PortCoverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
    for (const [host, [open, closed, filtered, tried]] of batch.counts) {
      const left = this.#ports.length - open - closed - filtered;
      const counts: PortCounts = {
        host,
        protocol: 'tcp',
        open,
        closed,
        filtered,
        not_tried: Math.max(tried, left),
        all_ports_open: false,
        ...(batch.stacks.has(host) && { stack: batch.stacks.get(host) }),
        ...(this.#ports.length <= maxNamedPorts && { ports: [...this.#ports] }),
        ...(batch.rejected.has(host) && { rejected: batch.rejected.get(host)?.list() }),
      };
      counts.all_ports_open =
        batch.suddenlyOpen.has(host) || acceptsEveryPort(counts, batch.zeroWindows.get(host));
      const problem = batch.problems.get(host);
      if (problem !== undefined) this.#untried.note(host, problem, counts.not_tried);
      for (const name of ['open', 'closed', 'filtered', 'not_tried'] as const) covered[name] += counts[name];
      // Without discovery, a host that never responded does not count as a host.
      const isUp = knownUp || open + closed > 0;
      if (!isUp) this.#unreachable.note(host, counts.rejected ?? []);
      if (isUp) await data.append('port_counts', counts).catch(() => undefined);
      hosts.walk?.settle(host);
    }
    // Not earlier: what a checkpoint no longer contains must be in the record, and counted.
    this.#batches.delete(batch);
    this.#input.ctx.cover(covered);
  }

  #advance(pairs: number): void {
    this.#pairsDone += pairs;
    const total = this.#input.hosts.total;
    this.#input.ctx.progress(this.#pairsDone / this.#ports.length, total);
  }
}

/** Endpoints that were probed. */
function pairsOf({ parts }: SweepProgress): number {
  let pairs = 0;
  for (const { state } of parts) for (const count of state.counts.probed) pairs += count;
  return pairs;
}

function restoredBatch({
  hosts,
  counts,
  zeroWindows = [],
  suddenlyOpen = [],
  slices,
  rejected = [],
}: SlicedScanState['batches'][number]): Batch {
  return {
    hosts,
    counts: new Map(hosts.map(({ ip }, at) => [ip, counts[at] as [number, number, number, number]])),
    stacks: new Map(),
    rejected: new Map(rejected.map(([host, ports]) => [host, new Rejections(ports)])),
    problems: new Map(),
    suddenlyOpen: new Set(suddenlyOpen),
    zeroWindows: new Map(zeroWindows),
    left: new Map(
      slices.map(({ slice, parts }) => [slice, parts.length > 0 ? { parts: parts.map(unpacked) } : null]),
    ),
    slow: new Map(
      slices.map(({ slice, slow = [] }) => [
        slice,
        new Map(slow.map(({ host, ...saved }) => [host, new SlowRetry(saved)])),
      ]),
    ),
    running: 0,
  };
}
