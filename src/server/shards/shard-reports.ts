import type { ShardState } from '../../store/shards.ts';
import type { ShardOutcome, ShardReport } from '../../worker/shard-report.ts';

/** Reads what workers tell about their shards; each text once. */
export class ShardReports {
  readonly #read = new Map<number, { text: string; report: ShardReport }>();

  /** The newest that each shard told: its end, or how it stands. */
  of(shards: readonly ShardState[]): ShardReport[] {
    return shards.flatMap((shard) => this.newest(shard) ?? []);
  }

  /** How those ended that did so by themselves. */
  outcomes(shards: readonly ShardState[]): ShardOutcome[] {
    return shards.flatMap((shard) =>
      shard.outcome === null ? [] : ((this.newest(shard) as ShardOutcome | null) ?? []),
    );
  }

  /** Null when it has told nothing. */
  newest({ shard, outcome, live }: ShardState): ShardReport | null {
    const text = outcome ?? live;
    if (text === null) return null;
    const known = this.#read.get(shard);
    if (known?.text === text) return known.report;
    const report = JSON.parse(text) as ShardReport;
    this.#read.set(shard, { text, report });
    return report;
  }
}

/** Counts the packets of shards while this process looks: each attempt counts its own from zero. */
export class ShardPackets {
  readonly #counted = new Map<number, { attempt: number; sent: number }>();
  #begun = false;

  /** Packets that were sent since the last call; none at the first one, when others have counted them. */
  since(shards: readonly ShardState[], reports: ShardReports): number {
    let sum = 0;
    for (const state of shards) {
      const sent = reports.newest(state)?.packets_sent ?? 0;
      const known = this.#counted.get(state.shard);
      const before = known?.attempt === state.attempt ? known.sent : 0;
      // The report of an attempt that has told nothing yet is that of the one before.
      if (known && known.attempt !== state.attempt && sent === known.sent) continue;
      this.#counted.set(state.shard, { attempt: state.attempt, sent });
      if (this.#begun) sum += Math.max(0, sent - before);
    }
    this.#begun = true;
    return sum;
  }
}
