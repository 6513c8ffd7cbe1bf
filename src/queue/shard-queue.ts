import { createHash, randomBytes } from 'node:crypto';
import type { ShardCommand, ShardPlan } from '../domain/shard.ts';
import type { Store } from '../store/open.ts';
import type { LapsedShard, LeasedShard, ShardClaim, ShardCommands, ShardHeartbeat } from '../store/shards.ts';
import { databaseTime } from './database-clock.ts';
import type { Dispatcher } from './dispatcher.ts';
import { type WakeUps, wakeEverybody } from './wake-ups.ts';

/** A shard that this process may work on, and what it proves that with to the home of the scan. */
export interface QueuedShard extends ShardClaim {
  key: string;
}

interface ShardSlip {
  scan_id: string;
  shard: number;
}

/** The clock of the database is asked again after this time, milliseconds. */
const clockMs = 60_000;

/** The lines of shards, one for each pool. */
export class ShardQueue {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #wakeUps: WakeUps | null;
  /** How long a worker has a shard without a sign of life, milliseconds. */
  readonly leaseMs: number;
  /** What the clock of the database said when this machine had been up for so long, milliseconds. */
  #clock: { said: number; at: number } | null = null;

  /** @param options.wakeUps what tells of news at once; absent = everybody looks by the clock */
  constructor(store: Store, dispatcher: Dispatcher, options: { leaseMs: number; wakeUps?: WakeUps }) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.leaseMs = options.leaseMs;
    this.#wakeUps = options.wakeUps ?? null;
  }

  /** Calls `wake` at once when there is news of the shards of a scan. @returns what ends that */
  onNews(wake: (scanId: string) => void): () => void {
    return this.#wakeUps?.on(wake) ?? (() => undefined);
  }

  /**
   * The time that leases are reckoned by, epoch milliseconds: that of the database, which the clocks of hosts, set or
   * not, have no part in.
   */
  async now(): Promise<number> {
    if (this.#clock === null || performance.now() - this.#clock.at > clockMs) {
      const asked = performance.now();
      const said = await databaseTime(this.#store);
      this.#clock = { said, at: (asked + performance.now()) / 2 };
    }
    return Math.round(this.#clock.said + performance.now() - this.#clock.at);
  }

  /** Divides a scan into so many shards and lays out a slip for each: all of it or nothing. */
  async layOut(scanId: string, pool: string, division: ShardPlan, of: number): Promise<void> {
    await this.#dispatcher.open(lineOf(pool));
    await this.#store.transaction(async (store) => {
      await store.shards.insert(scanId, pool, division, of);
      await this.#announce(
        store,
        Array.from({ length: of }, (_, shard) => ({ scanId, shard, pool })),
      );
      await wakeEverybody(store, scanId);
    });
  }

  /**
   * A worker begins with a shard: its scan runs from the first such moment on.
   * @returns when that was, by the clock of this machine, ISO 8601 UTC; null for a scan that is not divided
   */
  async begin(scanId: string): Promise<string | null> {
    const now = await this.now();
    const begun = await this.#store.transaction(async (store) => {
      const division = await store.shards.begin(scanId, now);
      if (division?.first) await store.scanQueue.restartPauses(scanId, Date.now());
      return division;
    });
    if (begun === null) return null;
    const agoMs = Math.max(0, (await this.now()) - Date.parse(begun.startedAt));
    return new Date(Date.now() - agoMs).toISOString();
  }

  /** Tells all shards of a scan that are not over what is wanted. */
  async command(scanId: string, command: ShardCommand): Promise<void> {
    await this.#store.shards.command(scanId, command);
    await wakeEverybody(this.#store, scanId);
  }

  /** Hands changed scope rules, as JSON text, to all shards of a scan. */
  async setRules(scanId: string, rules: string): Promise<void> {
    await this.#store.shards.setRules(scanId, rules);
    await wakeEverybody(this.#store, scanId);
  }

  /** Grants rates, packets per second. */
  async grant(scanId: string, grants: readonly { shard: number; rate: number }[]): Promise<void> {
    for (const { shard, rate } of grants) await this.#store.shards.grant(scanId, shard, rate);
    if (grants.length > 0) await wakeEverybody(this.#store, scanId);
  }

  /** Shards whose worker is gone wait again. @returns those that lapsed */
  async lapse(scanId: string, pool: string, maxAttempts: number): Promise<LapsedShard[]> {
    await this.#dispatcher.open(urgentLineOf(pool));
    const now = await this.now();
    return await this.#store.transaction(async (store) => {
      const lapsed = await store.shards.lapse(scanId, now, maxAttempts);
      await this.#announce(
        store,
        lapsed.filter(({ failed }) => !failed),
        urgentLineOf,
      );
      if (lapsed.length > 0) await wakeEverybody(store, scanId);
      return lapsed;
    });
  }

  /**
   * Takes the next shard of one of the pools; null when there is none.
   * @param which `begun`: only shards that another worker has begun and lost or given back
   */
  async claim(
    worker: string,
    pools: readonly string[],
    which: 'all' | 'begun' = 'all',
  ): Promise<QueuedShard | null> {
    const lines = [...pools.map(urgentLineOf), ...(which === 'all' ? pools.map(lineOf) : [])];
    for (const line of lines) {
      for (;;) {
        const slip = await this.#dispatcher.take<ShardSlip>(line);
        if (slip === null) break;
        const key = randomBytes(32).toString('base64url');
        const now = await this.now();
        const { scan_id: scanId, shard } = slip.data;
        const place = { scanId, shard };
        const claim = await this.#store.shards.claim(
          place,
          { id: worker, keyDigest: keyDigestOf(key) },
          now,
          now + this.leaseMs,
        );
        await this.#dispatcher.done(line, slip);
        if (!claim) continue;
        await wakeEverybody(this.#store, scanId);
        return { ...claim, key };
      }
    }
    return null;
  }

  /** Prolongs the lease. Null: the shard is somebody else's or over, and nothing of it may be sent any more. */
  async beat(held: LeasedShard, beat: Omit<ShardHeartbeat, 'leaseUntil'>): Promise<ShardCommands | null> {
    return await this.#store.shards.beat(held, { ...beat, leaseUntil: (await this.now()) + this.leaseMs });
  }

  async finish(held: LeasedShard, outcome: string): Promise<boolean> {
    const finished = await this.#store.shards.finish(held, outcome, await this.now());
    if (finished) await wakeEverybody(this.#store, held.scanId);
    return finished;
  }

  /** Ends the lease of a shard that this worker cannot carry on; that costs a try. */
  async abandon(held: LeasedShard): Promise<boolean> {
    const abandoned = await this.#store.shards.abandon(held);
    if (abandoned) await wakeEverybody(this.#store, held.scanId);
    return abandoned;
  }

  /** Gives back what workers had that are known to be gone; that costs no try. @param prefix of their ids */
  async releaseOf(prefix: string): Promise<number> {
    const held = await this.#store.shards.heldBy(prefix);
    for (const shard of held) await this.release(shard, shard.pool);
    return held.length;
  }

  /** Gives a shard back, for another worker to go on with it. */
  async release(held: LeasedShard, pool: string): Promise<boolean> {
    await this.#dispatcher.open(urgentLineOf(pool));
    return await this.#store.transaction(async (store) => {
      if (!(await store.shards.release(held))) return false;
      await this.#announce(store, [{ ...held, pool }], urgentLineOf);
      await wakeEverybody(store, held.scanId);
      return true;
    });
  }

  /** Early shards go first whatever scan they are of, so that a small scan does not wait for the end of a large one. */
  async #announce(
    store: Store,
    shards: readonly { scanId: string; shard: number; pool: string }[],
    lineIn: (pool: string) => string = lineOf,
  ): Promise<void> {
    for (const [pool, ofPool] of Map.groupBy(shards, ({ pool: name }) => name)) {
      const slips = ofPool.map(({ scanId, shard }) => ({
        data: { scan_id: scanId, shard } satisfies ShardSlip,
        priority: -shard,
      }));
      await this.#dispatcher.send(store, lineIn(pool), slips);
    }
  }
}

/** What the store keeps of a worker's key. */
export function keyDigestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function lineOf(pool: string): string {
  return `shards.${pool}`;
}

/** For shards that were begun: nobody waits for them behind others. */
function urgentLineOf(pool: string): string {
  return `begun.${pool}`;
}
