import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ambiguousMinutes, formatDuration, maxDuration, parseDuration } from './duration.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['3s', 3000],
    ['5m', 300_000],
    ['1h', hour],
    ['1h30m', 1.5 * hour],
    ['1.5h', 1.5 * hour],
    ['1m17.5s', 77_500],
    ['30d', 30 * day],
    ['2w', 14 * day],
    ['1w2d3h4m5s6ms', 9 * day + 3 * hour + 4 * 60_000 + 5006],
    ['0s', 0],
    ['36500d', maxDuration],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([
    '',
    '5',
    '0',
    '-5s',
    '+5s',
    '1e3s',
    '0x10s',
    '.5s',
    '5.s',
    '5 s',
    ' 5s',
    '5s ',
    '5s\n',
    '5S',
    '5x',
    's',
    'NaN',
    'Infinity',
    '30m1h',
    '1h1h',
    '1,5h',
    '٥s',
    '0.0001ms',
    '36501d',
    '101y',
    '6mo',
    '1y',
    `${'9'.repeat(400)}d`,
  ])('refuses %j', (text) => expect(parseDuration(text)).toBeNull());

  it('reads months and years for retention, and no bare m', () => {
    expect(parseDuration('6mo', { retention: true })).toBe(180 * day);
    expect(parseDuration('1y', { retention: true })).toBe(365 * day);
    expect(parseDuration('1y6mo2d', { retention: true })).toBe(547 * day);
    expect(parseDuration('100y', { retention: true })).toBe(maxDuration);
    expect(parseDuration('90d', { retention: true })).toBe(90 * day);
    expect(parseDuration('5m', { retention: true })).toBeNull();
    expect(parseDuration('1h30m', { retention: true })).toBeNull();
  });
});

describe('ambiguousMinutes', () => {
  it.each(['5m', '1h30m', '1.5m'])('says why retention rejects %s', (text) =>
    expect(ambiguousMinutes(text)).toContain('is ambiguous'),
  );
  it.each(['5', '5mo', '5ms', 'xm', '-5m', '5m1h'])('has nothing to say of %s', (text) =>
    expect(ambiguousMinutes(text)).toBeNull(),
  );
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [500, '500ms'],
    [3000, '3s'],
    [77_500, '1m17.5s'],
    [1.5 * hour, '1h30m'],
    [90 * day, '90d'],
  ])('writes %d as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it('writes what parseDuration reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxDuration }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
