import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTargets } from '../../domain/target.ts';
import { shardSize, splitAddresses } from './split-addresses.ts';

const setOf = (...targets: string[]) => parseTargets(targets).addresses;

describe('shards of addresses', () => {
  it('are neighbours, of one size but for the last', () => {
    expect(splitAddresses(setOf('10.0.0.1-10.0.0.10'), 4)).toEqual([
      ['10.0.0.1-10.0.0.4'],
      ['10.0.0.5-10.0.0.8'],
      ['10.0.0.9-10.0.0.10'],
    ]);
    expect(splitAddresses(setOf('10.0.0.1', '10.0.0.3', 'fe80::1%lo'), 2)).toEqual([
      ['10.0.0.1', '10.0.0.3'],
      ['fe80::1%lo'],
    ]);
    expect(splitAddresses(setOf(), 4)).toEqual([]);
  });

  it('hold fewer addresses where each is asked for many ports', () => {
    expect([0, 1, 1000, 1024].map((ports) => shardSize(4096, ports))).toEqual([4096, 4096, 4096, 4096]);
    expect([2048, 65_535, 131_070].map((ports) => shardSize(4096, ports))).toEqual([2048, 64, 32]);
    expect(shardSize(10, 65_535)).toBe(10);
    expect(shardSize(1, 131_070)).toBe(1);
  });

  it('are never more than a few thousand, whatever the size', () => {
    const shards = splitAddresses(setOf('2001:db8::/64'), 1);
    expect(shards).toHaveLength(4096);
    expect(setOf(...shards.flat()).size).toBe(setOf('2001:db8::/64').size);
  });

  it('hold every address once', () => {
    const ranges = fc.array(fc.tuple(fc.nat(2000), fc.nat(300)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 500 }), (given, size) => {
        const text = (value: number) => `10.1.${value >> 8}.${value & 255}`;
        const all = setOf(...given.map(([from, length]) => `${text(from)}-${text(from + length)}`));
        const shards = splitAddresses(all, size).map((targets) => setOf(...targets));
        expect(shards.reduce((sum, shard) => sum + shard.size, 0n)).toBe(all.size);
        for (const shard of shards) {
          expect(shard.minus(all).size).toBe(0n);
          expect(shard.size).toBeGreaterThan(0n);
          expect(shard.size <= BigInt(size)).toBe(true);
        }
      }),
    );
  });
});
