import { describe, expect, it } from 'vitest';
import { acceptedEncodings } from './accepted-encoding.ts';

describe('the encodings that a client accepts', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['gzip, deflate, br, zstd', ['br', 'gzip']],
    ['GZIP;q=0.5 , Br;Q=0.1', ['br', 'gzip']],
    ['br;q=0, gzip', ['gzip']],
    ['*', ['br', 'gzip']],
    ['*;q=0', []],
    ['gzip;q=0, *', ['br']],
    ['br;q=x', []],
    [',;;,=', []],
  ] as const)('of %j are %j', (header, names) => {
    expect(acceptedEncodings(header)).toEqual(names);
  });
});
