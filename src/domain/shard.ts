/** What a scan divides among its shards: of `n` of them, the shard `k` has the addresses k, k + n, k + 2n, … */
export interface ShardPlan {
  /** Disjoint ranges `first-last`, or single addresses, in canonical spelling: what exclusions and the scope leave. */
  addresses: string[];
  /** Names that were asked for, by address. */
  hostnames: Record<string, string[]>;
}

/**
 * What the process of a scan is told when it runs a shard and not the whole: reports are made by the home of the scan,
 * and the targets of the request are the addresses of its division.
 */
export interface ShardPart {
  /** 0-based. */
  shard: number;
  /** Shards of the scan. */
  of: number;
  /** Names that were asked for, by address. */
  hostnames: Record<string, string[]>;
}

/** The data that a scan was evaluated with; null = nothing asked for it. */
export interface EvaluationData {
  /** Version of the fingerprint rules. */
  rules: string | null;
  /** Version of the vulnerability data. */
  vulnerabilities: string | null;
}

/** What the home of a scan wants of the workers of its shards. */
export const shardCommands = ['run', 'pause', 'cancel'] as const;
export type ShardCommand = (typeof shardCommands)[number];
