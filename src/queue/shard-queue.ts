import { randomUUID } from 'node:crypto';
import { defaultPriority, maxSmallAddresses, type ScanRequest } from '../domain/scan.ts';
import { type LeasedShard, mostShards, type ShardCommand, type ShardPlan } from '../domain/shard.ts';
import { anyInterface, countAddresses, parseTargets } from '../domain/targets/target.ts';
import type { Store } from '../store/open.ts';
import type { ClaimedJob, ShardClaim } from '../store/shard-jobs.ts';
import type { HeldShard, ShardCommands, ShardHeartbeat, WaitingShard } from '../store/shards.ts';
import { databaseTime } from './database-clock.ts';
import {
  type Dispatcher,
  type JobBand,
  longestClaimSeconds,
  type NewJob,
  type NewJobOptions,
} from './dispatcher.ts';
import type { WakeUps } from './wake-ups.ts';

/** A claimed shard. */
export interface QueuedShard extends ShardClaim {
  job: ClaimedJob;
  /** Milliseconds after the last renewal. */
  leaseMs: number;
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

/** Content of the job of a shard. */
interface ShardPlace {
  scan_id: string;
  shard: number;
}

export interface ShardQueueOptions {
  /** Lease of a shard after the last heartbeat, milliseconds. */
  leaseMs: number;
  /** Attempts of a shard; workers need none. */
  maxAttempts?: number;
  /** Notifications; without them everybody polls. */
  wakeUps?: WakeUps;
}

/** The database clock is read again after this time, milliseconds. */
const clockMs = 60_000;
/** Queue of the shards whose attempts have all failed. */
const deadLine = 'shards-dead';
/** A worker gives a shard back after this time, milliseconds: the queue keeps no claim for longer. */
export const longestTurnMs = longestClaimSeconds * 1000 - 3_600_000;

/**
 * The queues of shards, two per pool. The claim of a job is that of its shard: whatever changes one changes the other, in one
 * transaction, and where a shard starts and ends in one statement.
 */
export class ShardQueue {
  readonly #store: Store;
  readonly #dispatcher: Dispatcher;
  readonly #wakeUps: WakeUps | null;
  readonly #maxAttempts: number;
  readonly leaseMs: number;
  /** Database time at a given uptime of this machine, milliseconds. */
  #clock: { said: number; at: number } | null = null;

  constructor(store: Store, dispatcher: Dispatcher, options: ShardQueueOptions) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.leaseMs = options.leaseMs;
    this.#maxAttempts = options.maxAttempts ?? 1;
    this.#wakeUps = options.wakeUps ?? null;
  }

  /** Calls `wake` when the shards of a scan change. @returns unsubscribe */
  onNews(wake: (scanId: string) => void): () => void {
    return this.#wakeUps?.on('shards', wake) ?? (() => undefined);
  }

  /** Calls `wake` when there are shards to claim. @returns unsubscribe */
  onWork(wake: () => void): () => void {
    return this.#wakeUps?.on('work', wake) ?? (() => undefined);
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

  /** Divides a scan into shards with a job each. */
  async layOut(
    { scan_id: scanId, pool, priority = defaultPriority }: Pick<ScanRequest, 'scan_id' | 'pool' | 'priority'>,
    division: ShardPlan,
    of: number,
  ): Promise<void> {
    const line = isSmall(division, of) ? smallLineOf(pool) : lineOf(pool);
    await this.#open(line);
    const ids = Array.from({ length: of }, () => randomUUID());
    const jobs = ids.map((id, shard) => newJob(id, { scanId, shard, priority }));
    const sent = await this.#dispatcher.sending(line, jobs, this.#jobOptions);
    await this.#store.shardJobs.insert(scanId, pool, division, { line, ids }, sent);
    this.#wakeUps?.notify('work');
  }

  /**
   * A worker starts a shard: the first start of a shard starts the scan.
   * @returns its time by the clock of this machine, ISO 8601 UTC; null for a scan without shards
   */
  async begin(scanId: string): Promise<string | null> {
    const startedAt = (await this.#store.shards.startOf(scanId)) ?? (await this.#start(scanId));
    if (startedAt === null) return null;
    const agoMs = Math.max(0, (await this.now()) - Date.parse(startedAt));
    return new Date(Date.now() - agoMs).toISOString();
  }

  async #start(scanId: string): Promise<string | null> {
    const now = await this.now();
    return await this.#store.transaction(async (store) => {
      const division = await store.shards.begin(scanId, now);
      if (division?.first) await store.scanPauses.restartPauses(scanId, Date.now());
      return division?.startedAt ?? null;
    }, 'read committed');
  }

  /** Sends a command to all unfinished shards of a scan. */
  async command(scanId: string, command: ShardCommand): Promise<void> {
    await this.#store.shards.command(scanId, command);
    this.#wakeUps?.notify('shards', scanId);
  }

  /** Ends the shards of a canceled scan that no worker has. */
  async endWaiting(scanId: string): Promise<void> {
    const jobs = await this.#store.shards.endWaiting(scanId, Date.now());
    // A job that somebody claims at this moment has no shard any more.
    for (const [line, ofLine] of Map.groupBy(jobs, (job) => job.line)) {
      await this.#open(line);
      const ids = ofLine.map(({ id }) => id);
      await this.#dispatcher.drop(this.#store, line, ids);
    }
  }

  /** Sends changed scope rules, as JSON text, to all shards of a scan. */
  async setRules(scanId: string, rules: string): Promise<void> {
    await this.#store.shards.setRules(scanId, rules);
    this.#wakeUps?.notify('shards', scanId);
  }

  /** Assigns rates, packets per second. */
  async grant(scanId: string, grants: readonly { shard: number; rate: number }[]): Promise<void> {
    for (const { shard, rate } of grants) await this.#store.shards.grant(scanId, shard, rate);
    if (grants.length > 0) this.#wakeUps?.notify('shards', scanId);
  }

  /** Ends the claims of workers of a scan that are dead or gave up: their shards wait again, or fail for good. */
  async lapse(scanId: string): Promise<void> {
    for (const held of await this.#store.shards.silent(scanId, await this.now())) {
      await this.#open(held.job?.line ?? lineOf(held.pool));
      await this.#change(scanId, (store) => this.#takeAway(store, held));
    }
  }

  async #takeAway(store: Store, held: HeldShard): Promise<boolean> {
    const state = held.job === null ? 'none' : await this.#dispatcher.fail(store, held.job);
    if (state === 'claimed') return false;
    if (state === 'dead') {
      await this.buryDead(store);
      // Its letter may be gone: nobody claims a shard without a job.
      await store.shards.fail(held, await this.now());
      return true;
    }
    if (!(await store.shards.wait(held))) return false;
    if (state === 'none') await this.#giveJob(store, held);
    return true;
  }

  /** Fails the shards whose last attempt has failed. */
  async buryDead(store = this.#store): Promise<void> {
    await this.#dispatcher.open(deadLine);
    const now = await this.now();
    const dead = await store.transaction(async (inside) => {
      const places = await this.#dispatcher.takeDead<ShardPlace>(inside, deadLine);
      for (const { scan_id: scanId, shard } of places) await inside.shards.fail({ scanId, shard }, now);
      return places;
    }, 'read committed');
    for (const { scan_id: scanId } of dead) this.#wakeUps?.notify('shards', scanId);
  }

  /**
   * Gives each waiting shard of a scan that has no job one: an earlier version has divided it, or the database has lost the job.
   * @returns their number
   */
  async giveJobs(scanId: string): Promise<number> {
    const waiting = await this.#store.shards.waiting(scanId);
    const gone = await this.#goneJobs(waiting);
    const shards = waiting.filter(({ job }) => job === null || gone.has(job.id));
    if (shards.length === 0) return 0;
    for (const pool of new Set(shards.map((shard) => shard.pool))) await this.#open(lineOf(pool));
    await this.#change(scanId, async (store) => {
      for (const shard of shards) {
        const job = { line: lineOf(shard.pool), id: randomUUID(), retry: 0 };
        if (await store.shards.replaceJob(shard, job)) await this.#sendJob(store, shard, job);
      }
      return true;
    });
    return shards.length;
  }

  async #goneJobs(shards: readonly WaitingShard[]): Promise<Set<string>> {
    const jobs = shards.flatMap(({ job }) => job ?? []);
    const ofLines = [...Map.groupBy(jobs, ({ line }) => line)];
    const gone = await Promise.all(
      ofLines.map(([line, each]) =>
        this.#dispatcher.gone(
          this.#store,
          line,
          each.map(({ id }) => id),
        ),
      ),
    );
    return new Set(gone.flatMap((ids) => [...ids]));
  }

  async #giveJob(store: Store, { scanId, shard, pool }: Pick<HeldShard, 'scanId' | 'shard' | 'pool'>) {
    const job = { line: lineOf(pool), id: randomUUID(), retry: 0 };
    await store.shards.setJob({ scanId, shard }, job);
    await this.#sendJob(store, { scanId, shard }, job);
  }

  async #sendJob(store: Store, shard: Pick<HeldShard, 'scanId' | 'shard'>, { line, id }: ClaimedJob) {
    const jobs = [newJob(id, { ...shard, priority: defaultPriority })];
    await this.#dispatcher.send(store, line, jobs, this.#jobOptions);
  }

  /** Claims the next shard of one of the pools; null if there is none. */
  async claim(
    worker: string,
    pools: readonly string[],
    { begun, small, all }: ShardChoice = { begun: true, small: true, all: true },
  ): Promise<QueuedShard | null> {
    const places = [
      ...pools.map((pool) => ({ line: smallLineOf(pool), band: bandOf(begun, small) })),
      ...pools.map((pool) => ({ line: lineOf(pool), band: bandOf(begun, all) })),
    ];
    const asked = places.filter((place): place is { line: string; band: JobBand } => place.band !== null);
    if (asked.length === 0) return null;
    for (const { line } of asked) await this.#open(line);
    const fetches = await Promise.all(asked.map(({ line, band }) => this.#dispatcher.claiming(line, band)));
    for (;;) {
      const lease = { now: await this.now(), leaseMs: this.leaseMs };
      const fetched = await this.#store.shardJobs.claimNext(fetches, worker, lease);
      if (fetched === null) return null;
      const { place, id, retry, claim } = fetched;
      const job = { line: asked[place]?.line ?? '', id, retry };
      const leaseMs = Math.min(this.leaseMs, fetched.leaseMs);
      if (claim !== null) {
        this.#wakeUps?.notify('shards', claim.scanId);
        return { ...claim, job, leaseMs, isSmall: isSmall(claim.plan, claim.of) };
      }
      // Its shard has ended meanwhile.
      await this.#dispatcher.complete(this.#store, job);
    }
  }

  /**
   * Stores a report. @param isRenewed whether the lease is renewed, too
   * @returns null if the shard belongs to another worker or has ended; nothing of it may be sent any more
   */
  async beat(
    held: Pick<QueuedShard, 'scanId' | 'shard' | 'attempt' | 'job' | 'leaseMs'>,
    beat: Omit<ShardHeartbeat, 'leaseUntil'>,
    isRenewed = true,
  ): Promise<ShardCommands | null> {
    if (!isRenewed) return await this.#store.shards.heartbeat(held, beat);
    const leaseUntil = (await this.now()) + held.leaseMs;
    return await this.#store.transaction(async (store) => {
      if (!(await this.#dispatcher.renew(store, held.job))) return null;
      return await store.shards.heartbeat(held, { ...beat, leaseUntil });
    }, 'read committed');
  }

  /** The first heartbeat of a worker: until the server of the scan has seen it, the shard has no rate. */
  async firstHeartbeat(
    held: LeasedShard,
    beat: Omit<ShardHeartbeat, 'leaseUntil'>,
  ): Promise<ShardCommands | null> {
    const commands = await this.#store.shards.heartbeat(held, beat);
    if (commands !== null) this.#wakeUps?.notify('shards', held.scanId);
    return commands;
  }

  async finish(held: LeasedShard & { job: ClaimedJob }, outcome: string): Promise<boolean> {
    const completed = this.#dispatcher.completing(held.job);
    const finished = await this.#store.shardJobs.finish(held, outcome, await this.now(), completed);
    if (finished) this.#wakeUps?.notify('shards', held.scanId);
    return finished;
  }

  /** Ends the lease of a shard that this worker cannot continue; counts as an attempt. */
  async abandon(held: LeasedShard): Promise<boolean> {
    const abandoned = await this.#store.shards.abandon(held);
    if (abandoned) this.#wakeUps?.notify('shards', held.scanId);
    return abandoned;
  }

  /** Releases the shards of workers known to be gone; does not count as an attempt. @param prefix of their IDs */
  async releaseOf(prefix: string): Promise<number> {
    const held = await this.#store.shards.heldBy(prefix);
    for (const shard of held) await this.release(shard);
    return held.length;
  }

  /**
   * Gives a shard back for another worker to continue.
   * @param priority of its scan, if shards that wait shall have their turn; else it is the next one
   */
  async release(
    { job, ...held }: LeasedShard & { pool: string; job: ClaimedJob | null },
    priority?: number,
  ): Promise<boolean> {
    const turn = priority === undefined ? undefined : jobPriority(priority, mostShards - 1);
    await this.#open(job?.line ?? lineOf(held.pool));
    return await this.#change(held.scanId, async (store) => {
      const id = job && (await this.#dispatcher.giveBack(store, job, randomUUID(), turn));
      if (job && id === null) return false;
      if (!(await store.shards.wait(held))) return false;
      if (job === null || id === null) await this.#giveJob(store, held);
      else await store.shards.setJob(held, { line: job.line, id, retry: 0 });
      return true;
    });
  }

  /** A change of a scan's shards and their jobs in one transaction; wakes everybody if it was made: there may be work again. */
  async #change(scanId: string, change: (store: Store) => Promise<boolean>): Promise<boolean> {
    const changed = await this.#store.transaction(change, 'read committed');
    if (changed) {
      this.#wakeUps?.notify('shards', scanId);
      this.#wakeUps?.notify('work');
    }
    return changed;
  }

  async #open(line: string): Promise<void> {
    await this.#dispatcher.open(line, deadLine);
  }

  get #jobOptions(): NewJobOptions {
    return { retries: this.#maxAttempts - 1, leaseMs: this.leaseMs };
  }
}

/** @param scan.priority of the scan */
function newJob(
  id: string,
  { scanId, shard, priority }: { scanId: string; shard: number; priority: number },
): NewJob {
  const data: ShardPlace = { scan_id: scanId, shard };
  return { id, data, priority: jobPriority(priority, shard) };
}

/** Of scans of one priority the early shards go first, so that a small scan does not wait for the end of a large one. */
function jobPriority(ofScan: number, shard: number): number {
  return (ofScan - defaultPriority) * mostShards - shard;
}

/** Workers of earlier versions take shards from other queues. */
function lineOf(pool: string): string {
  return `shard-jobs.${pool}`;
}

/** Queue of small scans. */
function smallLineOf(pool: string): string {
  return `shard-jobs-small.${pool}`;
}

function bandOf(begun: boolean, others: boolean): JobBand | null {
  if (begun) return others ? 'any' : 'begun';
  return others ? 'new' : null;
}

function isSmall({ addresses }: ShardPlan, of: number): boolean {
  if (of > 1 || addresses.length > maxSmallAddresses) return false;
  return countAddresses(parseTargets(addresses, anyInterface)) <= BigInt(maxSmallAddresses);
}
