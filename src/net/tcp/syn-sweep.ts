import { zeroWindow } from '../../domain/host.ts';
import { type Address, addressBytes, parseAddress } from '../../domain/targets/address.ts';
import type { RawPackets } from '../../domain/traffic.ts';
import { untilAborted } from '../abort.ts';
import { furtherTries } from '../adaptive/late-responses.ts';
import type { RateBounds } from '../adaptive/rate.ts';
import { localTrouble } from '../failure.ts';
import type { Slowdown } from '../gate/gate.ts';
import {
  type ChunkPlan,
  type ChunkState,
  maxChunkEndpoints,
  maxChunkHosts,
  zeroWindowBit,
} from '../packets/engine/chunk.ts';
import { PacketEngine } from '../packets/engine/engine.ts';
import type { LearnedRates, SlowedHost } from '../packets/engine/engine-control.ts';
import type { RatePlan } from '../packets/engine/host-rates.ts';
import { rejectedPorts } from '../packets/engine/rejection-table.ts';
import { type PermutationKey, randomPermutationKey } from '../packets/frame/permutation.ts';
import { stackAt } from '../packets/frame/stack-traits.ts';
import { type NeighborOptions, resolveNextHop, resolveOnRoute } from '../packets/linux/neighbor.ts';
import { rawObstacle } from '../packets/linux/rights.ts';
import { type Route, RouteTable } from '../packets/linux/route.ts';
import { respondedPorts } from './responded-ports.ts';
import {
  dropsProbes,
  reportEarlierUnsent,
  type SignOfLife,
  type SweepHost,
  type SweepInput,
  type SweepOutcome,
  type SynJob,
  sparedEndpoints,
  startObstacle,
  unreached,
} from './sweep-job.ts';

/** Routes are read again after this time: links come and go. */
const routesAgeMs = 5000;
/** Minimum response timeouts if the round trip is known to be short, milliseconds. */
const betweenMs = 100;
const finalMs = 250;
/** Timeout if nothing responds; slower hosts are missed. */
const silentMs = 1000;
/** Timeout of neighbor resolution after the last try, and the same before it, milliseconds. */
const neighborMs = 250;
const neighborRetries = 2;

/** Maximum number of hosts whose rates are remembered. */
const maxLearned = 65_536;

interface SynSweepInput extends SweepInput {
  /** Of the packet engine; what it sent counts as sent too. */
  onRawPackets(packets: RawPackets): void;
  onSlowed(host: string, slowdown: Slowdown): void;
}

/** Hosts that share a path. */
interface Part {
  hosts: string[];
  addresses: Uint8Array;
  route: Route;
  macs: Uint8Array | null;
  key: PermutationKey;
  restored: ChunkState | null;
}

/**
 * Half-open sweeps by raw packets: determines the path to each host, and passes hosts that share one to the packet
 * engine.
 */
export class SynSweeper {
  readonly #input: SynSweepInput;
  #engine: Promise<PacketEngine> | null = null;
  #routes: { table: RouteTable; readAt: number } | null = null;
  readonly #gateways = new Map<string, Uint8Array>();
  /** Last rates of hosts, of chunks whose rates adapt, where they differ from the first one. */
  readonly #learned = new Map<string, number>();
  /** Parts in progress. */
  readonly #running = new Set<{ hosts: readonly string[]; drop: (hosts: number[]) => void }>();

  constructor(input: SynSweepInput) {
    this.#input = input;
  }

  /** Why raw packets cannot be sent here, or null. */
  async obstacle(signal: AbortSignal): Promise<string | null> {
    return rawObstacle() ?? (await startObstacle(this.#started(), signal));
  }

  /** @throws Error if the engine fails; results until then were reported */
  async sweep(job: SynJob): Promise<SweepOutcome[]> {
    if (job.hosts.length > maxChunkHosts || job.hosts.length * job.ports.length > maxChunkEndpoints) {
      throw new RangeError('the job is larger than one chunk');
    }
    const engine = await untilAborted(this.#started(), job.signal);
    const outcomes: SweepOutcome[] = [];
    const parts = await this.#parts(job, outcomes);
    const states = parts.map(({ restored }) => restored);
    const report = () =>
      job.onState({
        parts: parts.flatMap(({ hosts, key }, at) => {
          const state = states[at];
          return state ? [{ hosts, key, state }] : [];
        }),
      });
    const runs = parts.map(async (part, at) => {
      const onState = (state: ChunkState) => {
        states[at] = state;
        report();
      };
      return await this.#run(engine, job, part, onState);
    });
    return [...outcomes, ...(await Promise.all(runs)).flat()];
  }

  /** The scope was narrowed: stops sending to what is outside now. */
  narrowed(): void {
    for (const { hosts, drop } of this.#running) {
      const outside = [...hosts.keys()].filter((at) => this.#input.admit(hosts[at] as string) === null);
      if (outside.length > 0) drop(outside);
    }
  }

  async close(): Promise<void> {
    const engine = this.#engine;
    this.#engine = null;
    await (await engine?.catch(() => null))?.close();
  }

  #started(): Promise<PacketEngine> {
    const { rate, adaptive, egress } = this.#input;
    const { sourcePort } = egress.choice;
    this.#engine ??= PacketEngine.start(rate, { sourcePort }).then((engine) => {
      engine.adaptive = adaptive;
      engine.onPackets = (packets) => {
        this.#input.onRawPackets(packets);
        this.#input.onSent(packets.sent);
      };
      return engine;
    });
    return this.#engine;
  }

  async #run(
    engine: PacketEngine,
    job: SynJob,
    part: Part,
    onState: (state: ChunkState) => void,
  ): Promise<SweepOutcome[]> {
    const { ports } = job;
    const alive = new Alive(job, part.hosts);
    const { outcome, drop } = engine.run({
      plan: this.#planOf(job, part),
      signal: job.signal,
      onOpen: (endpoints) => {
        for (const reported of endpoints) {
          const isWindowless = reported >= zeroWindowBit;
          const endpoint = isWindowless ? reported - zeroWindowBit : reported;
          const host = Math.floor(endpoint / ports.length);
          const reason = isWindowless ? zeroWindow : undefined;
          job.onOpen(part.hosts[host] as string, ports[endpoint % ports.length] as number, reason);
          alive.report(host, 'syn-ack');
        }
      },
      onState: (state) => {
        onState(state);
        alive.reportHostsOf(state);
      },
      onSlowed: (slowed) => this.#noteSlowed(part.hosts, slowed),
    });
    if (part.restored) alive.reportHostsOf(part.restored);
    reportEarlierUnsent(this.#input, part.restored);
    const running = { hosts: part.hosts, drop };
    this.#running.add(running);
    // The scope may have changed while the path was determined.
    this.narrowed();
    const { state, failure, learned, unsent } = await outcome.finally(() => this.#running.delete(running));
    for (const [reason, count] of unsent) this.#input.onUnsent(localTrouble(reason), count);
    if (learned) this.#learn(job, part.hosts, learned);
    alive.reportHostsOf(state);
    const stopped = job.signal.aborted || failure !== null;
    onState(state);
    return part.hosts.map((host, at) => outcomeOf(host, at, state, { ...job, ports, stopped, failure }));
  }

  /** What the next chunk of the same hosts starts with. */
  #learn({ rateBounds }: SynJob, hosts: readonly string[], { rates, slowed }: LearnedRates): void {
    for (const [at, host] of hosts.entries()) {
      const rate = rates[at] as number;
      if (rate === rateBounds?.start) this.#learned.delete(host);
      else if (this.#learned.size < maxLearned) this.#learned.set(host, rate);
    }
    for (const host of slowed) this.#noteSlowed(hosts, host);
  }

  #noteSlowed(hosts: readonly string[], { host, ...slowdown }: SlowedHost): void {
    this.#input.onSlowed(hosts[host] as string, slowdown);
  }

  #ratesOf(hosts: readonly string[], bounds: RateBounds): RatePlan {
    const starts = Uint32Array.from(hosts, (host) => this.#learned.get(host) ?? bounds.start);
    return { bounds, starts };
  }

  #planOf(job: SynJob, { addresses, route, macs, key, restored, hosts }: Part): Omit<ChunkPlan, 'id'> {
    const known = job.hosts.flatMap(({ latencyMs }) => latencyMs ?? []);
    const slowest = 2 * Math.max(0, ...known) + 50;
    const most = Math.max(silentMs, slowest);
    return {
      family: route.family,
      hosts: addresses,
      ports: job.ports,
      leading: job.leading,
      rung: route.link === 'ethernet' ? 'frame' : 'ip',
      link: route.index,
      source: route.source,
      ownMac: route.mac,
      macs,
      tries: job.retries + 1,
      hostRate: job.hostRate,
      ...(job.rateBounds && { adaptive: this.#ratesOf(hosts, job.rateBounds), furtherTries }),
      untilAnswer: job.onAlive !== undefined,
      key,
      waits: {
        between: Math.max(betweenMs, slowest),
        final: Math.max(finalMs, slowest),
        most: Math.min(job.timeoutMs, most),
        known: known.length === job.hosts.length,
      },
      // Only addresses of this machine can be those of this server.
      spared: route.link === 'ip' ? sparedEndpoints(this.#input, hosts, job.ports) : new Uint32Array(0),
      restored,
    };
  }

  /** The parts that share a path, and the outcome of unreachable hosts. */
  async #parts(job: SynJob, outcomes: SweepOutcome[]): Promise<Part[]> {
    const known = new Map(job.hosts.map((host) => [host.ip, host]));
    const parts: Part[] = [];
    for (const { hosts, key, state } of job.restored?.parts ?? []) {
      const group = hosts.flatMap((ip) => known.get(ip) ?? []);
      // If the path to some of them has changed, all of them start over.
      const [part] = group.length === hosts.length ? await this.#grouped(group, job, [], key) : [];
      if (part?.hosts.length !== hosts.length) continue;
      for (const { ip } of group) known.delete(ip);
      parts.push({ ...part, restored: state });
    }
    return [...parts, ...(await this.#grouped([...known.values()], job, outcomes, null))];
  }

  async #grouped(
    hosts: readonly SweepHost[],
    job: SynJob,
    outcomes: SweepOutcome[],
    key: PermutationKey | null,
  ): Promise<Part[]> {
    const planned = job.ports.length;
    const table = this.#table();
    const { force } = this.#input.egress;
    const groups = new Map<string, { route: Route; members: { host: SweepHost; address: Address }[] }>();
    for (const host of hosts) {
      const address = parseAddress(host.ip);
      if (!address || this.#input.admit(host.ip) === null) {
        outcomes.push(unreached(host.ip, planned, 'out_of_scope'));
        continue;
      }
      const route = table.lookup(address, force);
      if ('problem' in route) {
        outcomes.push(unreached(host.ip, planned, route.problem));
        continue;
      }
      const way = [
        route.family,
        route.index,
        route.link,
        route.gateway?.join('.') ?? '',
        route.source.join('.'),
      ].join(' ');
      const group = groups.get(way) ?? { route, members: [] };
      groups.set(way, group);
      group.members.push({ host, address });
    }
    const parts = [...groups.values()].map(async ({ route, members }) => {
      const reached = await this.#reached(route, members, job);
      if ('problem' in reached) {
        for (const { host } of members) outcomes.push(unreached(host.ip, planned, reached.problem));
        return partOf(route, [], null, []);
      }
      const there = new Set(reached.members);
      for (const member of members)
        if (!there.has(member)) outcomes.push(silentNeighbor(member.host.ip, planned));
      return partOf(route, reached.members, reached.macs, key ?? randomPermutationKey());
    });
    return (await Promise.all(parts)).filter(({ hosts: some }) => some.length > 0);
  }

  async #reached(route: Route, members: { host: SweepHost; address: Address }[], job: SynJob) {
    if (route.link === 'ip') return { members, macs: null };
    try {
      return await this.#neighbors(route, members, job);
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  /** The MACs of the next hops; silent hosts on the link are left out. */
  async #neighbors(route: Route, members: { host: SweepHost; address: Address }[], job: SynJob) {
    const found = route.gateway
      ? await this.#viaGateway(route, members, job.signal)
      : await this.#onLink(route, members, job.signal);
    const reached = members.filter(({ host }) => found.has(host.ip));
    const macs = new Uint8Array(6 * reached.length);
    for (const [at, { host }] of reached.entries()) macs.set(found.get(host.ip) as Uint8Array, 6 * at);
    return { members: reached, macs };
  }

  /** @throws Error if the gateway is silent */
  async #viaGateway(route: Route, members: { host: SweepHost }[], signal: AbortSignal) {
    const gateway = route.gateway as Uint8Array;
    const name = `${route.index} ${gateway.join('.')}`;
    let mac = this.#gateways.get(name);
    if (!mac) {
      const found = await resolveNextHop({ ...route, gateway }, this.#neighborOptions(signal));
      // The next job tries again: it may have been down.
      if ('problem' in found) throw new Error(found.problem);
      mac = found;
      this.#gateways.set(name, mac);
    }
    const next = mac;
    return new Map(members.map(({ host }) => [host.ip, next]));
  }

  async #onLink(route: Route, members: { host: SweepHost; address: Address }[], signal: AbortSignal) {
    const found = new Map<string, Uint8Array>();
    const unknown = new Map<string, string>();
    const wanted: Uint8Array[] = [];
    for (const { host, address } of members) {
      const mac = host.mac ? macBytes(host.mac) : null;
      if (mac) {
        found.set(host.ip, mac);
        continue;
      }
      const bytes = addressBytes(address);
      unknown.set(bytes.join('.'), host.ip);
      wanted.push(bytes);
    }
    for (const [address, mac] of await this.#resolve(route, wanted, signal)) {
      const ip = unknown.get(address);
      if (ip) found.set(ip, mac);
    }
    return found;
  }

  async #resolve(
    route: Route,
    addresses: Uint8Array[],
    signal: AbortSignal,
  ): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    if (addresses.length === 0) return found;
    const options = { ...this.#neighborOptions(signal), timeoutMs: neighborMs, retries: neighborRetries };
    const responses = resolveOnRoute(route, addresses, options);
    for await (const { address, mac } of responses) found.set(address.join('.'), mac);
    return found;
  }

  /** Neighbor requests take tokens like all packets. */
  #neighborOptions(signal: AbortSignal): Pick<NeighborOptions, 'signal' | 'take'> {
    const take = async (count: number) => {
      const granted = await this.#input.rate.takeUpTo(count, signal);
      this.#input.onSent(granted);
      return granted;
    };
    return { signal, take };
  }

  #table(): RouteTable {
    const now = performance.now();
    if (!this.#routes || now - this.#routes.readAt > routesAgeMs) {
      this.#routes = { table: RouteTable.read(), readAt: now };
    }
    return this.#routes.table;
  }
}

/** The hosts of a part that have responded. */
class Alive {
  readonly #job: SynJob;
  readonly #hosts: readonly string[];
  readonly #reported: Uint8Array;

  constructor(job: SynJob, hosts: readonly string[]) {
    this.#job = job;
    this.#hosts = hosts;
    this.#reported = new Uint8Array(hosts.length);
  }

  /** Reports a host once, if the job has a listener. */
  report(host: number, reason: SignOfLife): void {
    if (!this.#job.onAlive || this.#reported[host] === 1) return;
    this.#reported[host] = 1;
    this.#job.onAlive(this.#hosts[host] as string, reason);
  }

  reportHostsOf({ counts: { open, closed } }: ChunkState): void {
    if (!this.#job.onAlive) return;
    for (const host of this.#hosts.keys()) {
      if (open[host] !== 0) this.report(host, 'syn-ack');
      else if (closed[host] !== 0) this.report(host, 'rst');
    }
  }
}

function partOf(
  route: Route,
  members: readonly { host: SweepHost; address: Address }[],
  macs: Uint8Array | null,
  key: PermutationKey,
): Part {
  const size = route.family === 4 ? 4 : 16;
  const addresses = new Uint8Array(size * members.length);
  for (const [at, { address }] of members.entries()) addresses.set(addressBytes(address), size * at);
  return { hosts: members.map(({ host }) => host.ip), addresses, route, macs, key, restored: null };
}

function outcomeOf(
  host: string,
  at: number,
  state: ChunkState,
  end: Pick<SynJob, 'ports' | 'listsSilent' | 'listsClosed'> & { stopped: boolean; failure: string | null },
): SweepOutcome {
  const { counts, stacks, late, openRuns } = state;
  const of = (name: keyof typeof counts) => counts[name][at] as number;
  const [open, closed, rejected] = [of('open'), of('closed'), of('rejected')];
  // Probed endpoints without a response are silent, unless the timeout was cut short.
  const silent = Math.max(0, of('probed') - of('unsent') - open - closed - rejected);
  const filtered = rejected + (end.stopped ? 0 : silent);
  const not_tried = end.ports.length - open - closed - filtered;
  const stack = stacks ? stackAt(stacks, at) : null;
  const isListed = !end.stopped && (end.listsSilent || dropsProbes(late?.[at] ?? 0, open + closed));
  return {
    host,
    open,
    closed,
    filtered,
    not_tried,
    problem: end.failure,
    rejected,
    rejections: [
      ...rejectedPorts(state.rejections, host, at, end.ports),
      ...(end.listsClosed ? respondedPorts(state, at, end.ports) : []),
    ],
    unsent: of('unsent'),
    openRun: openRuns?.[at] ?? 0,
    ...(stack && { stack }),
    ...(isListed && silent > 0 && { silent: silentPorts(state, at, end.ports) }),
  };
}

/** Ports of a host, by its index, without a response. */
function silentPorts({ settled }: ChunkState, host: number, ports: Uint16Array): number[] {
  const isSettled = (endpoint: number) => ((settled[endpoint >>> 3] as number) & (1 << (endpoint & 7))) !== 0;
  return [...ports].filter((_, number) => !isSettled(host * ports.length + number));
}

/**
 * It is on the link and does not reply to ARP: nothing can be sent to it, and the kernel reports such a host the same
 * way.
 */
function silentNeighbor(host: string, planned: number): SweepOutcome {
  return { host, open: 0, closed: 0, filtered: planned, not_tried: 0, problem: null };
}

function macBytes(text: string): Uint8Array | null {
  return /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text) ? Buffer.from(text.replaceAll(':', ''), 'hex') : null;
}
