import type { Host } from '../../domain/host.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';
import type { NetworkGate } from '../../net/gate/gate.ts';
import { maxChunkEndpoints, maxChunkHosts } from '../../net/packets/engine/chunk.ts';
import type { SignOfLife, SweepProgress } from '../../net/tcp/sweep-job.ts';
import { AddressIterator, type IteratorState } from '../address-iterator.ts';
import { type PackedPart, packed, unpacked } from '../scanner/packed-progress.ts';
import { UnreachableHosts } from '../unreachable-hosts.ts';
import { UntriedHosts } from '../untried-hosts.ts';

/** Concurrent jobs: while one waits for late responses, the next one sends. */
const jobsAtOnce = 3;

const methods: Record<SignOfLife, string> = { 'syn-ack': 'tcp-syn-ack', rst: 'tcp-rst' };

export interface SynProbeInput {
  ctx: Pick<ExecContext, 'signal' | 'progress' | 'warn'> & { options: { timeout: number; retry: number } };
  data: DataContext;
  net: NetworkGate;
  ports: number[];
  before: SynProbeState | null;
}

/** Progress, for the checkpoint. */
export interface SynProbeState {
  walk: IteratorState;
  /** Jobs in progress, each as saved by the packet engine. */
  jobs: PackedPart[][];
}

/** Hosts probed together. */
interface Job {
  hosts: string[];
  state: SweepProgress | null;
}

/** Discovers live hosts by raw SYN packets: a host that accepts or refuses is up, and is published at once. */
export class SynProbe {
  readonly #input: SynProbeInput;
  readonly #walk: AddressIterator;
  readonly #total: number;
  readonly #ports: Uint16Array;
  readonly #jobs = new Set<Job>();
  readonly #untried = new UntriedHosts();
  readonly #unreachable = new UnreachableHosts();
  #failure: unknown = null;

  constructor(input: SynProbeInput) {
    const { addresses } = input.net;
    this.#input = input;
    this.#walk = new AddressIterator(addresses, input.before?.walk ?? null);
    this.#total = Number(addresses.size);
    this.#ports = Uint16Array.from(input.ports);
  }

  state(): SynProbeState {
    const jobs = [...this.#jobs].flatMap(({ state }) => (state ? [state.parts.map(packed)] : []));
    return { walk: this.#walk.state(), jobs };
  }

  /** @throws Error if the packet engine fails; hosts found until then are published */
  async run(): Promise<void> {
    const { ctx } = this.#input;
    if (this.#ports.length === 0) return;
    // The workers share one iterator; one that ends early ends it for all.
    const jobs = this.#planned();
    const lane = async () => {
      for (const job of jobs) {
        if (ctx.signal.aborted || this.#failure) return;
        await this.#sweep(job);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: jobsAtOnce }, lane));
    ctx.signal.throwIfAborted();
    this.#untried.warn(ctx);
    this.#unreachable.warn(ctx);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (this.#failure) throw this.#failure;
  }

  /** First the jobs in progress of an interrupted run, then the rest of the iteration. */
  *#planned(): Generator<Job, void, undefined> {
    // Empty if the addresses have changed; the saved jobs are useless then, too.
    const open = new Set(this.#walk.state().open);
    // The iterator starts with the open ones; taken from it here, they can be marked complete.
    for (let left = open.size; left > 0; left--) this.#walk.next();
    for (const parts of open.size > 0 ? (this.#input.before?.jobs ?? []) : []) {
      const hosts = parts.flatMap((part) => part.hosts);
      for (const host of hosts) open.delete(host);
      yield { hosts, state: { parts: parts.map(unpacked) } };
    }
    yield* this.#fresh(open);
    yield* this.#fresh(this.#walk);
  }

  *#fresh(addresses: Iterable<string>): Generator<Job, void, undefined> {
    const most = Math.min(maxChunkHosts, Math.floor(maxChunkEndpoints / Math.max(1, this.#ports.length)));
    let hosts: string[] = [];
    for (const address of addresses) {
      if (hosts.push(address) < most) continue;
      yield { hosts, state: null };
      hosts = [];
    }
    if (hosts.length > 0) yield { hosts, state: null };
  }

  async #sweep(job: Job): Promise<void> {
    const { ctx, net } = this.#input;
    const publications: Promise<void>[] = [];
    this.#jobs.add(job);
    const outcomes = await net.sweepSyn({
      hosts: job.hosts.map((ip) => ({ ip })),
      ports: this.#ports,
      retries: ctx.options.retry,
      timeoutMs: ctx.options.timeout,
      hostRate: 0,
      signal: ctx.signal,
      onOpen: () => undefined,
      onAlive: (host, reason) => publications.push(this.#publish(host, reason)),
      onState: (state) => {
        job.state = state;
      },
      restored: job.state,
    });
    await Promise.all(publications);
    // Silence cut short by an abort is not an outcome.
    if (ctx.signal.aborted) return;
    for (const { host, problem, open, closed, rejections = [] } of outcomes) {
      if (open + closed === 0) this.#unreachable.note(host, rejections);
      if (problem !== null) this.#untried.note(host, problem);
      this.#walk.settle(host);
    }
    this.#jobs.delete(job);
    ctx.progress(this.#walk.settled, this.#total);
  }

  /** Hosts complete before an interruption were published then. */
  async #publish(host: string, reason: SignOfLife): Promise<void> {
    if (!this.#walk.isOpen(host)) return;
    try {
      await this.#input.data.append<Host>('discovered_hosts', {
        ip: host,
        latency_ms: null,
        method: methods[reason],
      });
      this.#walk.settle(host);
    } catch (error) {
      this.#failure ??= error;
    }
  }
}
