import { expect, it } from 'vitest';
import { AddressRanges } from './address-ranges.ts';

it('addresses that follow each other become a range, within a /24', () => {
  const ranges = new AddressRanges();
  const addresses = ['10.0.0.3', '10.0.0.4', '10.0.0.9', '10.0.0.255', '10.0.1.0', '10.0.1.1', '::1', '::2'];
  for (const address of addresses) ranges.add(address);
  expect([ranges.count, ranges.text]).toEqual([8, '10.0.0.3-4, 10.0.0.9, 10.0.0.255, 10.0.1.0-1, ::1, ::2']);
});
