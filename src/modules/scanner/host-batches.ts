import type { Host } from '../../domain/host.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { maxChunkEndpoints, maxChunkHosts } from '../../net/packets/engine/chunk.ts';
import type { SweepHost } from '../../net/tcp/sweep-job.ts';
import { AddressIterator, type IteratorState } from '../address-iterator.ts';

/** Fewer hosts would get too many concurrent probes each; their ports are taken in turns instead. */
const leastHosts = 64;
/** Delay after a host was found, so that others join its batch, milliseconds. */
const gatherMs = 50;

/** The hosts of a sweep in batches, each complete once enough hosts are known or time has passed. */
export class HostBatches implements AsyncIterable<SweepHost[]> {
  /** Source of the hosts without discovery. */
  readonly walk: AddressIterator | null;
  /** Their number, if known. */
  readonly total: number | undefined;
  readonly #hosts: AsyncIterator<SweepHost> | Iterator<SweepHost>;
  readonly #most: number;

  private constructor(
    hosts: AsyncIterator<SweepHost> | Iterator<SweepHost>,
    walk: AddressIterator | null,
    ports: number,
    total?: number,
  ) {
    this.#hosts = hosts;
    this.walk = walk;
    this.total = total;
    this.#most = Math.min(
      maxChunkHosts,
      Math.max(leastHosts, Math.floor(maxChunkEndpoints / Math.max(1, ports))),
    );
  }

  /** @param restored state of an interrupted sweep */
  static of(addresses: AddressSet, restored: IteratorState | null, ports: number): HostBatches {
    const walk = new AddressIterator(addresses, restored);
    return new HostBatches(plain(walk), walk, ports, Number(addresses.size));
  }

  static discovered(hosts: AsyncIterable<Host>, ports: number): HostBatches {
    return new HostBatches(found(hosts), null, ports);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SweepHost[], void, undefined> {
    let waiting: Promise<IteratorResult<SweepHost>> | null = null;
    for (let ended = false; !ended; ) {
      const batch: SweepHost[] = [];
      let until = Number.POSITIVE_INFINITY;
      while (batch.length < this.#most) {
        waiting ??= Promise.resolve(this.#hosts.next());
        const next = await within(waiting, until);
        if (next === 'late') break;
        waiting = null;
        if (next.done) {
          ended = true;
          break;
        }
        if (batch.length === 0) until = performance.now() + gatherMs;
        batch.push(next.value);
      }
      if (batch.length > 0) yield batch;
    }
  }
}

function* plain(walk: AddressIterator): Generator<SweepHost, void, undefined> {
  for (const ip of walk) yield { ip };
}

async function* found(hosts: AsyncIterable<Host>): AsyncGenerator<SweepHost, void, undefined> {
  for await (const { ip, mac, latency_ms } of hosts) yield { ip, mac, latencyMs: latency_ms };
}

/** The value of a promise, or `late`. @param until performance.now() */
async function within<T>(promise: Promise<T>, until: number): Promise<T | 'late'> {
  if (until === Number.POSITIVE_INFINITY) return await promise;
  const left = until - performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, left), 'late');
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
