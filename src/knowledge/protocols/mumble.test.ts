import { expect, test } from 'vitest';
import { parseMumble, readMumblePing } from './mumble.ts';

/** The first message of a Mumble server: version, release, system. */
const mumble = Buffer.from(
  '00000000003208848604120' +
    '7312e332e342d341a035831312' +
    '21e44656269616e20474e552f4c696e75782031322028626f6f6b776f726d29',
  'hex',
);

test('Mumble reports its release and system', () => {
  expect(parseMumble(mumble)).toEqual({
    service: 'mumble',
    evidence: [
      ['mumble.release', '1.3.4-4'],
      ['mumble.system', 'X11 Debian GNU/Linux 12 (bookworm)'],
    ],
    proof: 'Mumble 1.3.4-4',
  });
  expect(parseMumble(mumble.subarray(0, 12))).toBeNull();
});

test('the Mumble ping reply contains the version', () => {
  const response = Buffer.alloc(24);
  response.set([0, 1, 3, 4]);
  expect(readMumblePing(response)?.evidence).toEqual([['mumble.release', '1.3.4']]);
  expect(readMumblePing(response.subarray(1))).toBeNull();
});

test('parsing hostile bytes terminates', () => {
  const seed = mumble;
  for (let at = 0; at < seed.length; at++)
    for (const byte of [0, 0x7f, 0x80, 0xff]) {
      const bytes = Buffer.from(seed);
      bytes[at] = byte;
      expect(() => parseMumble(bytes.subarray(0, seed.length - (at % 7)))).not.toThrow();
    }
});
