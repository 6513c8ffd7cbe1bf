import { expect, it } from 'vitest';
import { hexLine, offsetText, stretches } from './hex-lines.ts';

const banner = new TextEncoder().encode('SSH-2.0-OpenSSH_9.2p1 Debian\r\n');
const match = [{ from: 8, to: 21 }];

it('shows bytes as hex and as text', () => {
  const line = hexLine(banner, 16, 16, match);
  expect(line.hex.slice(0, 5)).toEqual(['39', '2e', '32', '70', '31']);
  expect(line.text.join('')).toBe('9.2p1 Debian..');
  expect(line.isMatch.slice(3, 7)).toEqual([true, true, false, false]);
});

it('marks a match as one stretch', () => {
  const line = hexLine(banner, 0, 16, match);
  expect(stretches(line, [0, 16])).toEqual([
    { isMatch: false, hex: '53 53 48 2d 32 2e 30 2d', text: 'SSH-2.0-' },
    { isMatch: true, hex: '4f 70 65 6e 53 53 48 5f', text: 'OpenSSH_' },
  ]);
});

it('never shows control characters or bytes above ASCII as themselves', () => {
  const line = hexLine(new Uint8Array([0, 0x1b, 0x7f, 0xe2, 0x80, 0xae]), 0, 16, []);
  expect(line.text.join('')).toBe('......');
});

it('writes offsets with enough digits', () => {
  expect(offsetText(16, 40)).toBe('0010');
  expect(offsetText(16, 1_048_576)).toBe('00010');
});

it('ends with the bytes', () => {
  expect(hexLine(banner, 32, 16, []).hex).toEqual([]);
  expect(stretches(hexLine(banner, 16, 16, []), [8, 16])).toHaveLength(1);
});
