import { describe, expect, it } from 'vitest';
import { permutation, randomPermutationKey, shuffled } from './permutation.ts';

describe('walk', () => {
  it.each([0, 1, 2, 3, 7, 8, 100, 1000, 65_535, 65_536, 1_000_000])(
    'is an exact permutation of %i',
    (size) => {
      const seen = new Uint8Array(size);
      let count = 0;
      for (const index of permutation(size)) {
        seen[index] = (seen[index] as number) + 1;
        count += 1;
      }
      expect(count).toBe(size);
      expect(seen.every((times) => times === 1)).toBe(true);
    },
  );

  it('gives the same order for the same key and spreads neighbors', () => {
    const key = randomPermutationKey();
    const order = [...permutation(65_536, key)];
    expect([...permutation(65_536, key)]).toEqual(order);
    expect([...permutation(65_536, key, 1000)]).toEqual(order.slice(1000));
    const neighbors = order.filter(
      (value, at) => at > 0 && Math.abs(value - (order[at - 1] as number)) === 1,
    );
    expect(neighbors.length).toBeLessThan(600);
  });

  it.each([1, 2, 3, 7])('is shared by %i shards without a gap or an overlap, from any position on', (of) => {
    const key = randomPermutationKey();
    for (const start of [0, 1, 5, 700]) {
      const shards = Array.from({ length: of }, (_, index) => [
        ...permutation(1000, key, start, { index, of }),
      ]);
      expect(shards.flat().toSorted((a, b) => a - b)).toEqual(
        [...permutation(1000, key, start)].toSorted((a, b) => a - b),
      );
    }
  });

  it('walks up to 2^31 and refuses more', () => {
    const first = permutation(2 ** 31).next().value as number;
    expect(first).toBeGreaterThanOrEqual(0);
    expect(() => permutation(2 ** 31 + 1).next()).toThrow(RangeError);
  });

  it('lists huge sets lazily', () => {
    const taken: bigint[] = [];
    for (const value of shuffled(1n << 64n, (index) => index)) {
      taken.push(value);
      if (taken.length === 100) break;
    }
    expect(new Set(taken).size).toBe(100);
  });
});
