import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RankedKey, sortedBy, sortedByAll } from './index-order.ts';

const count = 50;

/** Equal ranks and absent values are frequent; the largest ones do not fit into one pass with another. */
const key: fc.Arbitrary<RankedKey> = fc
  .tuple(fc.constantFrom(0, 1, 3, 40, 5000, 70_000), fc.boolean())
  .chain(([none, descending]) =>
    fc
      .array(fc.integer({ min: 0, max: none }), { minLength: count, maxLength: count })
      .map((ranks) => ({ ranks: { ranks: Uint32Array.from(ranks), none }, descending })),
  );

it('sorts by several properties as by one after the other', () => {
  const order = Uint32Array.from({ length: count }, (_, number) => count - 1 - number);
  fc.assert(
    fc.property(fc.array(key, { maxLength: 6 }), (keys) => {
      const oneByOne = keys
        .toReversed()
        .reduce<Uint32Array>((sorted, { ranks, descending }) => sortedBy(sorted, ranks, descending), order);
      expect(sortedByAll(order, keys)).toEqual(oneByOne);
    }),
  );
});
