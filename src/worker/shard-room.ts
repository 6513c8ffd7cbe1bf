import { placesForLarge } from '../domain/scan.ts';
import type { ShardChoice } from '../queue/shard-queue.ts';

/**
 * What a worker may claim beside its runs. A shard that another worker lost would wait for the end of a whole shard: for such a one
 * there is one place more.
 *
 * @param concurrency shards at a time
 */
export function roomFor(runs: readonly { isSmall: boolean }[], concurrency: number): ShardChoice {
  const small = runs.filter(({ isSmall }) => isSmall).length;
  const large = runs.length - small;
  const forLarge = placesForLarge(concurrency);
  const isFree = runs.length < concurrency;
  return {
    begun: runs.length <= concurrency && large <= forLarge,
    small: isFree || (small === 0 && runs.length === concurrency && forLarge < concurrency),
    all: isFree && large < forLarge,
  };
}
