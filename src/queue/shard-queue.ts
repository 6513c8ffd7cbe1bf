import { defaultPriority, maxSmallAddresses, type ScanRequest } from '../domain/scan.ts';
import { type LeasedShard, mostShards, type ShardCommand, type ShardPlan } from '../domain/shard.ts';
import { anyInterface, countAddresses, parseTargets } from '../domain/targets/target.ts';
import type { Store } from '../store/open.ts';
import type { ExpiredShard, ShardClaim, ShardCommands, ShardHeartbeat } from '../store/shards.ts';
import { databaseTime } from './database-clock.ts';
import type { Dispatcher } from './dispatcher.ts';
import { type WakeUps, wakeEverybody } from './wake-ups.ts';

/** A claimed shard. */
export interface QueuedShard extends ShardClaim {
  /** The only shard of a scan of at most `maxSmallAddresses`. */
  isSmall: boolean;
}

/** Which shards a worker has room for. */
export interface ShardChoice {
  /** Those that another worker has started and lost or given back; they come first. */
  begun: boolean;
  small: boolean;
  /** Any that no worker has started. */
  all: boolean;
}

interface ShardSlip {
  scan_id: string;
  shard: number;
}

/** The database clock is read again after this time, milliseconds. */
const clockMs = 60_000;

/** The queues of shards, one per pool. */
export class ShardQueue {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #wakeUps: WakeUps | null;
  /** Lease of a shard after the last heartbeat, milliseconds. */
  readonly leaseMs: number;
  /** Database time at a given uptime of this machine, milliseconds. */
  #clock: { said: number; at: number } | null = null;

  /** @param options.wakeUps notifications; without them everybody polls */
  constructor(store: Store, dispatcher: Dispatcher, options: { leaseMs: number; wakeUps?: WakeUps }) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.leaseMs = options.leaseMs;
    this.#wakeUps = options.wakeUps ?? null;
  }

  /** Calls `wake` when the shards of a scan change. @returns unsubscribe */
  onNews(wake: (scanId: string) => void): () => void {
    return this.#wakeUps?.on(wake) ?? (() => undefined);
  }

  /** Time base of leases, epoch milliseconds: that of the database, independent of the clocks of hosts. */
  async now(): Promise<number> {
    if (this.#clock === null || performance.now() - this.#clock.at > clockMs) {
      const asked = performance.now();
      const said = await databaseTime(this.#store);
      this.#clock = { said, at: (asked + performance.now()) / 2 };
    }
    return Math.round(this.#clock.said + performance.now() - this.#clock.at);
  }

  /** Divides a scan into shards and sends a message for each, atomically. */
  async layOut(
    { scan_id: scanId, pool, priority = defaultPriority }: Pick<ScanRequest, 'scan_id' | 'pool' | 'priority'>,
    division: ShardPlan,
    of: number,
  ): Promise<void> {
    await this.#dispatcher.open(lineOf(pool));
    await this.#dispatcher.open(smallLineOf(pool));
    await this.#store.transaction(async (store) => {
      await store.shards.insert(scanId, pool, division, of);
      const shards = Array.from({ length: of }, (_, shard) => ({ scanId, shard, pool }));
      await this.#announce(store, shards, { priority });
      // In the other queue too, for workers without a place for small scans.
      if (isSmall(division, of)) await this.#announce(store, shards, { priority, lineIn: smallLineOf });
      await wakeEverybody(store, scanId);
    }, 'read committed');
  }

  /**
   * A worker starts a shard: the first start of a shard starts the scan.
   * @returns its time by the clock of this machine, ISO 8601 UTC; null for a scan without shards
   */
  async begin(scanId: string): Promise<string | null> {
    const now = await this.now();
    const begun = await this.#store.transaction(async (store) => {
      const division = await store.shards.begin(scanId, now);
      if (division?.first) await store.scanPauses.restartPauses(scanId, Date.now());
      return division;
    }, 'read committed');
    if (begun === null) return null;
    const agoMs = Math.max(0, (await this.now()) - Date.parse(begun.startedAt));
    return new Date(Date.now() - agoMs).toISOString();
  }

  /** Sends a command to all unfinished shards of a scan. */
  async command(scanId: string, command: ShardCommand): Promise<void> {
    await this.#store.shards.command(scanId, command);
    await wakeEverybody(this.#store, scanId);
  }

  /** Sends changed scope rules, as JSON text, to all shards of a scan. */
  async setRules(scanId: string, rules: string): Promise<void> {
    await this.#store.shards.setRules(scanId, rules);
    await wakeEverybody(this.#store, scanId);
  }

  /** Assigns rates, packets per second. */
  async grant(scanId: string, grants: readonly { shard: number; rate: number }[]): Promise<void> {
    for (const { shard, rate } of grants) await this.#store.shards.grant(scanId, shard, rate);
    if (grants.length > 0) await wakeEverybody(this.#store, scanId);
  }

  /** Expires leases of dead workers. @returns the shards that expired */
  async lapse(scanId: string, pool: string, maxAttempts: number): Promise<ExpiredShard[]> {
    await this.#dispatcher.open(urgentLineOf(pool));
    const now = await this.now();
    return await this.#store.transaction(async (store) => {
      const lapsed = await store.shards.expireLeases(scanId, now, maxAttempts);
      await this.#announce(
        store,
        lapsed.filter(({ failed }) => !failed),
        { lineIn: urgentLineOf },
      );
      if (lapsed.length > 0) await wakeEverybody(store, scanId);
      return lapsed;
    }, 'read committed');
  }

  /** Sends a message for each shard of a scan that waits: those before were for workers of an earlier version. */
  async announceAgain(scanId: string): Promise<void> {
    const shards = await this.#store.shards.waitingOf(scanId);
    for (const pool of new Set(shards.map((shard) => shard.pool)))
      await this.#dispatcher.open(urgentLineOf(pool));
    await this.#store.transaction(async (store) => {
      await this.#announce(store, shards, { lineIn: urgentLineOf });
      await wakeEverybody(store, scanId);
    }, 'read committed');
  }

  /** Claims the next shard of one of the pools; null if there is none. */
  async claim(
    worker: string,
    pools: readonly string[],
    { begun, small, all }: ShardChoice = { begun: true, small: true, all: true },
  ): Promise<QueuedShard | null> {
    const lines = [
      ...(begun ? pools.map(urgentLineOf) : []),
      ...(small ? pools.map(smallLineOf) : []),
      ...(all ? pools.map(lineOf) : []),
    ];
    for (const line of lines) {
      for (;;) {
        const slip = await this.#dispatcher.take<ShardSlip>(line);
        if (slip === null) break;
        const now = await this.now();
        const { scan_id: scanId, shard } = slip.data;
        const place = { scanId, shard };
        const claim = await this.#store.shards.claim(place, worker, now, now + this.leaseMs);
        await this.#dispatcher.done(line, slip);
        if (!claim) continue;
        await wakeEverybody(this.#store, scanId);
        return { ...claim, isSmall: isSmall(claim.plan, claim.of) };
      }
    }
    return null;
  }

  /** Renews the lease. Null: the shard belongs to another worker or has ended; nothing of it may be sent any more. */
  async beat(held: LeasedShard, beat: Omit<ShardHeartbeat, 'leaseUntil'>): Promise<ShardCommands | null> {
    return await this.#store.shards.heartbeat(held, {
      ...beat,
      leaseUntil: (await this.now()) + this.leaseMs,
    });
  }

  /** The first heartbeat of a worker: until the server of the scan has seen it, the shard has no rate. */
  async firstHeartbeat(
    held: LeasedShard,
    beat: Omit<ShardHeartbeat, 'leaseUntil'>,
  ): Promise<ShardCommands | null> {
    const commands = await this.beat(held, beat);
    if (commands !== null) await wakeEverybody(this.#store, held.scanId);
    return commands;
  }

  async finish(held: LeasedShard, outcome: string): Promise<boolean> {
    const finished = await this.#store.shards.finish(held, outcome, await this.now());
    if (finished) await wakeEverybody(this.#store, held.scanId);
    return finished;
  }

  /** Ends the lease of a shard that this worker cannot continue; counts as an attempt. */
  async abandon(held: LeasedShard): Promise<boolean> {
    const abandoned = await this.#store.shards.abandon(held);
    if (abandoned) await wakeEverybody(this.#store, held.scanId);
    return abandoned;
  }

  /** Releases the shards of workers known to be gone; does not count as an attempt. @param prefix of their IDs */
  async releaseOf(prefix: string): Promise<number> {
    const held = await this.#store.shards.heldBy(prefix);
    for (const shard of held) await this.release(shard, shard.pool);
    return held.length;
  }

  /** Gives a shard back for another worker to continue. */
  async release(held: LeasedShard, pool: string): Promise<boolean> {
    await this.#dispatcher.open(urgentLineOf(pool));
    return await this.#store.transaction(async (store) => {
      if (!(await store.shards.release(held))) return false;
      await this.#announce(store, [{ ...held, pool }], { lineIn: urgentLineOf });
      await wakeEverybody(store, held.scanId);
      return true;
    }, 'read committed');
  }

  /**
   * Of scans of one priority the early shards go first, so that a small scan does not wait for the end of a large one.
   * @param options.priority of the scan
   */
  async #announce(
    store: Store,
    shards: readonly { scanId: string; shard: number; pool: string }[],
    { priority = defaultPriority, lineIn = lineOf }: { priority?: number; lineIn?: (pool: string) => string },
  ): Promise<void> {
    for (const [pool, ofPool] of Map.groupBy(shards, ({ pool: name }) => name)) {
      const slips = ofPool.map(({ scanId, shard }) => ({
        data: { scan_id: scanId, shard } satisfies ShardSlip,
        // Servers of earlier versions send that of the default.
        priority: (priority - defaultPriority) * mostShards - shard,
      }));
      await this.#dispatcher.send(store, lineIn(pool), slips);
    }
  }
}

/** Workers of earlier versions, which send rows to the owner of a scan, take shards from other queues. */
function lineOf(pool: string): string {
  return `stored.${pool}`;
}

/** Queue of small scans; their shards are in the queue of their pool, too. */
function smallLineOf(pool: string): string {
  return `stored-small.${pool}`;
}

function isSmall({ addresses }: ShardPlan, of: number): boolean {
  if (of > 1 || addresses.length > maxSmallAddresses) return false;
  return countAddresses(parseTargets(addresses, anyInterface)) <= BigInt(maxSmallAddresses);
}

/** Queue of started shards: they go first. */
function urgentLineOf(pool: string): string {
  return `stored-begun.${pool}`;
}
