import { describe, expect, it } from 'vitest';
import type { ScanPlaces, ShardState } from '../../store/shards.ts';
import { FairTurns, scansAbove } from './fair-turns.ts';

const places = (scanId: string, count: number, tenant: string | null = null, priority = 5): ScanPlaces => ({
  scanId,
  tenant,
  priority,
  places: count,
});
const own = { scan_id: 'own', tenant: null, weights: {} };

describe('the scans above a share', () => {
  it.each([
    ['all that have a place, for a scan without one', [places('a', 1), places('b', 2)], ['b', 'a']],
    ['none as long as one place more would turn it around', [places('own', 1), places('a', 2)], []],
    ['those with two places more', [places('own', 1), places('a', 3), places('b', 4)], ['b', 'a']],
    ['none of a higher priority', [places('a', 4, null, 6), places('b', 4, null, 4)], ['b']],
  ])('are %s', (_what, running, above) => {
    expect(scansAbove(running, own)).toEqual(above);
  });

  it.each([
    ['all others, for a tenant without a place', { acme: 9 }, [places('a', 1, 'acme')], ['a']],
    ['those of a tenant with more', {}, [places('own', 2, 'lab'), places('a', 4, 'acme')], ['a']],
    [
      'none of a tenant that has less for its weight',
      { acme: 3 },
      [places('own', 2, 'lab'), places('a', 6, 'acme')],
      [],
    ],
    [
      'of several tenants those of the one with most first',
      { acme: 2 },
      [places('a', 6, 'acme'), places('b', 1, 'blue'), places('c', 4, 'blue')],
      ['c', 'b', 'a'],
    ],
    ['other ones of the same tenant', {}, [places('a', 3, 'lab'), places('b', 1, 'acme')], ['a']],
  ])('are %s', (_what, weights, running, above) => {
    expect(scansAbove(running, { ...own, tenant: 'lab', weights })).toEqual(above);
  });
});

describe('a scan whose shards wait', () => {
  const shard = (state: ShardState['state'], command: ShardState['command'] = 'run') =>
    ({ state, command }) as ShardState;
  let now = 0;
  const asked: [string, number][] = [];
  const turnsOf = () => {
    const store = {
      shards: {
        runningIn: async () => [places('a', 2), places('b', 1)],
        askBack: async (scanId: string, before: number) => {
          asked.push([scanId, before]);
          return scanId === 'b';
        },
      },
    };
    const line = { now: async () => 100_000 };
    now = 0;
    asked.length = 0;
    const pool = 'lab';
    return new FairTurns({ ...own, pool, store, line } as never, () => now);
  };

  it('asks for one place after a second, of a shard that has run for 30 s, and again after three', async () => {
    const turns = turnsOf();
    for (now of [0, 999]) await turns.look([shard('waiting')]);
    expect(asked).toEqual([]);
    for (now of [1000, 3999]) await turns.look([shard('waiting')]);
    expect(asked).toEqual([
      ['a', 70_000],
      ['b', 70_000],
    ]);
    now = 4000;
    await turns.look([shard('waiting')]);
    expect(asked).toHaveLength(4);
  });

  it('asks for nothing while it is paused, or once none waits', async () => {
    const turns = turnsOf();
    for (now of [0, 5000]) await turns.look([shard('waiting', 'pause'), shard('running')]);
    for (now of [6000, 6900]) await turns.look([shard('waiting')]);
    await turns.look([shard('running')]);
    for (now of [7000, 7900]) await turns.look([shard('waiting')]);
    expect(asked).toEqual([]);
  });
});
