import { addTraffic, noTraffic, type Traffic, trafficGrowth } from '../../domain/traffic.ts';
import type { ShardState } from '../../store/shards.ts';
import type { ShardOutcome, ShardReport } from '../../worker/shard-report.ts';

/** Parses the reports of workers about their shards; each text once. */
export class ShardReports {
  readonly #read = new Map<number, { text: string; report: ShardReport }>();

  /** Newest report of each shard: its outcome, or its progress. */
  of(shards: readonly ShardState[]): ShardReport[] {
    return shards.flatMap((shard) => this.newest(shard) ?? []);
  }

  /** Outcomes of the shards that reported their end. */
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

/** Sums the traffic of shards while this process follows them: each attempt counts from zero. */
export class ShardTraffic {
  readonly #counted = new Map<number, { attempt: number; traffic: Traffic }>();
  #begun = false;

  /** Traffic since the last call; none at the first one: it was counted before. */
  since(shards: readonly ShardState[], reports: ShardReports): Traffic {
    let sum = noTraffic();
    for (const state of shards) {
      const traffic = trafficOf(reports.newest(state));
      const known = this.#counted.get(state.shard);
      const before = known?.attempt === state.attempt ? known.traffic : noTraffic();
      // Until an attempt reports, the report is that of the previous one.
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
