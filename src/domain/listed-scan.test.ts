import { expect, it } from 'vitest';
import { isWhole, listedName, listedTags, listedTargets } from './listed-scan.ts';

const bytes = (texts: unknown) => Buffer.byteLength(JSON.stringify(texts));

it('lists show the first ten targets, and fewer of long ones', () => {
  const targets = Array.from({ length: 30 }, (_, index) => `10.0.0.${index}`);
  expect(listedTargets(targets.slice(0, 10))).toEqual(targets.slice(0, 10));
  expect(listedTargets(targets)).toEqual(targets.slice(0, 10));
  const long = targets.map((target) => `${target}.${'x'.repeat(120)}.example`);
  expect(listedTargets(long)).toEqual(long.slice(0, 2));
  expect(listedTargets([])).toEqual([]);
});

it('lists show a host name of any length, and a longer target cut', () => {
  const name = 'x'.repeat(253);
  expect(listedTargets([name, name])).toEqual([name]);
  const list = ['192.0.2.1,'.repeat(1000)];
  expect(listedTargets(list)[0]).toMatch(/^192\.0\.2\.1,.*…$/);
  expect(isWhole(listedTargets(list), list)).toBe(false);
  expect(listedTargets(listedTargets(list))).toEqual(listedTargets(list));
});

it('lists show names of 200 letters as they are, and longer ones of other scripts cut', () => {
  const name = 'x'.repeat(200);
  expect(listedName(name)).toBe(name);
  expect(listedName(null)).toBeNull();
  for (const text of ['名'.repeat(200), '\u{1f600}'.repeat(100), '"'.repeat(200), '\ud800'.repeat(200)]) {
    const shown = listedName(text) as string;
    expect(text.startsWith(shown.slice(0, -1))).toBe(true);
    expect(bytes(shown)).toBeGreaterThan(200);
    expect(bytes(shown)).toBeLessThanOrEqual(240);
  }
});

it('lists show the first tags', () => {
  const tags = Array.from({ length: 32 }, (_, index) => `${index} ${'x'.repeat(40)}`);
  expect(listedTags(tags)).toEqual(tags.slice(0, 3));
  expect(bytes(listedTags(['名'.repeat(64)]))).toBeLessThanOrEqual(161);
});
