import { expect, it } from 'vitest';
import { noTraffic } from '../../domain/traffic.ts';
import type { ShardState } from '../../store/shards.ts';
import { ShardReports, ShardTraffic } from './shard-reports.ts';

const shard = (number: number, attempt: number, sent: number | null, over = false): ShardState => {
  const text = sent === null ? null : JSON.stringify({ packets_sent: sent });
  return { shard: number, attempt, live: over ? '{}' : text, outcome: over ? text : null } as ShardState;
};

it('counts the packets of every attempt, and none twice', () => {
  const reports = new ShardReports();
  const traffic = new ShardTraffic();
  const since = (...shards: ShardState[]) => traffic.since(shards, reports).sent;
  expect(since(shard(0, 1, 100), shard(1, 1, null))).toBe(0);
  expect(since(shard(0, 1, 130), shard(1, 1, 5))).toBe(35);
  // Another worker has claimed the first one and has not reported yet.
  expect(since(shard(0, 2, 130), shard(1, 1, 5))).toBe(0);
  expect(since(shard(0, 2, 20), shard(1, 1, 9, true))).toBe(24);
  expect(since(shard(0, 2, 20), shard(1, 1, 9, true))).toBe(0);
});

it('reads the traffic of workers, and only packets in the reports of an earlier version', () => {
  const report = (members: object) => ({
    shard: 0,
    attempt: 1,
    outcome: null,
    live: JSON.stringify(members),
  });
  const follow = (members: object) => {
    const [reports, traffic] = [new ShardReports(), new ShardTraffic()];
    traffic.since([report({ packets_sent: 0 }) as ShardState], reports);
    return traffic.since([report(members) as ShardState], reports);
  };
  const errors = { ...noTraffic().errors, timeout: 4 };
  expect(follow({ packets_sent: 7 })).toEqual({ ...noTraffic(), sent: 7 });
  expect(follow({ packets_sent: 7, traffic: { ...noTraffic(), sent: 7, errors } })).toEqual({
    ...noTraffic(),
    sent: 7,
    errors,
  });
  expect(follow({ packets_sent: 'many', traffic: [null] })).toEqual(noTraffic());
});
