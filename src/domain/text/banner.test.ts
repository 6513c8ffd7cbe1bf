import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bannerBytes, bannerText, describeBytes } from './banner.ts';

describe('the text of a banner', () => {
  it('keeps printable text and shows every other byte', () => {
    expect(bannerText(Buffer.from('220 ok\r\n\t~', 'latin1'))).toBe('220 ok\r\n\t~');
    expect(bannerText(Buffer.from([0, 0x1b, 0x7f, 0x80, 0xff]))).toBe('\\x00\\x1b\\x7f\\x80\\xff');
  });

  it('gives every byte back exactly, from valid text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const described = describeBytes(bytes);
        expect(described.banner.isWellFormed()).toBe(true);
        expect(new Uint8Array(bannerBytes(JSON.parse(JSON.stringify(described))))).toEqual(bytes);
      }),
    );
  });

  it('does not mistake text that looks like an escape', () => {
    const described = describeBytes(Buffer.from('a\\x41b'));
    expect(bannerBytes(described).toString()).toBe('a\\x41b');
  });
});
