import { expect, it } from 'vitest';
import { listed, plural, shownState } from './words.ts';

it('canceled differs from failed, interrupted from running', () => {
  expect(shownState({ status: 'failed' })).toBe('failed');
  expect(shownState({ status: 'failed', canceled: true })).toBe('canceled');
  expect(shownState({ status: 'running', interrupted: false })).toBe('running');
  expect(shownState({ status: 'running', interrupted: true })).toBe('interrupted');
});

it('an unknown state is pending', () => {
  expect(shownState({ status: 'constructor' })).toBe('pending');
});

it('numbers agree with their words', () => {
  expect([plural(1, 'host'), plural(0, 'host'), plural(65_536, 'port')]).toEqual([
    '1 host',
    '0 hosts',
    '65,536 ports',
  ]);
  expect(plural(2, 'address', 'addresses')).toBe('2 addresses');
});

it('lists end with and', () => {
  expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])]).toEqual([
    '',
    'a',
    'a and b',
    'a, b and c',
  ]);
});
