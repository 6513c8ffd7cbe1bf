import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTargets } from '../../domain/targets/target.ts';
import { asTargets, shardCount } from './divide.ts';

const setOf = (...targets: string[]) => parseTargets(targets).addresses;

describe('the shards of a scan', () => {
  it.each([
    [0n, 4096, 1, 0],
    [1n, 4096, 1, 1],
    [4096n, 4096, 1024, 1],
    [4097n, 4096, 1024, 2],
    [10n, 4, 0, 3],
  ])('of %s addresses, at most %i each, %i ports: %i', (addresses, most, ports, count) => {
    expect(shardCount(addresses, most, ports)).toBe(count);
  });

  it('hold fewer addresses where each has many ports', () => {
    expect(shardCount(4096n, 4096, 2048)).toBe(2);
    expect(shardCount(256n, 4096, 65_535)).toBe(4);
    expect(shardCount(256n, 4096, 131_070)).toBe(8);
    expect(shardCount(100n, 10, 65_535)).toBe(10);
  });

  it('are never more than a few thousand, whatever the size', () => {
    expect(shardCount(1n << 64n, 1, 1)).toBe(4096);
  });

  it('hold every address once, as even as can be', () => {
    const ranges = fc.array(fc.tuple(fc.nat(2000), fc.nat(300)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 500 }), (given, size) => {
        const text = (value: number) => `10.1.${value >> 8}.${value & 255}`;
        const all = setOf(...given.map(([from, length]) => `${text(from)}-${text(from + length)}`));
        const of = shardCount(all.size, size, 1);
        const shards = Array.from({ length: of }, (_, at) => all.everyNth(BigInt(of), BigInt(at)));
        expect(shards.flatMap((shard) => [...shard]).sort()).toEqual([...all].sort());
        for (const shard of shards) {
          expect(shard.size <= BigInt(size)).toBe(true);
          expect(all.size / BigInt(of) - shard.size <= 1n).toBe(true);
        }
      }),
    );
  });

  it('are written as targets', () => {
    const all = setOf('10.0.0.3', '10.0.0.0/29', '2001:db8::/64', 'fe80::1%lo');
    expect(asTargets(all)).toEqual([
      '10.0.0.1-10.0.0.6',
      '2001:db8::-2001:db8::ffff:ffff:ffff:ffff',
      'fe80::1%lo',
    ]);
    expect(setOf(...asTargets(all)).intervals).toEqual(all.intervals);
  });
});
