import { describe, expect, it } from 'vitest';
import {
  afterScroll,
  anchorOf,
  bodyHeight,
  type ListSize,
  offsetOf,
  positionFor,
  rangeAt,
  scrollOf,
  tallestPixels,
} from './scroll-mapping.ts';

const few: ListSize = { rows: 1000, rowHeight: 28, view: 700 };
const million: ListSize = { rows: 1_000_000, rowHeight: 28, view: 700 };
const end = tallestPixels - million.view;
const lastOffset = 28_000_000 - million.view;

describe('a short list', () => {
  it('scrolls as far as its scroll bar', () => {
    expect(bodyHeight(few)).toBe(28_000);
    expect(offsetOf(1234, few)).toBe(1234);
    expect(afterScroll({ scroll: 0, offset: 0 }, 5000, few)).toEqual({ scroll: 5000, offset: 5000 });
    expect(anchorOf({ scroll: 5000, offset: 5000 }, few)).toBeNull();
  });

  it('ends with its last row', () => {
    expect(offsetOf(1e9, few)).toBe(28_000 - 700);
    expect(rangeAt(28_000 - 700, few, 6)).toEqual({ first: 969, last: 999 });
  });

  it('shorter than the view does not scroll', () => {
    const three = { ...few, rows: 3 };
    expect(offsetOf(50, three)).toBe(0);
    expect(scrollOf(50, three)).toBe(0);
    expect(rangeAt(0, three, 6)).toEqual({ first: 0, last: 2 });
  });

  it('without rows draws none', () => {
    expect(rangeAt(0, { ...few, rows: 0 }, 6).last).toBe(-1);
  });
});

describe('a list of a million rows', () => {
  it('is no taller than browsers draw', () => {
    expect(bodyHeight(million)).toBe(tallestPixels);
  });

  it('maps both ends and the middle', () => {
    expect(offsetOf(0, million)).toBe(0);
    expect(offsetOf(end, million)).toBe(lastOffset);
    expect(offsetOf(end / 2, million)).toBeCloseTo(lastOffset / 2);
    expect(rangeAt(lastOffset, million, 6).last).toBe(999_999);
  });

  it('maps back to the same place', () => {
    for (const offset of [0, 1, 28, 13_999_999, lastOffset]) {
      expect(offsetOf(scrollOf(offset, million), million)).toBeCloseTo(offset, 3);
    }
  });

  it('moves rows as far as the scroll bar on a short way', () => {
    const before = { scroll: 7_000_000, offset: 14_000_350 };
    expect(afterScroll(before, 7_000_100, million).offset).toBe(14_000_450);
  });

  it('goes where the scroll bar points to on a long way', () => {
    const after = afterScroll({ scroll: 0, offset: 0 }, end / 2, million);
    expect(after.offset).toBeCloseTo(lastOffset / 2);
  });

  it('is reachable to its ends by short ways', () => {
    let position = { scroll: 2000, offset: 4000 };
    for (let i = 0; i < 200; i++) {
      position = afterScroll(position, Math.max(0, position.scroll - 100), million);
      const anchor = anchorOf(position, million);
      if (anchor !== null) position = { ...position, scroll: anchor };
    }
    expect(position).toEqual({ scroll: 0, offset: 0 });
  });

  it('puts the scroll bar back in its place after short ways', () => {
    const drifted = { scroll: 1000, offset: 1000 };
    expect(anchorOf(drifted, million)).toBeCloseTo(scrollOf(1000, million));
  });

  it('reaches every row by keys', () => {
    let position = { scroll: 0, offset: 0 };
    for (const row of [0, 24, 25, 26, 500_000, 999_999, 999_998, 0]) {
      position = positionFor(row, position, million);
      expect(row * 28).toBeGreaterThanOrEqual(position.offset);
      expect((row + 1) * 28).toBeLessThanOrEqual(position.offset + million.view);
      expect(position.scroll).toBeGreaterThanOrEqual(0);
      expect(position.scroll).toBeLessThanOrEqual(end);
    }
  });

  it('stays where it is for a row in view', () => {
    const before = { scroll: 100, offset: 200 };
    expect(positionFor(10, before, million)).toBe(before);
  });
});
