import { expect, it } from 'vitest';
import { noteStack, stackAt, stackWords } from './stack-traits.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

interface Shown {
  hops: number;
  window: number;
  options: string;
  fragments?: boolean;
  flags?: number;
  version?: 4 | 6;
}

/** A SYN/ACK as it lies in the ring, with something before it. */
function packet({ hops, window, options, fragments, flags = 0x12, version = 4 }: Shown) {
  const tcp = Buffer.concat([Buffer.alloc(20), hex(options)]);
  tcp[12] = (tcp.length / 4) << 4;
  tcp[13] = flags;
  tcp.writeUInt16BE(window, 14);
  const header = Buffer.alloc(version === 4 ? 20 : 40);
  header[0] = version === 4 ? 0x45 : 0x60;
  if (version === 4 && !fragments) header[6] = 0x40;
  header[version === 4 ? 8 : 7] = hops;
  const before = Buffer.alloc(96, 0xee);
  const bytes = Buffer.concat([before, header, tcp, Buffer.alloc(16, 2)]);
  return { bytes, start: 96, at: 96 + header.length, end: 96 + header.length + tcp.length };
}

function read(shown: Shown, cut = 0) {
  const { bytes, start, at, end } = packet(shown);
  const table = new Uint32Array(3 * stackWords);
  noteStack(table, 1, bytes, start, at, end - cut);
  expect([stackAt(table, 0), stackAt(table, 2)]).toEqual([null, null]);
  return stackAt(table, 1);
}

const stamp = '080a 00000001 00000001';

it.each<[string, Shown, object]>([
  [
    'Linux',
    { hops: 64, window: 65_160, options: `020405b4 0402 ${stamp} 01 030307` },
    { mss: 1460, scale: 7, options: ['mss', 'sack', 'ts', 'nop', 'ws'], dont_fragment: true },
  ],
  [
    'Windows behind two routers',
    { hops: 126, window: 65_535, options: `020405b4 01 030308 0402 ${stamp}` },
    { hops: 126, scale: 8, options: ['mss', 'nop', 'ws', 'sack', 'ts'] },
  ],
  [
    'OpenBSD, nine options, of which eight are kept',
    { hops: 64, window: 16_384, options: `020405b4 0101 0402 01 030306 0101 ${stamp}` },
    { options: ['mss', 'nop', 'nop', 'sack', 'nop', 'ws', 'nop', 'nop'] },
  ],
  [
    'macOS, with an end',
    { hops: 64, window: 65_535, options: `020405b4 01 030306 0101 ${stamp} 0402 00 00` },
    { options: ['mss', 'nop', 'ws', 'nop', 'nop', 'ts', 'sack', 'end'] },
  ],
  [
    'a router that only tells its segment',
    { hops: 255, window: 4128, options: '02040218', fragments: true },
    { hops: 255, window: 4128, mss: 536, scale: null, options: ['mss'], dont_fragment: false },
  ],
  ['nothing at all', { hops: 30, window: 0, options: '' }, { mss: null, scale: null, options: [] }],
  [
    'IPv6, and word on congestion',
    { hops: 60, window: 64_800, options: '020405a0', flags: 0x52, version: 6 },
    { hops: 60, mss: 1440, dont_fragment: false, ecn: true },
  ],
  ['a shift of 255', { hops: 64, window: 1, options: '0303ff 00' }, { scale: 255, options: ['ws', 'end'] }],
  ['kinds without a name', { hops: 64, window: 1, options: '1e02 fd02' }, { options: ['other', 'other'] }],
  ['a length of 0', { hops: 64, window: 1, options: '0200 05b4' }, { mss: null, options: ['mss'] }],
  [
    'a length beyond the end',
    { hops: 64, window: 1, options: '020405b4 08ff0000' },
    { mss: 1460, options: ['mss', 'ts'] },
  ],
])('reads %s', (_, shown, expected) => {
  expect(read(shown)).toMatchObject({ hops: shown.hops, window: shown.window, ...expected });
});

it('a packet that is cut off gives what is there, and nothing behind its end is read', () => {
  const shown = { hops: 64, window: 65_160, options: `020405b4 0402 ${stamp} 01 030307` };
  expect(read(shown, 20)).toMatchObject({ mss: null, options: [] });
  expect(read(shown, 16)).toMatchObject({ mss: 1460, options: ['mss'] });
  expect(read(shown, 1)).toMatchObject({ scale: null, options: ['mss', 'sack', 'ts', 'nop', 'ws'] });
});

it('keeps the first word of a host', () => {
  const table = new Uint32Array(stackWords);
  for (const hops of [64, 128]) {
    const { bytes, start, at, end } = packet({ hops, window: hops, options: hops === 64 ? '' : '020405b4' });
    noteStack(table, 0, bytes, start, at, end);
  }
  expect(stackAt(table, 0)).toMatchObject({ hops: 64, window: 64, mss: null });
});
