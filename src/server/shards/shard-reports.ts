import { addTraffic, noTraffic, type Traffic, trafficGrowth } from '../../domain/traffic.ts';
import type { ShardState } from '../../store/shards.ts';
import type { ShardOutcome, ShardReport } from '../../worker/shard-report.ts';

/** Reads the reports of workers about their shards; each text once. */
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

  /** Null without a report. */
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

/** Counts the traffic of shards while this process follows them: each attempt counts its own from zero. */
export class ShardTraffic {
  readonly #counted = new Map<number, { attempt: number; traffic: Traffic }>();
  #begun = false;

  /** Traffic since the last call; none at the first one, when others have counted it. */
  since(shards: readonly ShardState[], reports: ShardReports): Traffic {
    let sum = noTraffic();
    for (const state of shards) {
      const traffic = trafficOf(reports.newest(state));
      const known = this.#counted.get(state.shard);
      const before = known?.attempt === state.attempt ? known.traffic : noTraffic();
      // Until an attempt reports, the report is that of the one before.
      if (known && known.attempt !== state.attempt && traffic.sent === known.traffic.sent) continue;
      this.#counted.set(state.shard, { attempt: state.attempt, traffic });
      if (this.#begun) sum = addTraffic(sum, trafficGrowth(traffic, before));
    }
    this.#begun = true;
    return sum;
  }
}

function trafficOf(report: ShardReport | null): Traffic {
  const reported = { ...noTraffic(), sent: report?.packets_sent, ...report?.traffic };
  return trafficGrowth(reported, noTraffic());
}
