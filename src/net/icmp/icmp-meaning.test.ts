import { expect, it } from 'vitest';
import { icmpMeaning } from './icmp-meaning.ts';

it.each([
  [4, 3, 0, 'net-unreachable'],
  [4, 3, 1, 'host-unreachable'],
  [4, 3, 3, 'port-unreachable'],
  [4, 3, 9, 'admin-prohibited'],
  [4, 3, 10, 'admin-prohibited'],
  [4, 3, 13, 'admin-prohibited'],
  [4, 3, 4, null],
  [4, 11, 0, 'time-exceeded'],
  [4, 8, 0, null],
  [6, 1, 0, 'net-unreachable'],
  [6, 1, 1, 'admin-prohibited'],
  [6, 1, 3, 'host-unreachable'],
  [6, 1, 4, 'port-unreachable'],
  [6, 1, 5, 'admin-prohibited'],
  [6, 1, 6, 'admin-prohibited'],
  [6, 3, 0, 'time-exceeded'],
  [6, 128, 0, null],
] as const)('an ICMP error of IPv%i with type %i and code %i means %s', (family, type, code, meaning) => {
  expect(icmpMeaning(family, { type, code })).toBe(meaning);
});
