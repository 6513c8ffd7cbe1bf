import { type Address, addressBytes, parseAddress } from '../../domain/targets/address.ts';
import { furtherTries } from '../adaptive/late-responses.ts';
import type { SocketEgress } from '../egress.ts';
import { localTrouble } from '../failure.ts';
import type { PauseGate } from '../gate/pause-gate.ts';
import type { Slots } from '../gate/slots.ts';
import { scopeIdOf } from '../interface-index.ts';
import type { ConnectPlan } from '../packets/connect/connect-chunk.ts';
import { ConnectEngine } from '../packets/connect/connect-engine.ts';
import { type ChunkState, maxChunkEndpoints, maxChunkHosts } from '../packets/engine/chunk.ts';
import { rejectedPorts } from '../packets/engine/rejection-table.ts';
import { type PermutationKey, randomPermutationKey } from '../packets/frame/permutation.ts';
import { synTimeoutMs } from './attempt.ts';
import { respondedPorts } from './responded-ports.ts';
import {
  type ConnectJob,
  dropsProbes,
  reportEarlierUnsent,
  type SweepInput,
  type SweepJob,
  type SweepOutcome,
  sparedEndpoints,
  startObstacle,
  unreached,
} from './sweep-job.ts';

/** Connection slots that sweeps leave for service probes; a quarter if there are few. */
const placesLeft = 16;
/** Interval of taking slots that others have returned, milliseconds. */
const placesMs = 100;

interface ConnectSweepInput extends SweepInput {
  /** Connection slots of the whole scan. */
  slots: Slots;
  mostConnections: number;
  door: PauseGate;
  /** Response time from which a host counts as slow. */
  slowAnswerMs: number;
  isSlow(address: string): boolean;
  closesInOrder(port: number): boolean;
  onSlow(address: string): void;
}

/** Hosts of one family that connections reach the same way. */
interface Part {
  hosts: { ip: string; address: Address; isSlow: boolean }[];
  key: PermutationKey;
  restored: ChunkState | null;
  egress: SocketEgress | null;
}

/** Sweeps by full connections without an object for each: threads of this process attempt them with epoll(7). */
export class ConnectSweeper {
  readonly #input: ConnectSweepInput;
  #engine: Promise<ConnectEngine> | null = null;
  #forgetDoor: () => void = () => undefined;
  /** Parts in progress. */
  readonly #running = new Set<{ hosts: readonly string[]; drop: (hosts: number[]) => void }>();
  readonly #jobs = new Set<ConnectJob>();
  #places = 0;
  #placesTimer: NodeJS.Timeout | null = null;

  constructor(input: ConnectSweepInput) {
    this.#input = input;
  }

  /** Why such connections are not possible here, or null. */
  obstacle(signal: AbortSignal): Promise<string | null> {
    return startObstacle(this.#started(), signal);
  }

  /** @throws Error if the engine fails; results until then were reported */
  async sweep(job: ConnectJob): Promise<SweepOutcome[]> {
    if (job.hosts.length > maxChunkHosts || job.hosts.length * job.ports.length > maxChunkEndpoints) {
      throw new RangeError('the job is larger than one chunk');
    }
    const engine = await this.#started();
    const outcomes: SweepOutcome[] = [];
    const parts = this.#parts(job, outcomes);
    const states = parts.map(({ restored }) => restored);
    const report = () =>
      job.onState({
        parts: parts.flatMap(({ hosts, key }, at) => {
          const state = states[at];
          return state ? [{ hosts: hosts.map(({ ip }) => ip), key, state }] : [];
        }),
      });
    await this.#enter(engine, job);
    try {
      const runs = parts.map(async (part, at) => {
        const state = await this.#run(engine, job, part, (now) => {
          states[at] = now;
          report();
        });
        states[at] = state;
        report();
        return part.hosts.map(({ ip }, host) => outcomeOf(ip, host, state, job));
      });
      return [...outcomes, ...(await Promise.all(runs)).flat()];
    } finally {
      this.#leave(engine, job);
    }
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
    this.#forgetDoor();
    await (await engine?.catch(() => null))?.close();
  }

  #started(): Promise<ConnectEngine> {
    if (this.#engine) return this.#engine;
    const { rate, adaptive, door, onSent, onUnsent } = this.#input;
    this.#engine = ConnectEngine.start(rate, {
      onSent,
      onRepeated: (count) => {
        for (let at = 0; at < count; at++) rate.charge();
        onSent(count);
      },
      onTrouble: (reason, count) => onUnsent(localTrouble(reason), count),
    }).then((engine) => {
      if (adaptive) engine.adaptTo(adaptive);
      engine.hold(door.held);
      this.#forgetDoor = door.onChange((held) => engine.hold(held));
      return engine;
    });
    return this.#engine;
  }

  /** Takes slots for the connections of a job; waits only for the first one. */
  async #enter(engine: ConnectEngine, job: ConnectJob): Promise<void> {
    this.#jobs.add(job);
    const { slots } = this.#input;
    if (this.#places === 0 && (await slots.acquire(job.signal))) {
      // Jobs that start at the same time wait for one slot each, and one suffices for all of them.
      if (this.#places === 0) this.#places += 1;
      else slots.release();
    }
    this.#takePlaces(engine);
    this.#placesTimer ??= setInterval(() => this.#takePlaces(engine), placesMs);
  }

  #takePlaces(engine: ConnectEngine): void {
    const { slots, mostConnections } = this.#input;
    const wanted = Math.max(0, ...[...this.#jobs].map(({ concurrency }) => concurrency));
    const left = Math.min(placesLeft, Math.floor(mostConnections / 4));
    const most = Math.min(wanted, mostConnections - left);
    while (this.#places < most && slots.tryAcquire()) this.#places += 1;
    engine.most = Math.min(this.#places, most);
  }

  #leave(engine: ConnectEngine, job: ConnectJob): void {
    this.#jobs.delete(job);
    if (this.#jobs.size > 0) return;
    if (this.#placesTimer) clearInterval(this.#placesTimer);
    this.#placesTimer = null;
    engine.most = 0;
    for (; this.#places > 0; this.#places--) this.#input.slots.release();
  }

  async #run(
    engine: ConnectEngine,
    job: ConnectJob,
    part: Part,
    onState: (state: ChunkState) => void,
  ): Promise<ChunkState> {
    const { ports } = job;
    const hosts = part.hosts.map(({ ip }) => ip);
    const { outcome, drop } = engine.run({
      plan: this.#planOf(job, part),
      signal: job.signal,
      onOpen: (endpoint, thenReset) => {
        const host = hosts[Math.floor(endpoint / ports.length)] as string;
        const reason = thenReset ? 'accept-then-reset' : 'syn-ack';
        job.onOpen(host, ports[endpoint % ports.length] as number, reason);
      },
      onState,
      onSlow: (host) => this.#input.onSlow(hosts[host] as string),
    });
    reportEarlierUnsent(this.#input, part.restored);
    const running = { hosts, drop };
    this.#running.add(running);
    this.narrowed();
    return await outcome.finally(() => this.#running.delete(running));
  }

  #planOf(job: ConnectJob, { hosts, key, restored, egress }: Part): Omit<ConnectPlan, 'id'> {
    const family = hosts[0]?.address.family ?? 4;
    const size = family === 4 ? 4 : 16;
    const addresses = new Uint8Array(size * hosts.length);
    for (const [at, { address }] of hosts.entries()) addresses.set(addressBytes(address), size * at);
    return {
      family,
      hosts: addresses,
      scopes: Uint32Array.from(hosts, ({ address }) => (address.zone === null ? 0 : scopeIdOf(address.zone))),
      egress,
      ports: job.ports,
      leading: job.leading,
      inOrder: [...job.ports].filter((port) => this.#input.closesInOrder(port)),
      tries: job.retries + 1,
      furtherTries: this.#input.adaptive && job.retries > 0 ? furtherTries : 0,
      key,
      patienceMs: Math.min(job.timeoutMs, synTimeoutMs),
      slowPatienceMs: job.timeoutMs,
      slowAnswerMs: this.#input.slowAnswerMs,
      slow: [...hosts.keys()].filter((at) => hosts[at]?.isSlow),
      spared: sparedEndpoints(
        this.#input,
        hosts.map(({ ip }) => ip),
        job.ports,
      ),
      restored,
    };
  }

  /** The parts of an interrupted sweep unchanged, the other hosts by their way, and outcomes of unreachable ones. */
  #parts(job: ConnectJob, outcomes: SweepOutcome[]): Part[] {
    const { slowAnswerMs, isSlow: isSlowHost, egress } = this.#input;
    const known = new Map<string, Part['hosts'][number]>();
    for (const { ip, latencyMs } of job.hosts) {
      const address = parseAddress(ip);
      const problem = address && egress.refusal(address);
      if (problem) outcomes.push(unreached(ip, job.ports.length, problem));
      else if (address)
        known.set(ip, { ip, address, isSlow: isSlowHost(ip) || (latencyMs ?? 0) > slowAnswerMs });
    }
    const parts: Part[] = [];
    for (const { hosts, key, state } of job.restored?.parts ?? []) {
      const group = hosts.flatMap((ip) => known.get(ip) ?? []);
      const [part, other] = this.#byWay(group, key);
      // If the way to some of them has changed, all of them start over.
      if (!part || other || group.length !== hosts.length) continue;
      for (const ip of hosts) known.delete(ip);
      parts.push({ ...part, restored: state });
    }
    return [...parts, ...this.#byWay([...known.values()], null)];
  }

  #byWay(hosts: Part['hosts'], key: PermutationKey | null): Part[] {
    const { egress } = this.#input;
    const groups = Map.groupBy(hosts, ({ address }) => `${address.family} ${egress.isLocal(address)}`);
    return [...groups.values()].map((group) => {
      const [first] = group;
      const way = first ? egress.connectionTo(first.address) : null;
      return { hosts: group, key: key ?? randomPermutationKey(), restored: null, egress: way };
    });
  }
}

function outcomeOf(
  host: string,
  at: number,
  state: ChunkState,
  { ports, signal, listsClosed }: SweepJob,
): SweepOutcome {
  const { counts, late, openRuns } = state;
  const of = (name: keyof typeof counts) => counts[name][at] as number;
  const [open, closed] = [of('open'), of('closed')];
  const filtered = of('probed') - open - closed - of('unsent');
  const not_tried = ports.length - open - closed - filtered;
  const silent =
    !signal.aborted && dropsProbes(late?.[at] ?? 0, open + closed) ? silentPorts(state, at, ports) : [];
  return {
    host,
    open,
    closed,
    filtered,
    not_tried,
    problem: null,
    rejected: of('rejected'),
    rejections: [
      ...rejectedPorts(state.rejections, host, at, ports),
      ...(listsClosed ? respondedPorts(state, at, ports) : []),
    ],
    openRun: openRuns?.[at] ?? 0,
    ...(silent.length > 0 && { silent }),
  };
}

function silentPorts({ silent }: ChunkState, host: number, ports: Uint16Array): number[] {
  const isSilent = (endpoint: number) => (((silent?.[endpoint >>> 3] ?? 0) >> (endpoint & 7)) & 1) === 1;
  return [...ports].filter((_, number) => isSilent(host * ports.length + number));
}
