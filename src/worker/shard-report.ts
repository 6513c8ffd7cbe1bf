import type { EvaluationData } from '../domain/shard.ts';
import type { LiveScan, ScanOutcome } from '../scan-run/messages.ts';

/** What a worker tells about a shard, as JSON text in the store. */
export type ShardReport = LiveScan & {
  /** Packets that this attempt has sent so far. */
  packets_sent: number;
};

/** How a shard ended. */
export type ShardOutcome = ScanOutcome &
  Pick<ShardReport, 'packets_sent'> & {
    /** What it was evaluated with. */
    evaluated: EvaluationData | null;
  };
