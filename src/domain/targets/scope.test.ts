import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PortolanError } from '../errors.ts';
import { compileScope } from './scope.ts';
import { parseTargets } from './target.ts';

const addressesOf = (...values: string[]) => parseTargets(values, new Set(['eth0'])).addresses;
const shipped = compileScope({
  allow: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '::1', 'fc00::/7', 'fe80::/10'],
  deny: ['169.254.169.254', '10.9.0.0/16'],
});

describe('compileScope', () => {
  it('permits every unicast address when nothing is listed', () => {
    const scope = compileScope({ allow: [], deny: [] });
    for (const inside of ['8.8.8.8', '127.0.0.1', '2001:db8::1', 'fe80::1%eth0']) {
      expect(scope.permits(inside)).toBe(true);
    }
    for (const outside of [
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      'ff02::1',
      'localhost',
      '',
      '010.0.0.1',
    ]) {
      expect(scope.permits(outside)).toBe(false);
    }
  });

  it.each([
    ['10.1.2.3', true],
    ['10.255.255.255', true],
    ['::1', true],
    ['fd00::1', true],
    ['fe80::1%eth0', true],
    ['10.9.0.1', false],
    ['::ffff:10.9.0.1', false],
    ['::ffff:a09:1', false],
    ['::ffff:10.1.0.1', true],
    ['169.254.169.254', false],
    ['8.8.8.8', false],
    ['2001:db8::1', false],
  ])('with rules answers %s: %s', (address, permitted) => expect(shipped.permits(address)).toBe(permitted));

  it('takes ranges and octets in rules, but no names', () => {
    const scope = compileScope({
      allow: ['10.0.0.10-20', '10.0.*.1,7', '[2001:db8::]/120'],
      deny: ['10.0.0-3.7'],
    });
    const inside = ['10.0.0.10', '10.0.0.20', '10.0.200.1', '10.0.4.7', '2001:db8::ff'];
    expect(inside.filter((address) => !scope.permits(address))).toEqual([]);
    expect(['10.0.0.21', '10.0.3.7', '10.1.0.1'].filter((address) => scope.permits(address))).toEqual([]);
    for (const rule of ['web.example', 'web.example/28', '10.0.*', '10.0.0.9-1'])
      expect(() => compileScope({ allow: [], deny: [rule] })).toThrow(
        'is not an address, a CIDR block or a range',
      );
  });

  it('lets deny win over allow, even over the narrower rule', () => {
    const scope = compileScope({ allow: ['10.1.2.3'], deny: ['10.0.0.0/8'] });
    expect(scope.permits('10.1.2.3')).toBe(false);
  });

  it('never permits multicast, broadcast or unspecified addresses, even when allowed', () => {
    const scope = compileScope({ allow: ['0.0.0.0/0', '::/0', '224.0.0.0/4'], deny: [] });
    for (const address of ['224.0.0.1', '255.255.255.255', '0.0.0.0', '::', 'ff02::1']) {
      expect(scope.permits(address)).toBe(false);
    }
    expect(scope.permits('8.8.8.8')).toBe(true);
  });

  it('counts whole blocks: a denied CIDR includes its first and last address', () => {
    const scope = compileScope({ allow: [], deny: ['10.0.0.0/24'] });
    expect(scope.permits('10.0.0.0')).toBe(false);
    expect(scope.permits('10.0.0.255')).toBe(false);
  });

  it('applies a rule on every interface', () => {
    const scope = compileScope({ allow: [], deny: ['fe80::1'] });
    expect(scope.permits('fe80::1%eth0')).toBe(false);
    expect(scope.permits('fe80::2%eth0')).toBe(true);
    expect(scope.split(addressesOf('fe80::1%eth0', 'fe80::2%eth0')).outside.size).toBe(1n);
  });

  it('splits a set without listing it', () => {
    const { inside, outside } = shipped.split(addressesOf('10.0.0.0/8', '8.8.8.8', '::1'));
    expect(inside.size).toBe((1n << 24n) - 2n - (1n << 16n) + 1n);
    expect(outside.size).toBe((1n << 16n) + 1n);
    expect(outside.has('8.8.8.8')).toBe(true);
  });

  it('splits exactly as it permits', () => {
    const block = fc
      .tuple(fc.nat(255), fc.integer({ min: 24, max: 32 }))
      .map(([octet, prefix]) => `10.0.0.${octet}/${prefix}`);
    const rules = fc.array(block, { maxLength: 4 });
    const all = addressesOf('10.0.0.0-10.0.0.255');
    fc.assert(
      fc.property(rules, rules, (allow, deny) => {
        const scope = compileScope({ allow, deny });
        const { inside, outside } = scope.split(all);
        expect(inside.size + outside.size).toBe(256n);
        for (const address of all) {
          expect(inside.has(address)).toBe(scope.permits(address));
          expect(outside.has(address)).toBe(!scope.permits(address));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('names every bad rule', () => {
    const compile = () =>
      compileScope({ allow: ['10.0.0.0/8', '10.0.0.0/40', 'example.net'], deny: ['fe80::1%eth0', ''] });
    expect(compile).toThrow(PortolanError);
    try {
      compile();
    } catch (error) {
      expect(error).toMatchObject({ code: 'configuration', exitCode: 3 });
      expect((error as PortolanError).details.fields).toMatchObject([
        { field: 'scanner.scope.allow[1]' },
        { field: 'scanner.scope.allow[2]' },
        { field: 'scanner.scope.deny[0]' },
        { field: 'scanner.scope.deny[1]' },
      ]);
    }
  });
});
