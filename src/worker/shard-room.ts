import type { ShardChoice } from '../queue/shard-queue.ts';

/**
 * What a worker may claim beside its runs. There is one place more for a shard that another worker lost, which would wait for the end
 * of a whole shard, and, where there are several places, for a small scan, which would wait as long.
 *
 * @param concurrency shards at a time
 */
export function roomFor(runs: readonly { isSmall: boolean }[], concurrency: number): ShardChoice {
  const isFree = runs.length < concurrency;
  const hasSmall = runs.some(({ isSmall }) => isSmall);
  return {
    begun: runs.length <= concurrency,
    small: isFree || (runs.length === concurrency && concurrency > 1 && !hasSmall),
    all: isFree,
  };
}
