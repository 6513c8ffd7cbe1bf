import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Address,
  canonicalAddress,
  compareAddresses,
  formatAddress,
  parseAddress,
  parseNetwork,
} from './address.ts';

const ipv4: fc.Arbitrary<Address> = fc
  .bigInt({ min: 0n, max: (1n << 32n) - 1n })
  .map((value) => ({ family: 4, value, zone: null }));

/** Groups with many zeros: produces runs of zeros of every position and length. */
const ipv6: fc.Arbitrary<Address> = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n))
  .filter((value) => value >> 32n !== 0xffffn)
  .map((value) => ({ family: 6, value, zone: null }));

describe('parseAddress', () => {
  it.each([
    ['10.0.0.5', '10.0.0.5'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['::1.2.3.4', '::102:304'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['FE80:0::1%br-lan.5', 'fe80::1%br-lan.5'],
  ])('reads %s as %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it.each([
    '::ffff:10.0.0.1',
    '::FFFF:10.0.0.1',
    '::ffff:0a00:1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:a00:0001',
    '0::ffff:10.0.0.1',
  ])('reads the IPv4-mapped %s as the IPv4 address', (text) => {
    expect(parseAddress(text)).toEqual({ family: 4, value: 0x0a00_0001n, zone: null });
  });

  it.each([
    '',
    ' 10.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1\n',
    '10.0.0.1\0',
    '012.0.0.1',
    '10.0.0.01',
    '0x0a.0.0.1',
    '0x0a000001',
    '2130706433',
    '127.1',
    '1.2.3',
    '1.2.3.4.5',
    '10.0.0.300',
    '10.0.0.1.',
    '10.0.0.-1',
    '+10.0.0.1',
    '１０.0.0.1',
    '127。0。0。1',
    '::ffff:010.0.0.1',
    '1::2::3',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    '[::1]',
    '::1/64',
    '10.0.0.1%eth0',
    '2001:db8::1%eth0',
    'fe80::1%',
    'fe80::1%a b',
    'fe80::1%a:b',
    'fe80::1%../../x',
    'fe80::1%abcdefghijklmnop',
    '::ffff:10.0.0.1%eth0',
    'localhost',
  ])('refuses %j', (text) => expect(parseAddress(text)).toBeNull());

  it('never throws, whatever the text', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.%/xE- '), maxLength: 50 });
    fc.assert(fc.property(fc.oneof(nearly, fc.string()), (text) => void parseAddress(text)));
  });

  it('reads back what formatAddress writes', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });

  it('writes IPv6 as the WHATWG URL parser does', () => {
    fc.assert(
      fc.property(ipv6, (address) => {
        const text = formatAddress(address);
        expect(new URL(`http://[${text}]/`).hostname).toBe(`[${text}]`);
      }),
    );
  });
});

describe('parseNetwork', () => {
  const read = (text: string) => {
    const network = parseNetwork(text);
    if (network === null) return null;
    const { family, first, last, prefix, zone } = network;
    return [
      formatAddress({ family, value: first, zone }),
      formatAddress({ family, value: last, zone }),
      prefix,
    ];
  };

  it.each([
    ['10.0.0.77/24', '10.0.0.0', '10.0.0.255', 24],
    ['10.0.0.1/32', '10.0.0.1', '10.0.0.1', 32],
    ['10.0.0.1/0', '0.0.0.0', '255.255.255.255', 0],
    ['2001:db8::ff/120', '2001:db8::', '2001:db8::ff', 120],
    ['::/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 0],
    ['::ffff:10.0.0.9/120', '10.0.0.0', '10.0.0.255', 24],
    ['::ffff:0:0/96', '0.0.0.0', '255.255.255.255', 0],
    ['fe80::9%eth0/125', 'fe80::8%eth0', 'fe80::f%eth0', 125],
  ])('reads %s', (text, first, last, prefix) => expect(read(text)).toEqual([first, last, prefix]));

  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '/24',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/-1',
    '10.0.0.0/8 ',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0/16',
    '::/129',
    '::ffff:10.0.0.0/24',
    'fe80::%eth0/9',
    'example.net/24',
  ])('refuses %j', (text) => expect(parseNetwork(text)).toBeNull());
});

describe('compareAddresses', () => {
  it('orders by number, IPv4 first, texts that are no addresses last', () => {
    const ordered = [
      '2.0.0.1',
      '10.0.0.9',
      '10.0.0.10',
      '::1',
      'fe80::1',
      'fe80::1%a',
      'fe80::1%b',
      'a.example',
      'b',
    ];
    expect([...ordered].reverse().sort(compareAddresses)).toEqual(ordered);
  });
});
