/** The part of a scan's addresses that one worker scans. */
export interface ShardSpec {
  /** Disjoint ranges `first-last`, or single addresses, in canonical spelling: what exclusions and the scope leave. */
  addresses: string[];
  /** Names that were asked for, by address. */
  hostnames: Record<string, string[]>;
  /** When the scan was first started, ISO 8601 UTC. */
  started_at: string;
}

/** What the process of a scan is told when it runs a shard and not the whole: reports are made by the home of the scan. */
export interface ScanPart {
  /** Names that were asked for, by address; the targets of the request are addresses only. */
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
