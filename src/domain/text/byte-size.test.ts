import { describe, expect, it } from 'vitest';
import { formatByteSize, parseByteSize } from './byte-size.ts';

describe('parseByteSize', () => {
  it.each([
    ['1KB', 1000],
    ['512MB', 512_000_000],
    ['20GB', 20_000_000_000],
    ['2TB', 2_000_000_000_000],
    ['64KiB', 65_536],
    ['1MiB', 1_048_576],
    ['1.5GiB', 1_610_612_736],
    ['1TiB', 1_099_511_627_776],
    ['0GB', 0],
  ])('reads %s', (text, bytes) => expect(parseByteSize(text)).toBe(bytes));

  it.each([
    '',
    '5',
    'GB',
    '-1GB',
    '1 GB',
    '1gb',
    '1G',
    '1kB',
    '1PB',
    '1e3KB',
    '0x1KB',
    '.5GB',
    '1GB\n',
    '1,5GB',
    '0.00001KB',
    '999999999999999TB',
    `${'9'.repeat(400)}KB`,
  ])('refuses %j', (text) => expect(parseByteSize(text)).toBeNull());
});

describe('formatByteSize', () => {
  it.each([
    [0, '0KB'],
    [1500, '1.5KB'],
    [20_000_000_000, '20GB'],
    [1_048_576, '1MiB'],
    [1_234_567, '1234.567KB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatByteSize(bytes)).toBe(text);
    expect(parseByteSize(text)).toBe(bytes);
  });
});
