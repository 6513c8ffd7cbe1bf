import { describe, expect, it } from 'vitest';
import { formatIpv4 } from './address.ts';
import { hasOctetRanges, readOctetRanges } from './octet-ranges.ts';

/** The addresses of a text as nmap lists them; fails if it was rejected. */
function addressesOf(text: string): string[] {
  expect(hasOctetRanges(text)).toBe(true);
  const read = readOctetRanges(text);
  if ('reason' in read) throw new Error(read.reason);
  return read.intervals.flatMap(({ first, last }) =>
    Array.from({ length: Number(last - first) + 1 }, (_, at) => formatIpv4(Number(first) + at)),
  );
}

describe('readOctetRanges', () => {
  it.each([
    ['192.168.3-5,7.1', ['192.168.3.1', '192.168.4.1', '192.168.5.1', '192.168.7.1']],
    ['10.0.0-1.1,7', ['10.0.0.1', '10.0.0.7', '10.0.1.1', '10.0.1.7']],
    ['10.0.0.-2', ['10.0.0.0', '10.0.0.1', '10.0.0.2']],
    ['10.0.0.254-', ['10.0.0.254', '10.0.0.255']],
    ['10.0.0.3,1-2,2', ['10.0.0.1', '10.0.0.2', '10.0.0.3']],
  ])('%s is %j', (text, addresses) => expect(addressesOf(text)).toEqual(addresses));

  it('takes as much memory for whole octets as for one address', () => {
    for (const text of ['10.*.*.*', '10.-.0-255.*', '0-255.0-255.0-255.0-255'])
      expect(readOctetRanges(text)).toMatchObject({ intervals: { length: 1 } });
    expect(readOctetRanges('10.0-255.7.1-9')).toMatchObject({ intervals: { length: 256 } });
  });

  it.each(['10.0.0.256,1', '10.0.0.1-2-3', '10.0.0.9-1', '10..0-1.1', '10.0.0.007,1', '10.0.0.**'])(
    'rejects %s',
    (text) => expect(readOctetRanges(text)).toMatchObject({ reason: expect.stringMatching(/255|reversed/) }),
  );
});

it.each([
  '10.0.0.1',
  '10.0.0.1,10.0.0.2',
  '10.0.*',
  '10-20',
  'a.b.c.*',
  '-1.2.3.4',
  '1.2.3.4,',
  '1.2.3.4,,5',
  '1.2.3.4/24,5',
])('octet ranges are not %s', (text) => expect(hasOctetRanges(text)).toBe(false));
