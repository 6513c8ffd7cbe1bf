import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextGrants } from './shard-rates.ts';

const running = (shard: number, rate: number, applied_rate: number | null = rate) => ({
  shard,
  state: 'running' as const,
  rate,
  applied_rate,
});

describe('the rate of a scan among its shards', () => {
  it('goes wholly to the only one', () => {
    expect(nextGrants([running(0, 0, null)], 1000)).toEqual([{ shard: 0, rate: 1000 }]);
    expect(nextGrants([running(0, 1000)], 1000)).toEqual([]);
  });

  it('is taken away from the others before a further one gets its share', () => {
    const first = nextGrants([running(0, 1000), running(1, 0, null)], 1000);
    expect(first).toEqual([{ shard: 0, rate: 500 }]);
    expect(nextGrants([running(0, 500, 1000), running(1, 0, 0)], 1000)).toEqual([]);
    expect(nextGrants([running(0, 500, 500), running(1, 0, 0)], 1000)).toEqual([{ shard: 1, rate: 500 }]);
  });

  it('gives some nothing where there is less than one packet a second for each', () => {
    const grants = nextGrants(
      [0, 1, 2].map((shard) => running(shard, 0, 0)),
      2,
    );
    expect(grants).toEqual([
      { shard: 0, rate: 1 },
      { shard: 1, rate: 1 },
    ]);
  });

  it('never sums up to more, whatever is kept to of what was granted before', () => {
    const shard = fc.record({ granted: fc.nat(400), late: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(shard, { maxLength: 12 }), fc.integer({ min: 1, max: 3000 }), (given, rate) => {
        const shards = given.map(({ granted, late }, index) => running(index, granted, granted + late));
        const before = shards.reduce((sum, { applied_rate }) => sum + (applied_rate ?? 0), 0);
        const grants = new Map(nextGrants(shards, rate).map((grant) => [grant.shard, grant.rate]));
        const after = shards.reduce(
          (sum, { shard: id, applied_rate }) => sum + Math.max(grants.get(id) ?? 0, applied_rate ?? 0),
          0,
        );
        expect(after).toBeLessThanOrEqual(Math.max(rate, before));
      }),
    );
  });
});
