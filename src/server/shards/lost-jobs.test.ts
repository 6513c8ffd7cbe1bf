import { expect, it } from 'vitest';
import { LostJobs } from './lost-jobs.ts';

it('looks for the jobs of shards of which none has run for a minute, and again each minute', async () => {
  let now = 0;
  const asked: number[] = [];
  const found: number[] = [];
  const line = {
    giveJobs: async () => {
      asked.push(now);
      return asked.length === 1 ? 2 : 0;
    },
  };
  const jobs = new LostJobs(
    'a',
    line,
    (count) => found.push(count),
    () => now,
  );
  const look = async (until: number, ...states: ('waiting' | 'running' | 'done')[]) => {
    for (; now < until; now += 1000) await jobs.look(states.map((state) => ({ state })));
  };
  await look(30_000, 'waiting', 'done');
  await look(31_000, 'waiting', 'running');
  await look(90_000, 'waiting', 'waiting');
  expect(asked).toEqual([]);
  await look(180_000, 'waiting', 'done');
  expect([asked, found]).toEqual([[91_000, 151_000], [2]]);
  await look(400_000, 'done', 'done');
  expect(asked).toHaveLength(2);
});
