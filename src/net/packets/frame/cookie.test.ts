import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CookieKey, cookie, halfSipHash, randomCookieKey } from './cookie.ts';

/** The published vectors of HalfSipHash-2-4 with 32 bits: key 00..07, messages 00, 00 01, ... */
const published = [
  'a9359f5b',
  '27475ab8',
  'fa62a603',
  '8afee704',
  '2a6e4689',
  'c5fab669',
  '5863fc23',
  '8bcf63c5',
];
const key: CookieKey = [0x03020100, 0x07060504];

it('agrees with the published vectors', () => {
  const hashes = published.map((_, length) => {
    const out = Buffer.alloc(4);
    out.writeInt32LE(
      halfSipHash(
        key,
        Uint8Array.from({ length }, (_byte, at) => at),
      ),
    );
    return out.toString('hex');
  });
  expect(hashes).toEqual(published);
});

it('hashes an endpoint as its eight bytes', () => {
  const word = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(
    fc.property(word, word, word, word, (k0, k1, host, ports) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32LE(host);
      bytes.writeUInt32LE(ports, 4);
      expect(cookie([k0, k1], host, ports)).toBe(halfSipHash([k0, k1], bytes));
    }),
  );
});

it('hashes a part of a buffer', () => {
  const bytes = Buffer.from('..an address..');
  expect(halfSipHash(key, bytes, 2, 10)).toBe(halfSipHash(key, bytes.subarray(2, 12)));
  expect(randomCookieKey()).not.toEqual(randomCookieKey());
});
