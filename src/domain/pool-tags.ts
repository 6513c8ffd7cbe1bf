/** Tags by pool: only workers that have all of them take the shards of its scans. */
export type PoolTags = Readonly<Record<string, readonly string[]>>;

/** The pools of a worker that it may take shards of. */
export function servedPools(
  { pools, tags }: { pools: readonly string[]; tags: readonly string[] },
  required: PoolTags,
): string[] {
  const lacks = (pool: string) =>
    (Object.hasOwn(required, pool) ? (required[pool] ?? []) : []).some((tag) => !tags.includes(tag));
  return pools.filter((pool) => !lacks(pool));
}

/** Tags that at least one of several configurations asks for. */
export function allTags(configurations: readonly PoolTags[]): PoolTags {
  const all: Record<string, string[]> = {};
  for (const one of configurations)
    for (const [pool, tags] of Object.entries(one))
      all[pool] = [...new Set([...(Object.hasOwn(all, pool) ? (all[pool] ?? []) : []), ...tags])];
  return all;
}
