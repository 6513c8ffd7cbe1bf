import type { Store } from '../../store/open.ts';
import { logReason } from '../../worker/log-reason.ts';
import type { ShardWorker } from '../../worker/shard-worker.ts';
import { PeriodicTasks, type PollIntervals } from '../background/periodic-tasks.ts';
import { ownPools, presentMs, standInUrl } from './presence.ts';
import type { AwayServer, StandIn, StandInInput, startStandIn } from './stand-in.ts';

/** Intervals at which a worker checks whether there is a server. */
const usualPace: PollIntervals = { firstMs: 5000, betweenMs: 5000 };
/** Most workers never need it. */
const loadAndStart: typeof startStandIn = async (...args) =>
  (await import('./stand-in.ts')).startStandIn(...args);

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
  readonly #start: typeof startStandIn;
  readonly #polls: PeriodicTasks;
  #current: StandIn | null = null;
  #isFailing = false;

  constructor(input: StandInsInput, start = loadAndStart, pace = usualPace) {
    this.#input = input;
    this.#start = start;
    this.#polls = new PeriodicTasks(() => this.#pollOrWarn(), pace);
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
      this.#current = await this.#start(this.#input, away, this.#servesOwnPools);
      log.warn(
        { server_id: away.serverId },
        'no server is there: this worker completes the scans of one that is away',
      );
    } else if (await isIdle(this.#current, isServed)) {
      const current = this.#current;
      // Whatever becomes of it: the next one is another one.
      this.#current = null;
      await current.close(config.server.shutdown_timeout);
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

/** Scans that it has taken over and that still wait count, too: a server takes them from it only a while after it is gone. */
async function isIdle(standIn: StandIn, isServed: boolean): Promise<boolean> {
  if (standIn.claimed > 0 || (await standIn.hasScans())) return false;
  return isServed || !(await standIn.findsScans());
}
