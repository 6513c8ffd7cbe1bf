import { EventEmitter } from 'node:events';
import { ownerAway, poolWithoutWorkers } from '../../actions/scans/window-warning.ts';
import { allTags, type PoolTags, servedPools } from '../../domain/pool-tags.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import { machineNow } from '../../net/machine-clock.ts';
import type { Store } from '../../store/open.ts';
import type { ServerLog } from '../logging/log.ts';

/** A server or worker is present if its last heartbeat is younger than this, milliseconds. */
export const presentMs = 15_000;
/** With a longer pause between two of its own heartbeats, a server does not know which others were absent meanwhile, milliseconds. */
const maxGapMs = 12_000;
/** Servers and workers are deleted this long after their last heartbeat, milliseconds. */
const forgottenMs = 24 * 3_600_000;
/** A job continues without its last run once that run's owner has been absent for this long, milliseconds. */
const abandonedMs = 60_000;
/** A server stops its undivided scans this long before another one may take them over, milliseconds. */
const keepMarginMs = 1000;
/** Beside an idle worker, scans wait for the next poll, or for the lease of one that died; no longer than this without a fault, milliseconds. */
const leastWaitMs = 120_000;
/** Maximum number of scans of absent owners that show a warning. */
const maxAwayScans = 10_000;

/** Pools of a server's own workers; other pools need workers that name them. */
export const ownPools = ['default'] as const;

/** Of a worker that completes scans: it gives heartbeats as a server does, but serves nobody. */
export const standInUrl = '';

/** A pool in which scans wait: without workers, or although one is idle. */
export interface WaitingPool {
  pool: string;
  scans: number;
}

/** An absent server that owns unfinished scans. */
export interface AwayOwner {
  server_id: string;
  /** Epoch milliseconds; null without a heartbeat for a day. */
  last_seen: number | null;
  scans: number;
}

/** Which workers and servers on the database are present, and which scans wait for absent ones. */
export class Presence {
  /** Workers of all hosts, including those of servers. */
  readonly workers = { active: 0, total: 0 };
  #servedPools: ReadonlySet<string> = new Set(ownPools);
  #unserved: readonly WaitingPool[] = [];
  /** Pools with a worker that runs nothing. */
  #idlePools: readonly string[] = [];
  /** Since when each look has found scans that wait beside an idle worker of their pool, by the monotonic clock. */
  #waitingSince: ReadonlyMap<string, number> = new Map();
  #stuck: readonly WaitingPool[] = [];
  #away: readonly AwayOwner[] = [];
  /** Last heartbeat of the owner by scan, epoch milliseconds. */
  #awayScans: ReadonlyMap<string, number | null> = new Map();
  /** Before the first poll nothing counts as absent. */
  #known = false;
  #onServed: () => void = () => undefined;
  /** Since when this server gives heartbeats without a gap, and its last one, by the monotonic clock. */
  #steadySince: number | null = null;
  #signedAt = Number.NEGATIVE_INFINITY;
  /** When the last heartbeat was sent, see machineNow. */
  #signAskedAt: number | null = null;
  readonly #signed = new EventEmitter().setMaxListeners(0);
  readonly #clock: () => number;
  readonly #store: Store;
  readonly #now: () => Promise<number>;
  readonly #own: string;
  readonly #poolTags: PoolTags;
  readonly #settings: () => string;
  readonly #waitMs: number;
  readonly #log: Pick<ServerLog, 'info' | 'warn'>;

  /**
   * @param store of all tenants
   * @param now database clock
   * @param own id of this server, the tags of its pools, its settings of scans as JSON, and the lease of shards in milliseconds
   * @param clock monotonic milliseconds
   */
  constructor(
    store: Store,
    now: () => Promise<number>,
    own: { id: string; poolTags: PoolTags; settings: () => string; leaseMs: number },
    log: Pick<ServerLog, 'info' | 'warn'>,
    clock: () => number = () => performance.now(),
  ) {
    this.#clock = clock;
    this.#store = store;
    this.#now = now;
    this.#own = own.id;
    this.#poolTags = own.poolTags;
    this.#settings = own.settings;
    this.#waitMs = Math.max(leastWaitMs, 2 * own.leaseMs);
    this.#log = log;
  }

  get servedPools(): ReadonlySet<string> {
    return this.#servedPools;
  }

  get unservedPools(): readonly WaitingPool[] {
    return this.#unserved;
  }

  /** Pools in which scans have waited for minutes although a worker was idle all the time. */
  get stuckPools(): readonly WaitingPool[] {
    return this.#stuck;
  }

  get awayOwners(): readonly AwayOwner[] {
    return this.#away;
  }

  /** @param notify called when a pool gets its first worker */
  onServed(notify: () => void): void {
    this.#onServed = notify;
  }

  async lookForWorkers(): Promise<void> {
    const since = (await this.#now()) - presentMs;
    const present = await this.#store.hosts.workers(since);
    const required = allTags([this.#poolTags, await this.#store.hosts.poolTags(since)]);
    const sum = (of: 'active' | 'capacity') => present.reduce((total, worker) => total + worker[of], 0);
    this.workers.active = sum('active');
    this.workers.total = Math.max(sum('capacity'), this.workers.active);
    const own = { pools: [...ownPools], tags: [] };
    const served = new Set([own, ...present].flatMap((worker) => servedPools(worker, required)));
    const idle = present.filter(({ active }) => active === 0);
    this.#idlePools = [...new Set(idle.flatMap((worker) => servedPools(worker, required)))];
    const more = [...served].some((pool) => !this.#servedPools.has(pool));
    this.#servedPools = served;
    this.#known = true;
    if (more) this.#onServed();
  }

  /** Finds scans that wait for an absent worker; the workers must already be known. */
  async lookForScans(): Promise<void> {
    const now = await this.#now();
    const unfinished = await this.#store.scanQueue.unfinishedByOwner();
    const present = new Set((await this.#store.hosts.servers(now - presentMs)).map((one) => one.server_id));
    present.add(this.#own);
    this.#setUnserved(totals(unfinished, ({ pool }) => pool));
    const owners = totals(unfinished, ({ owner }) => owner).filter(([id]) => !present.has(id));
    await this.#setAway(owners);
    await this.#setStuck(now);
  }

  /** @param now of the database, epoch milliseconds */
  async #setStuck(now: number): Promise<void> {
    const before = new Date(now - this.#waitMs).toISOString();
    const waiting = await this.#store.scanQueue.unbegunByPool(this.#idlePools, before);
    const at = this.#clock();
    const known = this.#waitingSince;
    this.#waitingSince = new Map(waiting.map(({ pool }) => [pool, known.get(pool) ?? at]));
    const isLong = (pool: string) => at - (this.#waitingSince.get(pool) ?? at) >= this.#waitMs;
    const stuck = this.#isSteadyFor(this.#waitMs) ? waiting.filter(({ pool }) => isLong(pool)) : [];
    for (const { pool, scans } of stuck)
      if (!this.#stuck.some((one) => one.pool === pool))
        this.#log.warn({ pool, scans }, 'scans wait although a worker of their pool is idle');
    this.#stuck = stuck;
  }

  #setUnserved(pools: readonly [string, number][]): void {
    const before = new Set(this.#unserved.map(({ pool }) => pool));
    this.#unserved = pools.flatMap(([pool, scans]) =>
      this.#known && !this.#servedPools.has(pool) ? [{ pool, scans }] : [],
    );
    for (const { pool, scans } of this.#unserved)
      if (!before.has(pool)) this.#log.warn({ pool, scans }, 'pool without workers');
  }

  async #setAway(owners: readonly [string, number][]): Promise<void> {
    const away: AwayOwner[] = [];
    for (const [server_id, scans] of owners) {
      const last_seen = (await this.#store.hosts.server(server_id))?.last_seen ?? null;
      away.push({ server_id, last_seen, scans });
    }
    const seen = new Map(away.map(({ server_id, last_seen }) => [server_id, last_seen]));
    const scans =
      seen.size === 0 ? [] : await this.#store.scanQueue.unfinishedOf([...seen.keys()], maxAwayScans);
    this.#awayScans = new Map(scans.map(({ scanId, owner }) => [scanId, seen.get(owner) ?? null]));
    for (const owner of away)
      if (!this.#away.some(({ server_id }) => server_id === owner.server_id))
        this.#log.warn({ ...owner, last_seen: timeOf(owner.last_seen) }, 'owner of scans is away');
    for (const { server_id } of this.#away)
      if (!seen.has(server_id)) this.#log.info({ server_id }, 'owner of scans is back');
    this.#away = away;
  }

  /** Warnings about what an unfinished scan waits for. */
  warningsOf({ scan_id, pool, status }: Pick<Scan, 'scan_id' | 'pool' | 'status'>): ScanWarning[] {
    if (isFinal(status)) return [];
    const lastSeen = this.#awayScans.get(scan_id);
    return [
      ...(lastSeen === undefined ? [] : [{ code: ownerAway, message: awayText(lastSeen) }]),
      ...(this.#known && !this.#servedPools.has(pool)
        ? [{ code: poolWithoutWorkers, message: `Waiting for a worker: none serves the pool ${pool}.` }]
        : []),
    ];
  }

  /**
   * Owners of unfinished scans, as of the last `lookForScans`, that have been absent for a while. None before this server has
   * given heartbeats for as long: after an outage of the database all others look absent.
   */
  async absentOwners(absentMs: number): Promise<string[]> {
    const mostMs = Math.max(absentMs, presentMs);
    if (!this.#isSteadyFor(mostMs)) return [];
    const absent: string[] = [];
    // One may be back since.
    for (const { server_id } of this.#away)
      if (!(await this.#isSeen(server_id, mostMs))) absent.push(server_id);
    return absent;
  }

  /** Whether another server has been absent for a while, with the same reserve as `absentOwners`. */
  async isGone(serverId: string, absentMs: number): Promise<boolean> {
    const mostMs = Math.max(absentMs, presentMs);
    if (serverId === this.#own || !this.#isSteadyFor(mostMs)) return false;
    return !(await this.#isSeen(serverId, mostMs));
  }

  #isSteadyFor(ms: number): boolean {
    return this.#steadySince !== null && this.#clock() - this.#steadySince >= ms;
  }

  /** Whether the owner of a scan is another server that has been absent for more than a minute. */
  async isAbandoned(scanId: string): Promise<boolean> {
    const owner = await this.#store.scans.ownerOf(scanId);
    if (owner === null || owner === this.#own) return false;
    return !(await this.#isSeen(owner, abandonedMs));
  }

  /** Whether another server has a recent heartbeat. */
  async isPresent(serverId: string): Promise<boolean> {
    return await this.#isSeen(serverId, presentMs);
  }

  async #isSeen(serverId: string, withinMs: number): Promise<boolean> {
    const server = await this.#store.hosts.server(serverId);
    return server !== null && (await this.#now()) - server.last_seen <= withinMs;
  }

  /** Free bytes on the fullest disk of the present servers; null if none reports it. */
  async leastFreeBytes(): Promise<number | null> {
    const present = await this.#store.hosts.servers((await this.#now()) - presentMs);
    const free = present.flatMap(({ free_bytes }) => free_bytes ?? []);
    return free.length === 0 ? null : Math.min(...free);
  }

  /**
   * Until when no other server takes over the scans of this one, see machineNow; null before its first heartbeat.
   * @param absentMs as for `absentOwners`
   */
  keepsScansUntil(absentMs: number): number | null {
    return this.#signAskedAt === null
      ? null
      : this.#signAskedAt + Math.max(absentMs, presentMs) - keepMarginMs;
  }

  /** Calls `renew` after each heartbeat of this server. @returns unsubscribe */
  onSigned(renew: () => void): () => void {
    this.#signed.on('signed', renew);
    return () => this.#signed.off('signed', renew);
  }

  /** Writes the heartbeat of this server and deletes servers and workers without one for a day. */
  async sign(url: string, version: string, free_bytes: number | null): Promise<void> {
    const askedAt = machineNow();
    const now = await this.#now();
    await this.#store.hosts.saveServer({
      server_id: this.#own,
      url,
      version,
      last_seen: now,
      free_bytes,
      pool_tags: JSON.stringify(this.#poolTags),
      settings: this.#settings(),
    });
    this.#signAskedAt = askedAt;
    this.#signed.emit('signed');
    await this.#store.hosts.deleteSilentBefore(now - forgottenMs);
    const signedAt = this.#clock();
    if (this.#steadySince === null || signedAt - this.#signedAt > maxGapMs) this.#steadySince = signedAt;
    this.#signedAt = signedAt;
  }
}

function awayText(lastSeen: number | null): string {
  const since = lastSeen === null ? 'for a day' : `since ${timeOf(lastSeen)}`;
  return `The server that runs the scan has not been seen ${since}; its workers continue, and another server takes over.`;
}

function timeOf(lastSeen: number | null): string | null {
  return lastSeen === null ? null : new Date(lastSeen).toISOString();
}

/** Sums scans by a key. */
function totals<T extends { scans: number }>(
  rows: readonly T[],
  of: (row: T) => string | null,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const key = of(row);
    if (key !== null) sums.set(key, (sums.get(key) ?? 0) + row.scans);
  }
  return [...sums];
}
