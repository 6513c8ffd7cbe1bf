import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from './address.ts';
import { countAddresses, countItems, parseTargets, splitTargets } from './target.ts';

const interfaces = new Set(['lo', 'eth0', 'br-lan']);
const parse = (...values: string[]) => parseTargets(values, interfaces);

/** The reason for the only item; fails if it was accepted. */
function reasonFor(item: string): string {
  const list = parse(item);
  expect(list.targets, `accepted: ${JSON.stringify(list.targets)}`).toEqual([]);
  expect(list.problems[0]).toMatchObject({ index: 0, value: item.replace(/^[ \t]+|[ \t]+$/g, '') });
  return list.problems[0]?.reason ?? '';
}

describe('parseTargets: forms', () => {
  it.each([
    ['10.0.0.5', 'ip', '10.0.0.5', 1n],
    ['2001:DB8::1', 'ip', '2001:db8::1', 1n],
    ['10.0.0.77/24', 'cidr', '10.0.0.0/24', 254n],
    ['2001:db8::ff/120', 'cidr', '2001:db8::/120', 256n],
    ['10.0.0.10-10.0.0.20', 'range', '10.0.0.10-10.0.0.20', 11n],
    ['10.0.0.10-20', 'range', '10.0.0.10-10.0.0.20', 11n],
    ['10.0.0.5-5', 'range', '10.0.0.5-10.0.0.5', 1n],
    ['2001:db8::1-2001:db8::f', 'range', '2001:db8::1-2001:db8::f', 15n],
    ['db-1.example.net', 'hostname', 'db-1.example.net', 1n],
    ['DB-1.Example.NET.', 'hostname', 'db-1.example.net', 1n],
    ['localhost', 'hostname', 'localhost', 1n],
    ['_sip.example_1.net', 'hostname', '_sip.example_1.net', 1n],
    ['1.2.3.4-static.example.net', 'hostname', '1.2.3.4-static.example.net', 1n],
    ['10-0-0-1.example.net', 'hostname', '10-0-0-1.example.net', 1n],
    ['xn--bcher-kva.example', 'hostname', 'xn--bcher-kva.example', 1n],
    ['fe80::1%eth0', 'ip', 'fe80::1%eth0', 1n],
    ['fe80::1%br-lan', 'ip', 'fe80::1%br-lan', 1n],
    ['fe80::1%br-lan-fe80::9%br-lan', 'range', 'fe80::1%br-lan-fe80::9%br-lan', 9n],
    [' \t10.0.0.5 ', 'ip', '10.0.0.5', 1n],
    ['[::1]', 'ip', '::1', 1n],
    ['[fe80::1%eth0]', 'ip', 'fe80::1%eth0', 1n],
    ['[2001:DB8::]/120', 'cidr', '2001:db8::/120', 256n],
    ['10.0.0-3.1,7', 'range', '10.0.0-3.1,7', 8n],
    ['10.0.*.5', 'range', '10.0.*.5', 256n],
    ['10.0.0.*', 'range', '10.0.0.0-10.0.0.255', 256n],
    ['10.0.0-3.*', 'range', '10.0.0.0-10.0.3.255', 1024n],
    ['10.0.0.1,7', 'range', '10.0.0.1,7', 2n],
    ['10.0.0.7,1,2', 'range', '10.0.0.1-2,7', 3n],
    ['10,11.0.0.1', 'range', '10-11.0.0.1', 2n],
    ['10.0.0.250-', 'range', '10.0.0.250-10.0.0.255', 6n],
    ['10.0.-.1', 'range', '10.0.*.1', 256n],
    ['10.0.-1.1', 'range', '10.0.0-1.1', 2n],
    ['Web.Example/28', 'cidr', 'web.example/28', 14n],
    ['web.example./32', 'cidr', 'web.example/32', 1n],
    ['web.example/120', 'cidr', 'web.example/120', 256n],
  ])('reads %s as %s %s', (item, kind, value, count) => {
    const list = parse(item);
    expect(list.problems).toEqual([]);
    expect(list.targets).toMatchObject([{ kind, value }]);
    expect(countAddresses(list)).toBe(count);
  });

  it('gives the address of a target that is one', () => {
    expect(parse('::ffff:10.0.0.1').targets).toEqual([{ value: '10.0.0.1', kind: 'ip', ip: '10.0.0.1' }]);
    expect(parse('10.0.0.0/32').targets).toEqual([{ value: '10.0.0.0/32', kind: 'cidr' }]);
  });

  it('takes comma lists and keeps names apart from addresses', () => {
    const list = parse('10.0.0.1, 10.0.0.2 ,a.example', 'B.example,2001:db8::1');
    expect(list.targets.map(({ value }) => value)).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      'a.example',
      'b.example',
      '2001:db8::1',
    ]);
    expect([...list.addresses]).toEqual(['10.0.0.1', '10.0.0.2', '2001:db8::1']);
    expect(list.hostnames).toEqual(['a.example', 'b.example']);
    expect(countAddresses(list)).toBe(5n);
  });

  it('keeps the good items and reports every bad one with its position and its own value', () => {
    const list = parse('10.0.0.1', '10.0.0.300', 'ok.example, 1.2.3 ,,10.0.0.9-3');
    expect(list.problems).toEqual([
      { index: 1, value: '10.0.0.300', reason: 'not an IP address, CIDR, range or host name' },
      { index: 2, value: '1.2.3', reason: expect.stringContaining('four decimal numbers') },
      { index: 2, value: '', reason: 'is empty' },
      { index: 2, value: '10.0.0.9-3', reason: expect.stringContaining('reversed') },
    ]);
    expect(list.targets.map(({ value }) => value)).toEqual(['10.0.0.1', 'ok.example']);
  });

  it('reads a comma in an octet as one item only where the whole text is one', () => {
    expect(parse('10.0.0-3.1,7').items.map(({ value }) => value)).toEqual(['10.0.0-3.1,7']);
    expect(parse('10.0.0.1,10.0.0.2').targets).toHaveLength(2);
    expect(parse('10.0.0.1-5,10.0.1.1-5').targets).toHaveLength(2);
    expect(parse(' 10.0.0.1,7 ').targets).toMatchObject([{ value: '10.0.0.1,7' }]);
    expect(parse('10.0.0.1, 7').problems.map(({ value }) => value)).toEqual(['7']);
    expect(parse('10.0.0.1,7,10.0.0.9').problems).toEqual([
      { index: 0, value: '7', reason: expect.stringContaining('a target of its own') },
    ]);
    expect(parse('10.0.0.1,').problems.map(({ value }) => value)).toEqual(['']);
    expect(parse('a.example,10.0.0.1,7').problems.map(({ value }) => value)).toEqual(['7']);
  });

  it('bounds the memory that octet ranges take', () => {
    const gateways = '10.0-255.0-255.1';
    expect(countAddresses(parse(gateways))).toBe(65_536n);
    expect(reasonFor('10-11.0-255.0-255.1')).toContain('65536 separate');
    const list = parse(...Array.from({ length: 1000 }, (_, n) => `10.0-255.0-255.${n % 250}`));
    expect(list.items).toHaveLength(1);
    expect(list.problems).toHaveLength(999);
    expect(list.problems[0]?.reason).toContain('65536 separate');
  });

  it('names the networks around names apart from hosts', () => {
    const list = parse('a.example/28', 'A.example./28', 'b.example/64', 'b.example');
    expect(list.hostnames).toEqual(['b.example']);
    expect(list.namedNetworks).toEqual([
      { value: 'a.example/28', name: 'a.example', family: 4, prefix: 28 },
      { value: 'b.example/64', name: 'b.example', family: 6, prefix: 64 },
    ]);
    expect(countAddresses(list)).toBe(14n + (1n << 64n) + 1n);
  });

  it.each(['10-20', '10-', '1-2-3', '10--20', '192-168-0-1', '10-20.', ' 10-20 '])(
    'rejects %j, digits and hyphens alone, as ambiguous',
    (item) => expect(reasonFor(item)).toMatch(/^ambiguous: /),
  );

  it.each([
    ['-10-20', 'starts with "-"'],
    ['10.20-30', 'the last label'],
    ['10.0.0.10-0x14', 'a range ends with an address'],
    ['10.0.0.10-0X0A000014', 'a range ends with an address'],
    ['10.0.0.10-10.20', 'a range ends with an address'],
    ['10.0.0.10-020', 'a range ends with an address'],
    ['１０-２０', 'non-ASCII'],
  ])('rejects %s for what it is', (item, reason) => expect(reasonFor(item)).toContain(reason));

  it('reads names of digits and hyphens that have a letter in their last label', () => {
    expect(parse('10-20.example', '10-20a').hostnames).toEqual(['10-20.example', '10-20a']);
  });

  it('knows the loopback interface of this machine without being told', () => {
    expect(parseTargets(['fe80::1%lo']).problems).toEqual([]);
    expect(parseTargets(['fe80::1%nosuchif0']).problems[0]?.reason).toContain('nosuchif0');
  });
});

describe('parseTargets: addresses that no host has (contract 3.2)', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.0.0.0/32', 'unspecified'],
    ['::', 'unspecified'],
    ['::/128', 'unspecified'],
    ['::ffff:0.0.0.0', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['::ffff:224.0.0.1', 'multicast'],
    ['224.0.0.0/4', 'multicast'],
    ['224.0.0.0/24', 'multicast'],
    ['224.0.0.5-230.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['ff00::/8', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['255.255.255.255/32', 'broadcast'],
  ])('refuses %s', (item, word) => expect(reasonFor(item)).toContain(word));

  it.each([
    ['0.0.0.0/0', (1n << 32n) - 2n - (1n << 28n)],
    ['0.0.0.0-255.255.255.255', (1n << 32n) - 2n - (1n << 28n)],
    ['192.0.0.0/2', (1n << 30n) - 2n - (1n << 28n)],
    ['0.0.0.0/31', 1n],
    ['255.255.255.254/31', 1n],
    ['223.255.255.255-224.0.0.3', 1n],
    ['::/127', 1n],
    ['::/0', (1n << 128n) - 1n - (1n << 120n) - (1n << 32n)],
  ])('leaves them out of %s', (item, count) => {
    const list = parse(item);
    expect(list.problems).toEqual([]);
    expect(countAddresses(list)).toBe(count);
    for (const address of ['0.0.0.0', '224.0.0.1', '255.255.255.255', '::', 'ff02::1']) {
      expect(list.addresses.has(address)).toBe(false);
    }
  });
});

describe('parseTargets: hostile texts', () => {
  it('never throws, and accepts nothing but canonical addresses and plain names', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'0123456789abcfxX.:/-%,_ \n$;@'), maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.oneof(nearly, fc.string()), { maxLength: 4 }), (values) => {
        const list = parseTargets(values, interfaces);
        for (const { value, kind, ip } of list.targets) {
          expect(value).toMatch(/^[a-z0-9._:%/*,-]+$/i);
          expect(value).not.toMatch(/^-/);
          if (kind === 'hostname') expect(parseAddress(value)).toBeNull();
          if (ip !== undefined) expect(list.addresses.has(ip)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reads its own values back to the same set', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    const range = fc.tuple(fc.nat(255), fc.nat(255)).map((ends) => ends.sort((a, b) => a - b).join('-'));
    const octet = fc.array(fc.oneof(fc.nat(255).map(String), range, fc.constant('*')), {
      minLength: 1,
      maxLength: 4,
    });
    const item = fc.oneof(
      address,
      fc.tuple(fc.ipV4(), fc.nat(32)).map(([base, prefix]) => `${base}/${prefix}`),
      fc.tuple(fc.ipV6(), fc.nat(128)).map(([base, prefix]) => `${base}/${prefix}`),
      fc.tuple(fc.ipV4(), fc.nat(255)).map(([base, end]) => `${base}-${end}`),
      fc.tuple(address, address).map(([from, to]) => `${from}-${to}`),
      fc.array(octet, { minLength: 4, maxLength: 4 }).map((octets) => octets.join('.')),
    );
    fc.assert(
      fc.property(item, (text) => {
        const once = parse(text);
        const again = parse(...once.targets.map(({ value }) => value));
        expect(again.targets).toEqual(once.targets);
        expect(again.addresses.intervals).toEqual(once.addresses.intervals);
      }),
    );
  });

  it('bounds what it says about an endless list or item', () => {
    const commas = parse(','.repeat(200_000));
    expect(commas.problems).toHaveLength(10_000);
    const long = parse('a'.repeat(1_000_000));
    expect(long.problems[0]?.value.length).toBeLessThan(300);
    expect(long.problems[0]?.reason).toContain('longer than');
  });

  it.each([
    [`${'a'.repeat(64)}.example`, '63'],
    [`${'a.'.repeat(126)}ab`, '253'],
    ['a..b', 'empty label'],
    ['.example.net', 'empty label'],
    ['example.net..', 'empty label'],
    ['10.0.0.10-300', 'last octet'],
    ['10.0.0.10-010', 'last octet'],
    ['10.0.0.1-10.0.0.300', 'ends with an address'],
    ['10.0.0.1 - 10.0.0.5', 'write 10.0.0.1-10.0.0.5'],
    ['10.0.0.1\t10.0.0.5', 'separate targets with commas'],
    ['10.0.0.1\n10.0.0.5', 'each line is a target of its own'],
    ['10.0.0.20-10,5', 'reversed'],
    ['10.0.0.256,1', 'from 0 to 255'],
    ['10.0.0.01,1', 'from 0 to 255'],
    ['10.0.1-2-3.1', 'from 0 to 255'],
    ['10.0.*', 'write 10.0.*.*'],
    ['2001:db8::*', 'IPv6 addresses have no wildcards'],
    ['2001:db8::1-ff', 'write 2001:db8::1-2001:db8::ff'],
    ['2001:db8::ff-1', 'ends with an address'],
    ['10.0.0.1;10.0.0.2', 'separate targets with commas'],
    ['10.0.0-3.0/24', 'octet ranges have no prefix'],
    ['10.1/16', 'write 10.1.0.0/16'],
    ['10.0.0.0/255.255.255.0', 'write 10.0.0.0/24'],
    ['224-230.0.0.1', 'multicast'],
    ['10.0.0.20-10', 'reversed'],
    ['2001:db8::f-2001:db8::1', 'reversed'],
    ['10.0.0.1-2001:db8::1', 'IPv4 to an IPv6'],
    ['fe80::1%eth0-fe80::5%lo', 'different zones'],
    ['fe80::1%eth0-fe80::5', 'different zones'],
    ['10.0.0.0/33', 'from 0 to 32'],
    ['10.0.0.0/08', 'from 0 to 32'],
    ['2001:db8::/129', 'from 0 to 128'],
    ['::ffff:10.0.0.0/24', '96 to 128'],
    ['example.net/login', 'write example.net'],
    ['example.net/129', 'from 0 to 128'],
    ['/24', 'nothing before'],
    ['1.2.3/x', 'before "/"'],
    ['http://10.0.0.1/', 'URL; give its host alone: 10.0.0.1'],
    ['https://u:p@example.net:8443/x?y=a@b', 'URL; give its host alone: example.net'],
    ['http://[::1]:80/', 'URL; give its host alone: [::1]'],
    ['10.0.0.1:80', 'port'],
    ['example.net:443', 'port'],
    ['[::1]:80', 'port'],
    ['[10.0.0.1]', 'brackets are for IPv6 addresses'],
    ['[::1]-[::5]', 'brackets'],
    ['user@example.net', 'write example.net'],
    ['@targets.txt', 'a list file'],
    ['"10.0.0.1"', 'write 10.0.0.1'],
    ['10.0.0.1:', 'write 10.0.0.1'],
    ['example.net/', 'write example.net'],
    ['10.0.0.7/', 'write 10.0.0.7'],
    ['*.example.net', 'no wildcards'],
    ['bücher.example', 'write xn--bcher-kva.example'],
    ['１０.0.0.1', 'write 10.0.0.1'],
    ['\u00e4 b', 'A-label'],
    ['10.0.0.1–10.0.0.5', 'write 10.0.0.1-10.0.0.5'],
    ['10.0.0.1−5', 'write 10.0.0.1-5'],
    ['10.0.0.0/24/24', 'not "24/24"'],
  ])('refuses %s', (item, part) => expect(reasonFor(item)).toContain(part));
});

describe('splitTargets', () => {
  it.each([
    ['10.0.0.1 10.0.0.2\t10.0.0.3', ['10.0.0.1', '10.0.0.2', '10.0.0.3']],
    ['10.0.0.1, 10.0.0.2 ,a.example\nb.example', ['10.0.0.1', '10.0.0.2', 'a.example', 'b.example']],
    ['10.0.0-3.1,7 10.0.0.9', ['10.0.0-3.1,7', '10.0.0.9']],
    ['10.0.0.1,,10.0.0.2', ['10.0.0.1', '', '10.0.0.2']],
    [
      '10.0.0-3.1,7, 10.9.0.0/28 ,a.example , b.example',
      ['10.0.0-3.1,7', '10.9.0.0/28', 'a.example', 'b.example'],
    ],
    ['10.0.0.1,, 10.0.0.2,', ['10.0.0.1', '', '10.0.0.2', '']],
    [',', ['', '']],
    [' ', ['']],
  ])('splits %j', (text, targets) => expect(splitTargets(text)).toEqual(targets));
});

it('countItems counts numbers in an octet too, since each takes as long as a target', () => {
  expect(countItems(['10.0.0-3.1,7', '10.0.0.1,10.0.0.2', 'a.example'])).toBe(5);
});

describe('the whole internet', () => {
  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/8', '2001:db8::/64'])('counts %s without listing it', (item) => {
    const before = process.memoryUsage().rss;
    const list = parse(item, '10.1.2.3', '2001:db8::1');
    expect(countAddresses(list)).toBeGreaterThan(16_000_000n);
    expect(list.addresses.at(12_345_678n)).not.toBe('');
    expect(list.addresses.minus(parse('10.0.0.0/9').covered).size).toBeLessThanOrEqual(list.addresses.size);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  });

  it('reads 50,000 entries in one pass', () => {
    const forms = [
      (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
      (n: number) => `172.16.${n & 255}.0/24`,
    ];
    const more = [
      (n: number) => `2001:db8::${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`,
      (n: number) => `host-${n}.example.net`,
    ];
    const all = [...forms, ...more];
    const values = Array.from({ length: 50_000 }, (_, n) => all[n % 4]?.(n) as string);
    expect(countAddresses(parseTargets(values, interfaces))).toBe(12_500n + 64n * 254n + 12_500n + 12_500n);
  });
});

describe('address spellings', () => {
  it.each([
    '012.0.0.1',
    '010.0.0.1',
    '0x0a.1',
    '0x0a.0.0.1',
    '0x0a000001',
    '0X7F000001',
    '2130706433',
    '017700000001',
    '127.1',
    '1.2.3',
    '127.0.0.1.',
    '10.0.0.300',
    '１０.0.0.1',
    '０.０.０.１',
    '127。0。0。1',
    '127．0．0．1',
    '10.0.0.1 10.0.0.2',
    '10. 0.0.1',
    '\u00a010.0.0.1',
    '\u300010.0.0.1',
    '\ufeff10.0.0.1',
    '2001:db8::1%eth0',
    'fe80::1%eth9',
    'fe80::1%',
    '::ffff:012.0.0.1',
    '::ffff:10.0.0.1%eth0',
  ])('refuses %j', (item) => expect(reasonFor(item).length).toBeGreaterThan(10));

  it('has one meaning for the others, echoed in the target, and uses that one for membership', () => {
    for (const item of ['::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1', ' 10.0.0.1 ']) {
      const list = parse(item);
      expect(list.targets).toEqual([{ value: '10.0.0.1', kind: 'ip', ip: '10.0.0.1' }]);
      expect([...list.addresses]).toEqual(['10.0.0.1']);
    }
    expect(parse('::ffff:10.0.0.0/120').targets[0]?.value).toBe('10.0.0.0/24');
    expect(parse('fe80:0:0::1%eth0').targets[0]?.ip).toBe('fe80::1%eth0');
    expect(parse('Example.NET.').targets[0]?.value).toBe('example.net');
  });
});

describe('shell and option injection', () => {
  it.each([
    '-oN',
    '-oN /tmp/x',
    '--help',
    '$(touch /tmp/x)',
    '$(id)',
    '`id`',
    ';id',
    '10.0.0.1;id',
    '10.0.0.1|id',
    '10.0.0.1&id',
    '10.0.0.1\nid',
    '10.0.0.1\r\n',
    '\n10.0.0.1',
    'a\0b',
    'a\u001b[2Jb',
    'a\u0085b',
    'a\u2028b',
    '../../etc/passwd',
    '/etc/passwd',
    "a'b",
    'a"b',
    '<script>',
    '{a}',
    '~root',
    '\\\\host\\share',
  ])('refuses %j', (item) => expect(reasonFor(item).length).toBeGreaterThan(10));
});

describe('set arithmetic', () => {
  it.each([
    ['10.0.0.0/24', 254n, '10.0.0.1', '10.0.0.254'],
    ['10.0.0.0/30', 2n, '10.0.0.1', '10.0.0.2'],
    ['10.0.0.0/31', 2n, '10.0.0.0', '10.0.0.1'],
    ['10.0.0.4/32', 1n, '10.0.0.4', '10.0.0.4'],
    ['10.0.0.0/8', (1n << 24n) - 2n, '10.0.0.1', '10.255.255.254'],
    ['128.0.0.0/1', (1n << 31n) - 2n - (1n << 28n), '128.0.0.1', '255.255.255.254'],
    ['2001:db8::/126', 4n, '2001:db8::', '2001:db8::3'],
    ['2001:db8::/127', 2n, '2001:db8::', '2001:db8::1'],
    ['2001:db8::4/128', 1n, '2001:db8::4', '2001:db8::4'],
    ['10.0.0.0-10.0.0.255', 256n, '10.0.0.0', '10.0.0.255'],
  ])('%s holds %d addresses', (item, count, first, last) => {
    const { addresses } = parse(item);
    expect([addresses.size, addresses.at(0n), addresses.at(addresses.size - 1n)]).toEqual([
      count,
      first,
      last,
    ]);
  });

  it('counts each address of overlaps and duplicates once', () => {
    const list = parse(
      '10.0.0.0/24,10.0.0.0/25',
      '10.0.0.1,10.0.0.1',
      '10.0.0.100-10.0.1.5',
      'a.example,A.example.',
    );
    expect(list.addresses.size).toBe(261n);
    expect(countAddresses(list)).toBe(262n);
    expect(list.targets.map(({ value }) => value)).toEqual([
      '10.0.0.0/24',
      '10.0.0.0/25',
      '10.0.0.1',
      '10.0.0.100-10.0.1.5',
      'a.example',
    ]);
  });

  it('covers network and broadcast addresses for an exclusion', () => {
    const targets = parse('10.0.0.0/23');
    expect(targets.addresses.has('10.0.0.255')).toBe(true);
    const left = targets.addresses.minus(parse('10.0.0.0/24').covered);
    expect([left.at(0n), left.size]).toEqual(['10.0.1.0', 255n]);
  });
});
