import type { ShardState } from '../../store/shards.ts';

/** New rate of a shard, packets per second. */
export interface Grant {
  shard: number;
  rate: number;
}

type Rated = Pick<ShardState, 'shard' | 'state' | 'rate' | 'applied_rate'>;

/**
 * The next steps towards equal shares of a rate. Raises rates only after others have applied lower ones: the sum
 * never exceeds the limit.
 *
 * @param rate packets per second of all shards together
 */
export function nextGrants(shards: readonly Rated[], rate: number): Grant[] {
  const running = shards.filter(({ state }) => state === 'running');
  if (running.length === 0) return [];
  const share = Math.floor(rate / running.length);
  const sharers = share > 0 ? running : running.slice(0, Math.floor(rate));
  const shareOf = ({ shard }: Rated) =>
    sharers.some((other) => other.shard === shard) ? Math.max(share, 1) : 0;
  const lowered = running.filter((shard) => shard.rate > shareOf(shard));
  const grants = lowered.map((shard) => ({ shard: shard.shard, rate: shareOf(shard) }));
  // Rates in use: as granted, or as still applied of an earlier grant.
  let free = rate - running.reduce((sum, shard) => sum + taken(shard), 0);
  for (const shard of running) {
    const more = shareOf(shard) - taken(shard);
    if (shard.rate >= shareOf(shard) || more > free) continue;
    free -= Math.max(0, more);
    grants.push({ shard: shard.shard, rate: shareOf(shard) });
  }
  return grants;
}

function taken({ rate, applied_rate }: Rated): number {
  return Math.max(rate, applied_rate ?? 0);
}
