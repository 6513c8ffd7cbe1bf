import { expect, it } from 'vitest';
import type { ShardState } from '../../store/shards.ts';
import { ShardPackets, ShardReports } from './shard-reports.ts';

const shard = (number: number, attempt: number, sent: number | null, over = false): ShardState => {
  const text = sent === null ? null : JSON.stringify({ packets_sent: sent });
  return { shard: number, attempt, live: over ? '{}' : text, outcome: over ? text : null } as ShardState;
};

it('counts the packets of every attempt, and none that somebody counted before', () => {
  const reports = new ShardReports();
  const packets = new ShardPackets();
  const since = (...shards: ShardState[]) => packets.since(shards, reports);
  expect(since(shard(0, 1, 100), shard(1, 1, null))).toBe(0);
  expect(since(shard(0, 1, 130), shard(1, 1, 5))).toBe(35);
  // Somebody else has the first one and has said nothing yet.
  expect(since(shard(0, 2, 130), shard(1, 1, 5))).toBe(0);
  expect(since(shard(0, 2, 20), shard(1, 1, 9, true))).toBe(24);
  expect(since(shard(0, 2, 20), shard(1, 1, 9, true))).toBe(0);
});
