import { describe, expect, it } from 'vitest';
import {
  Allowance,
  BestItems,
  BoundedMap,
  DistinctCount,
  detachedStart,
  oneLine,
  shortenedText,
} from './bounded.ts';

describe('shortened texts', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly', 7, 'exactly'],
    ['longer than that', 8, 'longer…'],
    ['', 5, ''],
  ])('%j with at most %s characters is %j', (text, length, shown) => {
    expect(shortenedText(text, length)).toBe(shown);
  });

  it('half a character at the cut is replaced', () => {
    expect(detachedStart('ab\u{1f600}', 3)).toBe('ab\ufffd');
    expect(detachedStart('ab\u{1f600}', 4)).toBe('ab\u{1f600}');
  });

  it('one line has no line breaks and no runs of blanks', () => {
    expect(oneLine(' a\r\n\tb  c ', 20)).toBe('a b c');
    expect(oneLine('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(9)}…`);
  });
});

describe('bounded collections', () => {
  it('an allowance ends', () => {
    const allowance = new Allowance(5);
    expect([allowance.take(3), allowance.take(3), allowance.take(1)]).toEqual([true, true, false]);
  });

  it('the best items of any number are kept, ties in the order of addition', () => {
    const best = new BestItems<[number, string]>(3, ([a], [b]) => b - a);
    for (let index = 0; index < 100; index++) best.add([index % 10, `item ${index}`]);
    expect(best.items()).toEqual([
      [9, 'item 9'],
      [9, 'item 19'],
      [9, 'item 29'],
    ]);
    expect([best.seen, best.left]).toEqual([100, 97]);
  });

  it('a full map has no new keys, and names of prototypes are plain keys', () => {
    const map = new BoundedMap<{ count: number }>(2);
    for (const key of ['__proto__', 'constructor', 'more', '__proto__']) {
      const entry = map.at(key, () => ({ count: 0 }));
      if (entry) entry.count += 1;
      else expect(key).toBe('more');
    }
    expect(map.values()).toEqual([{ count: 2 }, { count: 1 }]);
    expect(map.get('toString')).toBeUndefined();
  });

  it('different texts count once, until the limit of memory', () => {
    const distinct = new DistinctCount(1000);
    for (let round = 0; round < 2; round++)
      for (let index = 0; index < 900; index++) distinct.add(`text ${index}`);
    expect(distinct.count).toBe(900);
    const small = new DistinctCount(1);
    for (const text of ['a', 'b', 'b', 'a']) small.add(text);
    expect(small.count).toBe(3);
  });
});
