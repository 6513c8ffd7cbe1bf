/** How a scan is divided: of `n` shards, shard `k` has the addresses k, k + n, k + 2n, … */
export interface ShardPlan {
  /** Disjoint ranges `first-last`, or single addresses, in canonical spelling, after exclusions and scope. */
  addresses: string[];
  /** Requested names, by address. */
  hostnames: Record<string, string[]>;
}

/** Identifies the claim of a worker on a shard. `attempt` grows with each claim; writes with an older one are rejected. */
export interface LeasedShard {
  scanId: string;
  /** 0-based. */
  shard: number;
  attempt: number;
}

/** More shards of a scan would cost more than they gain: each gets more addresses instead. */
export const mostShards = 4096;

/**
 * Set if a scan process runs one shard instead of the whole scan: the owner of the scan writes the reports, and the
 * targets of the request are the addresses of the shard.
 */
export interface ShardPart {
  /** 0-based. */
  shard: number;
  /** Shards of the scan. */
  of: number;
  /** Requested names, by address. */
  hostnames: Record<string, string[]>;
}

/** Versions of the data used for evaluation; null = not used. */
export interface EvaluationData {
  /** Version of the fingerprint rules. */
  rules: string | null;
  /** Version of the vulnerability data. */
  vulnerabilities: string | null;
}

/** Commands of the owner of a scan to the workers of its shards. */
export const shardCommands = ['run', 'pause', 'cancel'] as const;
export type ShardCommand = (typeof shardCommands)[number];
