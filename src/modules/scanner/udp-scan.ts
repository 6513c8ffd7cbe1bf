import type { Port, PortCounts, RejectedPorts } from '../../domain/host.ts';
import { closedPorts, maxNamedPorts, Rejections } from '../../domain/port-reasons.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import type { OptionValues } from '../../engine/options.ts';
import { isUntouchable } from '../../knowledge/probes/probes.ts';
import { udpPayloads } from '../../knowledge/requests/udp-payloads.ts';
import type { UdpOutcome, UdpTask } from '../../net/gate/gate.ts';
import { type PermutationKey, randomPermutationKey } from '../../net/packets/frame/permutation.ts';
import type { IteratorState } from '../address-iterator.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';
import { EarlierHosts } from './earlier-hosts.ts';
import { type HostSource, hostSource, type SweepRecord } from './host-source.ts';
import { PortOrder } from './port-order.ts';
import { plannedUdpPorts } from './port-plan.ts';
import type { scanOptions } from './scan-options.ts';
import { acceptsEveryPort } from './tarpit.ts';

/** Pairs between two progress reports. */
const progressStep = 50;

type UdpOptions = Pick<
  OptionValues<typeof scanOptions>,
  'ports' | 'exclude_ports' | 'rate' | 'timeout' | 'retries'
>;

/** Sweeps the planned UDP ports of the hosts; continues an interrupted run of the node. */
export async function scanUdp(
  ctx: Omit<ExecContext, 'options'> & { options: UdpOptions },
  data: DataContext,
): Promise<void> {
  const saved = ctx.restored as SweepState | null;
  const sweep = new UdpSweep(ctx, data, saved, {
    ports: plannedUdpPorts(ctx.options),
    ...hostSource(ctx, data, saved?.walk),
  });
  ctx.checkpoint(() => sweep.state());
  const outcomes = ctx.net.limitedTo(ctx.options.rate).sweepUdp(sweep.tasks(), {
    timeoutMs: ctx.options.timeout,
    retries: ctx.options.retries,
    signal: ctx.signal,
    payloads: payloadsOf,
  });
  await sweep.run(outcomes);
}

/** Services that might print or otherwise act on what they receive get an empty datagram. */
function payloadsOf(port: number) {
  return isUntouchable(port) ? [] : udpPayloads(port);
}

interface SweepPlan extends HostSource {
  ports: number[];
}

/** A host in progress in a checkpoint. */
interface SavedHost {
  ip: string;
  /** Position of the next port in the shuffled order, counted from `first`. */
  next: number;
  /** Start position of this host in the shuffled order. */
  first: number;
  finished: number;
  /** Ports taken without an outcome yet. */
  again: number[];
  /** Silent ports to list if the host is up. */
  silent: number[];
  /** Ports with an ICMP error. */
  rejected?: RejectedPorts[];
  counts: PortCounts;
}

/** Progress of a sweep: a completed pair is not probed again. */
interface SweepState {
  /** Key of the port permutation. */
  key: PermutationKey;
  walk: IteratorState | null;
  hosts: SavedHost[];
}

function hasPayload(port: number): boolean {
  return payloadsOf(port).length > 0;
}

/** A host in progress: yields its ports in random order. */
class HostSweep implements UdpTask {
  readonly host: string;
  readonly ports: number;
  readonly #order: PortOrder;
  #saved: SavedHost;
  readonly pending = new Set<number>();
  readonly #rejected: Rejections;

  constructor(saved: SavedHost, order: PortOrder) {
    this.host = saved.ip;
    this.#saved = saved;
    this.#order = order;
    this.ports = order.length - saved.finished;
    this.#rejected = new Rejections(saved.rejected);
  }

  get counts(): PortCounts {
    return this.#saved.counts;
  }

  get rejected(): RejectedPorts[] {
    return this.#rejected.list();
  }

  get silent(): readonly number[] {
    return this.#saved.silent;
  }

  /** Whether any port was taken. */
  get begun(): boolean {
    return this.#saved.next > 0;
  }

  get left(): number {
    return this.#order.length - this.#saved.finished;
  }

  nextPort(): number | null {
    const port = this.#saved.again.pop() ?? this.#fresh();
    if (port !== null) this.pending.add(port);
    return port;
  }

  #fresh(): number | null {
    const { first, next } = this.#saved;
    if (next >= this.#order.length) return null;
    this.#saved.next += 1;
    return this.#order.at(next, first);
  }

  note({ port, state, rejection }: UdpOutcome<unknown>): void {
    this.pending.delete(port);
    // A closed port is one that its host calls unreachable.
    if (rejection && state === 'filtered')
      this.#rejected.add({ ...rejection, state, count: 1, ports: [port] });
    if (state === 'closed' && this.#order.length <= maxNamedPorts)
      this.#rejected.add({ ...closedPorts(1, [port]), reason: 'port-unreachable' });
    this.#saved.finished += 1;
    this.counts[state === 'open|filtered' ? 'filtered' : state] += 1;
    if (state === 'open|filtered' && hasPayload(port)) this.#saved.silent.push(port);
  }

  state(): SavedHost {
    const { counts, again, silent, ...rest } = this.#saved;
    return {
      ...rest,
      counts: { ...counts },
      again: [...this.pending, ...again],
      silent: [...silent],
      rejected: this.rejected,
    };
  }
}

class UdpSweep {
  #ctx: SweepRecord;
  #data: DataContext;
  #plan: SweepPlan;
  readonly #key: PermutationKey;
  readonly #order: PortOrder;
  /** Hosts with a port without an outcome. */
  #unfinished = new Map<string, HostSweep>();
  #restored: HostSweep[];
  readonly #earlier: EarlierHosts;
  readonly #unreachable = new UnreachableHosts();
  #sourceError: unknown = null;
  #pairsDone: number;

  constructor(ctx: SweepRecord, data: DataContext, saved: SweepState | null, plan: SweepPlan) {
    this.#ctx = ctx;
    this.#data = data;
    this.#plan = plan;
    this.#key = saved?.key ?? randomPermutationKey();
    // Ports with a payload reveal most, so they get most time.
    this.#order = new PortOrder(plan.ports, this.#key, hasPayload);
    const before = saved?.hosts.reduce((sum, host) => sum + host.finished, 0) ?? 0;
    this.#pairsDone = before + (plan.walk?.settled ?? 0) * plan.ports.length;
    this.#restored = (saved?.hosts ?? []).map((host) => this.#enter(host));
    const underWay = this.#restored.map(({ host }) => host);
    this.#earlier = new EarlierHosts({ ctx, protocol: 'udp', underWay, walk: plan.walk });
  }

  state(): SweepState {
    const hosts = [...this.#unfinished.values()].map((host) => host.state());
    return { key: this.#key, walk: this.#plan.walk?.state() ?? null, hosts };
  }

  /** The hosts to probe: first those an interrupted run had started, then those of the source. */
  async *tasks(): AsyncGenerator<HostSweep, void, undefined> {
    if (this.#order.length === 0) return;
    for (const host of this.#restored) {
      if (host.left === 0) await this.#finish(host);
      else yield host;
    }
    try {
      for await (const ip of this.#plan.hosts) {
        const host = this.#admit(ip);
        if (host) yield host;
      }
    } catch (error) {
      this.#sourceError = error;
    }
  }

  async run(outcomes: AsyncIterable<UdpOutcome<HostSweep>>): Promise<void> {
    // Report the progress of an interrupted run from the start.
    this.#advance(0);
    for await (const outcome of outcomes) await this.#record(outcome);
    if (this.#ctx.signal.aborted) await this.#accountForTheRest();
    this.#unreachable.warn(this.#ctx);
    this.#ctx.signal.throwIfAborted();
    if (this.#sourceError) throw this.#sourceError;
  }

  #admit(ip: string): HostSweep | null {
    if (this.#earlier.isUnderWay(ip)) return null;
    if (this.#earlier.takeRecorded(ip)) {
      this.#advance(this.#order.length);
      return null;
    }
    const counts = { open: 0, closed: 0, filtered: 0, not_tried: 0, all_ports_open: false };
    const first = Math.floor(Math.random() * this.#order.length);
    const begin = { ip, next: 0, first, finished: 0, again: [], silent: [] };
    return this.#enter({ ...begin, counts: { host: ip, protocol: 'udp', ...counts } });
  }

  #enter(saved: SavedHost): HostSweep {
    const host = new HostSweep(saved, this.#order);
    this.#unfinished.set(host.host, host);
    return host;
  }

  async #record(outcome: UdpOutcome<HostSweep>): Promise<void> {
    const { task: host, port, state, reason } = outcome;
    if (state === 'open') {
      const open: Port = { host: host.host, port, protocol: 'udp', state, reason };
      await this.#data.append('open_ports', open);
    }
    // A probe cut short by the abort has no outcome; the rest is counted at the end.
    if (state === 'not_tried' && this.#ctx.signal.aborted) return;
    host.note(outcome);
    this.#advance(1);
    if (host.left === 0) await this.#finish(host);
  }

  /** Reported in hosts: only the source knows how many there will be. */
  #advance(pairs: number): void {
    if (this.#order.length === 0) return;
    this.#pairsDone += pairs;
    if (pairs === 1 && this.#pairsDone % progressStep !== 0) return;
    this.#ctx.progress(this.#pairsDone / this.#order.length, this.#plan.hostsTotal);
  }

  async #finish(host: HostSweep): Promise<void> {
    const { counts } = host;
    // Without discovery, a host that never responded does not count as a host.
    if (this.#plan.knownUp || counts.open + counts.closed > 0) {
      const silent = host.silent.map(
        (port): Port => ({
          host: host.host,
          port,
          protocol: 'udp',
          state: 'open|filtered',
          reason: 'no-response',
        }),
      );
      if (silent.length > 0) await this.#data.append('open_ports', ...silent);
      counts.all_ports_open = acceptsEveryPort(counts);
      if (host.rejected.length > 0) counts.rejected = host.rejected;
      if (this.#order.length <= maxNamedPorts) counts.ports = [...this.#plan.ports];
      await this.#data.append('port_counts', counts);
    } else this.#unreachable.note(host.host, host.rejected);
    const { open, closed, filtered, not_tried } = counts;
    this.#ctx.cover({ open, closed, filtered, not_tried });
    this.#unfinished.delete(host.host);
    this.#plan.walk?.settle(host.host);
  }

  /** After a cancel: counts the unfinished pairs of the hosts in progress as not tried. */
  async #accountForTheRest(): Promise<void> {
    for (const host of this.#unfinished.values()) {
      if (!host.begun) continue;
      host.counts.not_tried += host.left;
      await this.#finish(host).catch(() => undefined);
    }
  }
}
