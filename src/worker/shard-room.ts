import type { ShardChoice } from '../queue/shard-queue.ts';

/**
 * What a worker may claim beside its runs. One of several places is for small scans, which would otherwise wait for the end of a
 * large shard; so would a shard that another worker lost, for which there is one place more.
 *
 * @param concurrency shards at a time
 */
export function roomFor(runs: readonly { isSmall: boolean }[], concurrency: number): ShardChoice {
  const small = runs.filter(({ isSmall }) => isSmall).length;
  const large = runs.length - small;
  const forLarge = Math.max(1, concurrency - 1);
  const isFree = runs.length < concurrency;
  return {
    begun: runs.length <= concurrency && large <= forLarge,
    small: isFree || (small === 0 && runs.length === concurrency && concurrency > 1),
    all: isFree && large < forLarge,
  };
}
