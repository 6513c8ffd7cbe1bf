import { defaultPriority } from '../../domain/scan.ts';
import type { ShardQueue } from '../../queue/shard-queue.ts';
import type { Store } from '../../store/open.ts';
import type { ScanPlaces, ShardState } from '../../store/shards.ts';

/** A shard runs at least so long before its place is asked for, milliseconds: it resumes from a checkpoint. */
const sliceMs = 30_000;
/** Shards that have waited for so long ask, milliseconds. */
const patienceMs = 1000;
/** They ask again after this time, milliseconds: a worker needs some to stop at a checkpoint. */
const againMs = 3000;

export interface FairTurnsInput {
  store: Pick<Store, 'shards'>;
  line: Pick<ShardQueue, 'now'>;
  scan_id: string;
  pool: string;
  tenant: string | null;
  priority?: number | undefined;
  /** Of tenants; 1 for others. */
  weights: Readonly<Record<string, number>>;
}

/**
 * Has workers give a place to a scan that has less of its share of the pool than others: first among tenants, by their
 * weights, then among the scans of one tenant.
 */
export class FairTurns {
  readonly #input: FairTurnsInput;
  readonly #clock: () => number;
  /** When the scan may ask; null = none of its shards waits. */
  #from: number | null = null;

  /** @param clock milliseconds */
  constructor(input: FairTurnsInput, clock: () => number = () => performance.now()) {
    this.#input = input;
    this.#clock = clock;
  }

  /** @param shards of the scan */
  async look(shards: readonly ShardState[]): Promise<void> {
    const now = this.#clock();
    const waits = shards.some(({ state, command }) => state === 'waiting' && command === 'run');
    if (!waits) this.#from = null;
    else this.#from ??= now + patienceMs;
    if (this.#from === null || now < this.#from) return;
    this.#from = now + againMs;
    const { store, line, pool } = this.#input;
    const before = (await line.now()) - sliceMs;
    for (const scanId of scansAbove(await store.shards.runningIn(pool), this.#input))
      if (await store.shards.askBack(scanId, before)) return;
  }
}

/** Scans of which one would get a place, with most of their share first; none of a higher priority. */
export function scansAbove(
  running: readonly ScanPlaces[],
  { scan_id, tenant, priority = defaultPriority, weights }: Omit<FairTurnsInput, 'store' | 'line' | 'pool'>,
): string[] {
  const weightOf = (name: string | null) =>
    name !== null && Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1;
  const ofTenant = (name: string | null) =>
    running.reduce((sum, scan) => sum + (scan.tenant === name ? scan.places : 0), 0);
  const shareOf = (name: string | null, more = 0) => (ofTenant(name) + more) / weightOf(name);
  const own = running.find(({ scanId }) => scanId === scan_id)?.places ?? 0;
  const isAbove = (scan: ScanPlaces) =>
    scan.tenant === tenant
      ? isMore(scan.places, own)
      : ofTenant(tenant) === 0 || shareOf(scan.tenant) > shareOf(tenant, 1);
  return running
    .filter((scan) => scan.scanId !== scan_id && scan.priority <= priority && isAbove(scan))
    .toSorted((a, b) => shareOf(b.tenant) - shareOf(a.tenant) || b.places - a.places)
    .map(({ scanId }) => scanId);
}

/** A scan without a place takes turns with those that have one; others only level out. */
function isMore(places: number, own: number): boolean {
  return own === 0 ? places > 0 : places > own + 1;
}
