import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { ShardWorker } from '../../worker/shard-worker.ts';
import { PeriodicTasks } from '../background/periodic-tasks.ts';
import { ownPools, presentMs, standInUrl } from './presence.ts';
import type { AwayServer, StandIn, StandInInput } from './stand-in.ts';

/** Interval at which a worker checks whether there is a server, milliseconds. */
const pollMs = 5000;

export interface StandInsInput extends StandInInput {
  /** Of the worker. */
  store: Store;
  /** Of the database, epoch milliseconds. */
  now: () => Promise<number>;
  worker: Pick<ShardWorker, 'takePlace' | 'serves'>;
}

/**
 * A worker in place of a server that is away, while no other server is there: it completes the scans of that one, with its
 * settings. Servers take them over themselves, and before.
 */
export class StandIns {
  readonly #input: StandInsInput;
  readonly #polls = new PeriodicTasks(() => this.#pollOrWarn(), { firstMs: pollMs, betweenMs: pollMs });
  #current: StandIn | null = null;
  #isFailing = false;

  constructor(input: StandInsInput) {
    this.#input = input;
  }

  start(): void {
    this.#polls.start();
  }

  /** Scans that have not ended wait for a server, or for another worker. */
  async close(timeoutMs: number): Promise<void> {
    await this.#polls.close();
    await this.#current?.close(timeoutMs);
    this.#current = null;
  }

  async #pollOrWarn(): Promise<void> {
    try {
      await this.#poll();
      this.#isFailing = false;
    } catch (err) {
      const message = 'cannot complete the scans of a server that is away, retrying';
      if (!this.#isFailing) this.#input.log.warn(logReason(err), message);
      this.#isFailing = true;
    }
  }

  async #poll(): Promise<void> {
    const { store, now, config, log } = this.#input;
    const present = await store.hosts.servers((await now()) - presentMs);
    const isServed = present.some(({ url }) => url !== standInUrl);
    if (this.#current === null) {
      // Another worker is enough.
      const away = present.length > 0 ? null : await this.#findAway();
      if (away === null) return;
      // Most workers never need it.
      const { startStandIn } = await import('./stand-in.ts');
      this.#current = await startStandIn(this.#input, away, this.#servesOwnPools);
      log.warn(
        { server_id: away.serverId },
        'no server is there: this worker completes the scans of one that is away',
      );
    } else if (this.#current.claimed === 0 && (isServed || !(await this.#current.hasScans()))) {
      await this.#current.close(config.server.shutdown_timeout);
      this.#current = null;
      log.info({}, 'this worker completes no more scans of servers');
    }
  }

  /** A server with scans that this worker can complete; those of earlier versions have no settings. */
  async #findAway(): Promise<AwayServer | null> {
    const { hosts, scanQueue, scanTakeovers } = this.#input.store;
    const resumesUndivided = this.#servesOwnPools();
    for (const { owner } of await scanQueue.unfinishedByOwner()) {
      const server = owner === null ? null : await hosts.server(owner);
      if (server?.settings && (await scanTakeovers.isLeft(server.server_id, { resumesUndivided })))
        return { serverId: server.server_id, settings: server.settings };
    }
    return null;
  }

  readonly #servesOwnPools = () => ownPools.every((name) => this.#input.worker.serves(name));
}
