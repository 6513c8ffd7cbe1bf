import type { EvaluationData } from '../domain/shard.ts';
import type { Traffic } from '../domain/traffic.ts';
import type { LiveScan, ScanOutcome } from '../scan-run/messages.ts';

/** Progress report of a worker about a shard, JSON text in the store. */
export type ShardReport = LiveScan & {
  /** Packets sent by this attempt so far. */
  packets_sent: number;
  /** Of this attempt so far; absent in reports of workers of an earlier version. */
  traffic?: Traffic;
};

/** How a shard ended. */
export type ShardOutcome = ScanOutcome &
  Pick<ShardReport, 'packets_sent' | 'traffic'> & {
    /** Rules and data versions that evaluated it. */
    evaluated: EvaluationData | null;
  };
