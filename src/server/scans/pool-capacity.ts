import type { PoolContext } from './pool-context.ts';
import type { ScanSlot } from './scan-slot.ts';
import { WorkerScale } from './worker-scale.ts';

/** Scans of one pool that are divided among workers at the same time. */
const maxDivided = 64;

type CapacityContext = Pick<PoolContext, 'slots' | 'config' | 'shards'>;

/** How many scans a server runs at the same time, and which ones may begin. */
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

  /** As many scans at a time as there are workers, and never so many that one would get no packet a second. */
  get hasRoom(): boolean {
    const { shards, config } = this.#context;
    const { max_rate } = config.scanner;
    // Scans in shards are bounded for each pool.
    return this.#taken < (shards ? max_rate : Math.min(this.#scale.most, max_rate));
  }

  /** Called after each claim and each look at the queue. */
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

  /** Pools that have as many scans running as they may; a paused one has given its place away. */
  fullPools(): string[] {
    const limits = Object.entries(this.#context.config.workers.pools ?? {});
    const sending = [...this.#context.slots.values()].filter(({ paused }) => !paused);
    return limits.flatMap(([name, { max }]) =>
      max !== null && sending.filter(({ pool }) => pool === name).length >= max ? [name] : [],
    );
  }

  /**
   * Pools from which a scan may be divided; undefined where nothing is divided. A scan in a pool without workers takes
   * no place, and one pool takes no place of another.
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
 * Places that scans take. A paused scan gives its place to another one, but no more of them than there are places, so
 * that pausing does not let processes grow without limit.
 */
function placesOf(slots: readonly Pick<ScanSlot, 'paused'>[], places: number): number {
  const paused = slots.filter((slot) => slot.paused).length;
  return slots.length - Math.min(paused, places);
}
