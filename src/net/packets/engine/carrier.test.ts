import { expect, it } from 'vitest';
import { readLinks } from '../linux/links.ts';
import { Carrier } from './carrier.ts';

it('waits 5 s for a carrier, and then says why nothing is sent', () => {
  let now = 0;
  let problem: string | null = null;
  const carrier = new Carrier(
    () => problem,
    () => now,
  );
  const at = (ms: number, state: string | null) => {
    [now, problem] = [ms, state];
    return carrier.isThere();
  };
  expect(at(0, null)).toBe(true);
  expect(at(99, 'no carrier')).toBe(true);
  expect(at(100, 'no carrier')).toBe(false);
  expect(at(5099, 'no carrier')).toBe(false);
  expect(at(5250, null)).toBe(true);
  // Another outage has its own 5 s.
  expect(at(6000, 'no carrier')).toBe(false);
  expect(at(10_990, 'no carrier')).toBe(false);
  expect(() => at(11_100, 'no carrier')).toThrow('no carrier');
});

it('finds loopback there', () => {
  const loopback = readLinks().find((link) => link.loopback);
  expect(Carrier.of(loopback?.index ?? 0).isThere()).toBe(true);
  expect(() => Carrier.of(999_999).isThere()).toThrow('ENODEV');
});
