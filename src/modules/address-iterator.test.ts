import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTargets } from '../domain/targets/target.ts';
import { AddressIterator } from './address-iterator.ts';

const network = parseTargets(['127.9.0.0/24', '::1']).addresses;

describe('AddressWalk', () => {
  it('gives every address once, not in order', () => {
    const seen = [...new AddressIterator(network, null)];
    expect(new Set(seen).size).toBe(255);
    expect(seen.length).toBe(255);
    expect(seen).not.toEqual([...network]);
  });

  it('resumes with exactly the incomplete addresses', () => {
    const property = fc.property(fc.nat(300), fc.nat(40), (taken, open) => {
      const walk = new AddressIterator(network, null);
      const settled = new Set<string>();
      const underWay: string[] = [];
      for (let i = 0; i < taken; i++) {
        const { value } = walk.next();
        if (value === undefined) break;
        underWay.push(value);
        if (underWay.length > open) {
          const done = underWay.shift() as string;
          walk.settle(done);
          settled.add(done);
        }
      }
      expect(walk.settled).toBe(settled.size);
      const saved: unknown = JSON.parse(JSON.stringify(walk.state()));
      const rest = [...new AddressIterator(network, saved)];
      expect(new Set(rest).size).toBe(rest.length);
      expect(new Set([...rest, ...settled]).size).toBe(255);
      expect(rest.length + settled.size).toBe(255);
    });
    fc.assert(property, { numRuns: 50 });
  });

  it('returns no address that was completed before it came up again', () => {
    const walk = new AddressIterator(network, null);
    const taken = Array.from({ length: 100 }, () => walk.next().value as string);
    const resumed = new AddressIterator(network, walk.state());
    for (const address of taken.slice(0, 60)) resumed.settle(address);
    expect(resumed.settled).toBe(60);
    expect(new Set(resumed.state().open)).toEqual(new Set(taken.slice(60)));
    const rest = [...resumed];
    expect(rest).toHaveLength(195);
    expect(rest.slice(0, 40).toSorted()).toEqual(taken.slice(60).toSorted());
  });

  it('starts anew when other addresses are to be walked than before', () => {
    const walk = new AddressIterator(network, null);
    for (let i = 0; i < 200; i++) walk.settle(walk.next().value as string);
    const fewer = network.minus(parseTargets(['127.9.0.7']).addresses);
    expect(new Set(new AddressIterator(fewer, walk.state()))).toEqual(new Set(fewer));
    expect([...new AddressIterator(network, walk.state())]).toHaveLength(55);
  });

  it.each([null, 7, {}, { key: [1], taken: 'x', open: [] }])(
    'starts anew from a state it cannot read: %j',
    (state) => {
      expect([...new AddressIterator(network, state)].length).toBe(255);
    },
  );
});
