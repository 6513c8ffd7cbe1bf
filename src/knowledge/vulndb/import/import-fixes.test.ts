import { describe, expect, it } from 'vitest';
import { readPackageFixes } from './import-fixes.ts';

const openssh = {
  distro: 'Debian',
  release: '12',
  source: 'openssh',
  fixedIn: { 'CVE-2023-38408': '1:9.2p1-2+deb12u1', 'CVE-2007-2768': null, 'CVE-2024-6387': '0' },
};

describe('readPackageFixes', () => {
  it('reads what is fixed in which version, what is not, and what never was there', () => {
    expect(readPackageFixes(openssh)).toEqual({
      distribution: 'debian',
      release: '12',
      package: 'openssh',
      fixed: new Map([
        ['CVE-2023-38408', '1:9.2p1-2+deb12u1'],
        ['CVE-2007-2768', null],
        ['CVE-2024-6387', '0'],
      ]),
    });
  });

  it.each([
    [{ ...openssh, distro: undefined }, /distro must be text/],
    [{ ...openssh, source: 'open ssh' }, /source must be a name/],
    [{ ...openssh, fixedIn: { 'CVE-1': '1' } }, /CVE IDs as names/],
    [{ ...openssh, fixedIn: { 'CVE-2023-38408': '1 or so' } }, /version of a package/],
    [{ ...openssh, fixedIn: [] }, /fixedIn must be an object/],
  ])('refuses %#', (value, reason) => {
    expect(() => readPackageFixes(value)).toThrow(reason);
  });
});
