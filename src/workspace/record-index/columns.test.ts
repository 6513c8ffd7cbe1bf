import { describe, expect, it } from 'vitest';
import { NumberColumn, type StoredColumn, TextColumn } from './columns.ts';
import { MemberTable } from './member-table.ts';
import { TimeColumn } from './time-column.ts';

const bytesEach = (column: NumberColumn | TextColumn) => column.values.BYTES_PER_ELEMENT;
const valuesOf = (column: { get(index: number): number }, count: number) =>
  Array.from({ length: count }, (_, index) => column.get(index));

describe('whole numbers', () => {
  it('take as many bytes as the highest of them needs', () => {
    const column = new NumberColumn('whole');
    const values = [0, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 40];
    const widths = values.map((value, index) => {
      column.set(index, value);
      return bytesEach(column);
    });
    expect(widths).toEqual([1, 1, 2, 2, 4, 4, 8, 8]);
    expect(valuesOf(column, values.length)).toEqual(values);
  });

  it.each([-1, 1.5, Number.NaN])('hold %s, which a damaged row may have', (value) => {
    const column = new NumberColumn('whole');
    column.set(0, 7);
    column.set(1, value);
    column.set(2, 9);
    expect(valuesOf(column, 3)).toEqual([7, value, 9]);
  });
});

describe('texts', () => {
  it('have codes as long as few of them are different', () => {
    const column = new TextColumn();
    for (let index = 0; index < 120_000; index++) column.set(index, index % 3 === 0 ? 0 : index + 10);
    expect(column.dictionary).toBeNull();
    expect(valuesOf(column, 4)).toEqual([0, 11, 12, 0]);
    expect(column.get(119_997)).toBe(0);
    expect(column.get(119_999)).toBe(120_009);
  });

  it('can be added to after they were stored and restored', () => {
    const column = new TextColumn();
    for (let index = 0; index < 300; index++) column.set(index, 1000 + (index % 200));
    expect(bytesEach(column)).toBe(1);
    const restored = new TextColumn();
    restored.restore(column.store(300));
    restored.set(300, 1005);
    restored.set(301, 5);
    expect(restored.dictionary?.length).toBe(202);
    expect(valuesOf(restored, 302)).toEqual([...valuesOf(column, 300), 1005, 5]);
  });
});

describe('times', () => {
  const now = Date.parse('2026-11-23T10:00:00.123Z');
  const day = 86_400_000;
  const kept = (times: readonly number[]): { times: number[]; stored: StoredColumn } => {
    const column = new TimeColumn();
    for (const [index, time] of times.entries()) column.set(index, time);
    const stored = column.store(times.length);
    const restored = new TimeColumn();
    restored.restore({ ...stored, bytes: stored.bytes.slice() });
    expect(valuesOf(restored, times.length)).toEqual(valuesOf(column, times.length));
    return { times: valuesOf(column, times.length), stored };
  };

  it.each([
    ['none', [Number.NaN, Number.NaN], 'u8'],
    ['close ones', [Number.NaN, now, now + 20 * day, now - 20 * day, Number.NaN], 'u32'],
    ['distant ones', [now, Number.NaN, now + 30 * day], 'f64'],
    ['earlier distant ones', [now, now - 30 * day, 0], 'f64'],
  ])('are the same again: %s', (_name, times, kind) => {
    const { times: found, stored } = kept(times);
    expect(found).toEqual(times);
    expect(stored.kind).toBe(kind);
  });
});

it('a place in a text of many gigabytes stays exact', () => {
  const table = new MemberTable('port', {}, []);
  const places = [0, 2 ** 32 - 1, 2 ** 32, 5 * 2 ** 32 + 17].map((offset) => ({ offset, length: 400 }));
  for (const [member, place] of places.entries()) table.setPlace(member, place);
  table.count = places.length;
  table.seal();
  expect(places.map((_, member) => table.placeOf(member))).toEqual(places);
});
