import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressFamily } from './address-family.ts';

/** Pieces of addresses in any order: most texts are nearly an address. */
const nearlyAddress = fc
  .array(
    fc.constantFrom(
      '0',
      '1',
      '9',
      '25',
      '255',
      '256',
      'f',
      'ffff',
      'fffff',
      'DB8',
      ':',
      '::',
      '.',
      '%',
      'eth0',
      '-',
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''));

const groups = fc
  .array(fc.constantFrom('0', 'a', 'ffff', '1.2.3.4', ''), { minLength: 2, maxLength: 9 })
  .map((parts) => parts.join(':'));

test('the family of an address is that of net.isIP', () => {
  fc.assert(
    fc.property(fc.oneof(nearlyAddress, groups, fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
      expect(addressFamily(text) ?? 0).toBe(isIP(text));
    }),
    { numRuns: 5000 },
  );
});
