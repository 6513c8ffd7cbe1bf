import type { PoolContext } from './pool-context.ts';
import type { ScanSlot } from './scan-slot.ts';
import { WorkerScale } from './worker-scale.ts';

/** Maximum number of concurrently sharded scans per pool. */
const maxDivided = 64;

type CapacityContext = Pick<PoolContext, 'slots' | 'config' | 'shards'>;

/** How many scans a server runs concurrently, and which ones may start. */
export class PoolCapacity {
  readonly #context: CapacityContext;
  readonly #scale: WorkerScale;

  constructor(context: CapacityContext) {
    this.#context = context;
    this.#scale = new WorkerScale(context.config);
  }

  counts(): { active: number; idle: number; total: number } {
    const { shards } = this.#context;
    const active = shards ? shards.presence.workers.active : this.#taken;
    const total = shards ? shards.presence.workers.total : Math.max(this.#scale.size, active);
    return { active, idle: Math.max(0, total - active), total };
  }

  /** At most one scan per worker, one more for a small scan, and never so many that a share would be less than one packet per second. */
  get hasRoom(): boolean {
    const { shards, config } = this.#context;
    const { max_rate } = config.scanner;
    // Sharded scans are limited per pool.
    return this.#taken < (shards ? max_rate : Math.min(this.#scale.most, max_rate)) || this.isForSmall;
  }

  /**
   * Whether there is room for a small scan only. It would otherwise wait for the end of large ones, hours: while all of several workers
   * run such, there is one more, within `workers.max`. With shards that is up to their workers.
   */
  get isForSmall(): boolean {
    const { shards, slots, config } = this.#context;
    const { most } = this.#scale;
    if (shards || most === 1 || most >= config.workers.max || most >= config.scanner.max_rate) return false;
    return this.#taken === most && [...slots.values()].every(({ isSmall }) => !isSmall);
  }

  /** Whether every scan that waits may be claimed. */
  get hasRoomForAll(): boolean {
    const { shards } = this.#context;
    const isOpen = this.fullPools().length === 0 && !this.isForSmall;
    return isOpen && (!shards || this.poolsWithRoom()?.length === shards.presence.servedPools.size);
  }

  /** Called after each claim and each poll of the queue. */
  follow(): void {
    this.#scale.follow(this.#taken);
  }

  runningByTenant(): Map<string, number> {
    const running = new Map<string, number>();
    for (const { tenant } of this.#context.slots.values()) {
      if (tenant !== null) running.set(tenant, (running.get(tenant) ?? 0) + 1);
    }
    return running;
  }

  /** Pools at their limit of running scans; paused ones do not count. */
  fullPools(): string[] {
    const limits = Object.entries(this.#context.config.workers.pools ?? {});
    const sending = [...this.#context.slots.values()].filter(({ paused }) => !paused);
    return limits.flatMap(([name, { max }]) =>
      max !== null && sending.filter(({ pool }) => pool === name).length >= max ? [name] : [],
    );
  }

  /**
   * Pools with capacity for another sharded scan; undefined without shards. A scan in a pool without workers uses no
   * capacity, and pools do not share theirs.
   */
  poolsWithRoom(): string[] | undefined {
    const pools = this.#context.shards?.presence.servedPools;
    const slots = [...this.#context.slots.values()];
    const taken = (pool: string) =>
      placesOf(
        slots.filter((slot) => slot.pool === pool),
        maxDivided,
      );
    return pools && [...pools].filter((pool) => taken(pool) < maxDivided);
  }

  get #taken(): number {
    return placesOf([...this.#context.slots.values()], this.#scale.most);
  }
}

/**
 * Capacity used by scans. Paused ones do not count, but only up to `places` of them: pausing must not let the number
 * of processes grow without limit.
 */
function placesOf(slots: readonly Pick<ScanSlot, 'paused'>[], places: number): number {
  const paused = slots.filter((slot) => slot.paused).length;
  return slots.length - Math.min(paused, places);
}
