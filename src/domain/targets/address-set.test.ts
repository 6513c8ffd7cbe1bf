import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress, parseNetwork } from './address.ts';
import { AddressSet, type Interval, unicastAddresses } from './address-set.ts';

const block = (text: string): Interval => {
  const network = parseNetwork(text);
  if (network === null) throw new Error(`test data: ${text}`);
  return network;
};
const setOf = (...blocks: string[]) => AddressSet.of(blocks.map(block));

/** 64 addresses of each family, the IPv6 ones across the start of the IPv4-mapped block. */
const smallInterval: fc.Arbitrary<Interval> = fc
  .record({ family: fc.constantFrom(4 as const, 6 as const), start: fc.nat(63), length: fc.nat(12) })
  .map(({ family, start, length }) => {
    const base = family === 4 ? 0x0a00_00f0n : 0xfffe_ffff_fff0n;
    return { family, first: base + BigInt(start), last: base + BigInt(Math.min(63, start + length)) };
  });
const smallSet = fc.array(smallInterval, { maxLength: 6 });
const plain = (intervals: Iterable<Interval>) => new Set(AddressSet.of(intervals));

describe('AddressSet', () => {
  it('counts each address of overlapping and touching intervals once', () => {
    const set = setOf('10.0.0.0/24', '10.0.0.128/25', '10.0.1.0/24', '10.0.0.7/32');
    expect(set.size).toBe(512n);
    expect(set.intervals).toHaveLength(1);
  });

  it('lists in ascending order, IPv4 before IPv6', () => {
    const set = setOf('2001:db8::fffe/127', '10.0.1.0/31', '10.0.0.255/32');
    expect([...set]).toEqual(['10.0.0.255', '10.0.1.0', '10.0.1.1', '2001:db8::fffe', '2001:db8::ffff']);
  });

  it('does not change when another set is made from it', () => {
    const set = setOf('10.0.0.0/31');
    set.union(setOf('10.0.0.2/31'));
    set.minus(setOf('10.0.0.0/32'));
    expect([...set]).toEqual(['10.0.0.0', '10.0.0.1']);
  });

  it('knows every position', () => {
    const set = setOf('10.0.0.0/30', '192.168.0.0/31', '2001:db8::/126');
    const listed = [...set];
    expect(listed.map((_, index) => set.at(BigInt(index)))).toEqual(listed);
    expect(() => set.at(10n)).toThrow(RangeError);
    expect(() => set.at(-1n)).toThrow(RangeError);
    expect(() => AddressSet.empty.at(0n)).toThrow(RangeError);
  });

  it('finds an address in every spelling and nothing that is no address', () => {
    const set = setOf('10.0.0.0/24');
    expect(set.has('10.0.0.0')).toBe(true);
    expect(set.has('10.0.0.255')).toBe(true);
    expect(set.has('::ffff:10.0.0.1')).toBe(true);
    expect(set.has('::ffff:a00:1')).toBe(true);
    expect(set.has('10.0.1.0')).toBe(false);
    expect(set.has('010.0.0.1')).toBe(false);
    expect(set.has('localhost')).toBe(false);
  });

  it('leaves IPv4-mapped addresses out of IPv6 intervals', () => {
    const all = setOf('::/0');
    expect(all.size).toBe((1n << 128n) - (1n << 32n));
    expect(all.has('::ffff:10.0.0.1')).toBe(false);
    expect(all.has('::fffe:ffff:ffff')).toBe(true);
    expect(all.has('::1:0:0:0')).toBe(true);
  });

  it('lets an interval without zone cover its addresses on every interface', () => {
    const zoned = setOf('fe80::1%eth0/127', 'fe80::1%eth1/128');
    const general = setOf('fe80::/10');
    expect(zoned.size).toBe(3n);
    expect([...zoned]).toEqual(['fe80::%eth0', 'fe80::1%eth0', 'fe80::1%eth1']);
    expect(zoned.has('fe80::1')).toBe(false);
    expect(zoned.has('fe80::1%eth2')).toBe(false);
    expect(general.has('fe80::1%eth0')).toBe(true);
    expect(zoned.minus(general).size).toBe(0n);
    expect([...zoned.minus(setOf('fe80::1/128'))]).toEqual(['fe80::%eth0']);
    expect([...zoned.minus(setOf('fe80::1%eth1/128'))]).toEqual(['fe80::%eth0', 'fe80::1%eth0']);
    expect([...zoned.minus(setOf('fe80::%eth0/128', 'fe80::1/128'))]).toEqual([]);
    expect([...zoned.intersect(general)]).toEqual([...zoned]);
    expect([...general.intersect(zoned)]).toEqual([...zoned]);
  });

  it.each([
    { family: 4, first: 2n, last: 1n },
    { family: 4, first: 0n, last: 1n << 32n },
    { family: 6, first: 0n, last: 1n << 128n },
    { family: 4, first: -1n, last: 1n },
  ] as Interval[])('refuses the interval $first-$last', (interval) => {
    expect(() => AddressSet.of([interval])).toThrow(RangeError);
  });

  it('agrees with sets of texts in union, minus, intersect, has, size and order', () => {
    fc.assert(
      fc.property(smallSet, smallSet, (left, right) => {
        const [a, b] = [AddressSet.of(left), AddressSet.of(right)];
        const [x, y] = [plain(left), plain(right)];
        expect(new Set(a.union(b))).toEqual(new Set([...x, ...y]));
        expect(new Set(a.minus(b))).toEqual(new Set([...x].filter((at) => !y.has(at))));
        expect(new Set(a.intersect(b))).toEqual(new Set([...x].filter((at) => y.has(at))));
        for (const address of [...x, ...y]) expect(a.has(address)).toBe(x.has(address));
        expect([...a]).toHaveLength(Number(a.size));
        const values = [...a].map((text) => parseAddress(text)).map((at) => [at?.family, at?.value]);
        expect(values).toEqual(
          values.toSorted(
            ([f, v], [g, w]) => Number(f) - Number(g) || Number(BigInt(v ?? 0) - BigInt(w ?? 0)),
          ),
        );
      }),
    );
  });

  it('takes every n-th address, over the bounds of intervals', () => {
    const set = setOf('10.0.0.0/30', '192.168.0.0/31', '2001:db8::/126');
    expect([...set.everyNth(3n, 0n)]).toEqual(['10.0.0.0', '10.0.0.3', '2001:db8::', '2001:db8::3']);
    expect([...set.everyNth(3n, 1n)]).toEqual(['10.0.0.1', '192.168.0.0', '2001:db8::1']);
    expect([...set.everyNth(20n, 19n)]).toEqual([]);
    expect(set.everyNth(1n, 0n).intervals).toEqual(set.intervals);
    const huge = setOf('::/0').everyNth(4096n, 4095n);
    expect(huge.size).toBe(((1n << 128n) - (1n << 32n)) / 4096n);
    expect([huge.has('::fff'), huge.has('::1000'), huge.at(1n)]).toEqual([true, false, '::1fff']);
    expect(() => set.union(set.everyNth(2n, 0n))).toThrow(RangeError);
    expect(() => set.minus(set.everyNth(2n, 0n))).toThrow(RangeError);
    expect(() => set.everyNth(3n, 0n).intersect(set.everyNth(2n, 0n))).toThrow(RangeError);
    expect([...set.everyNth(2n, 0n).intersect(set.everyNth(2n, 1n))]).toEqual([]);
  });

  it('keeps the zone of what is shared by every n-th address', () => {
    const general = setOf('fe80::/125').everyNth(2n, 1n);
    expect([...general.intersect(setOf('fe80::%eth0/126'))]).toEqual(['fe80::1%eth0', 'fe80::3%eth0']);
    const zoned = setOf('fe80::%eth0/126').everyNth(2n, 0n);
    expect([...zoned.intersect(setOf('fe80::/127', 'fe80::2/127'))]).toEqual(['fe80::%eth0', 'fe80::2%eth0']);
    expect([...zoned.minus(setOf('fe80::/127'))]).toEqual(['fe80::2%eth0']);
  });

  it('shares parts of every n-th address with and without a zone with themselves', () => {
    const set = setOf('fe80::/125', 'fe80::3%eth0/128').everyNth(2n, 0n);
    expect([...set]).toEqual(['fe80::', 'fe80::2', 'fe80::4', 'fe80::6', 'fe80::3%eth0']);
    expect(set.intersect(set).intervals).toEqual(set.intervals);
    const less = set.minus(setOf('fe80::4/128', 'fe80::2%eth0/128'));
    expect([...less.intersect(set)]).toEqual(['fe80::', 'fe80::2', 'fe80::6', 'fe80::3%eth0']);
  });

  it('agrees with every n-th text in at, has, size, order, minus, intersect and again every n-th', () => {
    const strides = fc.record({ n: fc.integer({ min: 1, max: 9 }), from: fc.nat(8) });
    fc.assert(
      fc.property(smallSet, smallSet, strides, strides, (left, right, { n, from }, again) => {
        const whole = [...AddressSet.of(left)];
        const set = AddressSet.of(left).everyNth(BigInt(n), BigInt(from % n));
        const listed = whole.filter((_, index) => index % n === from % n);
        expect([...set]).toEqual(listed);
        expect(set.size).toBe(BigInt(listed.length));
        expect(listed.map((_, index) => set.at(BigInt(index)))).toEqual(listed);
        for (const address of whole) expect(set.has(address)).toBe(listed.includes(address));
        const [other, texts] = [AddressSet.of(right), plain(right)];
        expect([...set.minus(other)]).toEqual(listed.filter((at) => !texts.has(at)));
        expect([...set.intersect(other)]).toEqual(listed.filter((at) => texts.has(at)));
        expect(other.intersect(set).intervals).toEqual(set.intersect(other).intervals);
        expect(set.minus(other).intersect(set).intervals).toEqual(set.minus(other).intervals);
        expect([...set.minus(other).union(set.intersect(other))]).toEqual(listed);
        const rest = listed.filter((at) => !texts.has(at));
        expect([...set.minus(other).everyNth(BigInt(again.n), BigInt(again.from % again.n))]).toEqual(
          rest.filter((_, index) => index % again.n === again.from % again.n),
        );
      }),
    );
  });

  it('holds disjoint intervals that do not touch', () => {
    fc.assert(
      fc.property(smallSet, smallSet, (left, right) => {
        const { intervals } = AddressSet.of(left).minus(AddressSet.of(right));
        for (const [index, next] of intervals.entries()) {
          const previous = intervals[index - 1];
          if (previous?.family === next.family) expect(next.first).toBeGreaterThan(previous.last + 1n);
        }
      }),
    );
  });

  it('lists 100,000 blocks of two addresses in one pass', () => {
    const blocks = Array.from({ length: 100_000 }, (_, n) => ({
      family: 4 as const,
      first: BigInt(4 * n),
      last: BigInt(4 * n + 1),
    }));
    const set = AddressSet.of(blocks);
    let [count, last] = [0, ''];
    for (last of set) count++;
    expect([count, last]).toEqual([200_000, '0.6.26.125']);
  });

  it('is cut with a small set in few looks at its intervals, wherever that lies', () => {
    const count = 10_000;
    const large = AddressSet.of(
      Array.from({ length: count }, (_, at) => ({
        family: 4 as const,
        first: BigInt(4 * at),
        last: BigInt(4 * at + 1),
      })),
    );
    let looks = 0;
    for (const interval of large.intervals)
      for (const end of ['first', 'last'] as const) {
        const value = interval[end];
        Object.defineProperty(interval, end, { get: () => (++looks, value) });
      }
    for (let at = 0; at < count; at += 100) {
      const small = AddressSet.of([{ family: 4, first: BigInt(4 * at + 1), last: BigInt(4 * at + 2) }]);
      expect([...small.intersect(large), ...small.minus(large)].map((text) => text.split('.')[3])).toEqual([
        String((4 * at + 1) & 255),
        String((4 * at + 2) & 255),
      ]);
      expect(large.intersect(small).size).toBe(1n);
    }
    // 100 small sets, three operations each.
    expect(looks).toBeLessThan(100 * 3 * 50);
  });

  it('holds, cuts and indexes huge sets without listing them', () => {
    const set = setOf('::/0', '0.0.0.0/0').minus(setOf('10.0.0.0/8', '2001:db8::/32'));
    expect(set.size).toBe((1n << 128n) - (1n << 96n) - (1n << 24n));
    expect(set.at(10n * (1n << 24n))).toBe('11.0.0.0');
    expect(set.at(set.size - 1n)).toBe('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
    expect(set[Symbol.iterator]().next().value).toBe('0.0.0.0');
  });
});

describe('unicastAddresses', () => {
  it.each(['127.0.0.1', '::1', '240.0.0.1', '8.8.8.8', '2001:db8::1', 'fe80::1%eth0'])(
    'holds %s',
    (address) => {
      expect(unicastAddresses.has(address)).toBe(true);
    },
  );
  it.each(['0.0.0.0', '224.0.0.1', '239.255.255.255', '255.255.255.255', '::', 'ff02::1'])(
    'lacks %s',
    (address) => {
      expect(unicastAddresses.has(address)).toBe(false);
    },
  );
});
