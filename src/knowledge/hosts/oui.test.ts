import { describe, expect, it } from 'vitest';
import { readRegistry, vendorOf } from './oui.ts';
import { vendorPrefixes } from './oui-table.ts';

const nobody = new Map<string, string>();

describe('vendorOf', () => {
  it.each([
    ['00:0c:29:01:02:03', 'VMware'],
    ['00:50:56:AA:BB:CC', 'VMware'],
    ['08-00-27-01-02-03', 'Oracle VirtualBox'],
    ['00:16:3e:01:02:03', 'Xen'],
    ['00:15:5d:01:02:03', 'Microsoft Hyper-V'],
    ['b8:27:eb:01:02:03', 'Raspberry Pi'],
    ['00:00:0c:01:02:03', 'Cisco'],
    ['dc:9f:db:01:02:03', 'Ubiquiti'],
    ['4c:5e:0c:01:02:03', 'MikroTik'],
    ['00:11:32:01:02:03', 'Synology'],
    ['24:0a:c4:01:02:03', 'Espressif'],
  ])('%s is of %s', (mac, vendor) => {
    expect(vendorOf(mac, nobody)).toBe(vendor);
  });

  it('knows no maker of addresses that were given locally, of groups, and of no address', () => {
    const all = new Map([
      ['525400', 'somebody'],
      ['0242AC', 'somebody'],
      ['01005E', 'somebody'],
    ]);
    for (const mac of [
      '52:54:00:12:34:56',
      '02:42:ac:11:00:02',
      '01:00:5e:00:00:01',
      '',
      'zz:zz:zz:00:00:00',
    ]) {
      expect(vendorOf(mac, all)).toBeNull();
    }
  });

  it('asks the registry for what the table has not', () => {
    const registry = new Map([
      ['F8FFFF', 'Rare Devices'],
      ['00000C', 'not asked'],
    ]);
    expect(vendorOf('f8:ff:ff:00:00:01', registry)).toBe('Rare Devices');
    expect(vendorOf('00:00:0c:00:00:01', registry)).toBe('Cisco');
    expect(vendorOf('f8:ff:fe:00:00:01', registry)).toBeNull();
  });

  it('has a table of whole prefixes, each of one vendor, none given locally', () => {
    const prefixes = Object.values(vendorPrefixes).flatMap((text) => text.trim().split(/\s+/));
    expect(prefixes.length).toBeGreaterThan(1000);
    expect(new Set(prefixes).size).toBe(prefixes.length);
    for (const prefix of prefixes) {
      expect(prefix).toMatch(/^[0-9A-F]{6}$/);
      expect(Number.parseInt(prefix.slice(0, 2), 16) & 3).toBe(0);
    }
  });
});

describe('readRegistry', () => {
  it('reads the formats that systems have', () => {
    const nmap = '# a comment\n0050C2 Ieee Registration\n00D0EF IGT\n';
    expect(readRegistry(nmap).get('00D0EF')).toBe('IGT');
    const list =
      'OUI/MA-L  Organization\n\n00-22-72   (hex)\t\tAmerican Micro-Fuel Device Corp.\r\n' +
      '002272     (base 16)\t\tAmerican Micro-Fuel Device Corp.\r\n\t\t\t\t2181 Buchanan Loop\r\n';
    expect([...readRegistry(list)]).toEqual([['002272', 'American Micro-Fuel Device Corp.']]);
    const table =
      'Registry,Assignment,Organization Name,Organization Address\n' +
      'MA-L,002272,American Micro-Fuel Device Corp.,2181 Buchanan Loop Ferndale WA US 98248\n' +
      'MA-L,00D0EF,"IGT, Inc",9295 PROTOTYPE DRIVE RENO NV US 89511\nMA-M,00D0EF0,other,x\n';
    expect([...readRegistry(table)]).toEqual([
      ['002272', 'American Micro-Fuel Device Corp.'],
      ['00D0EF', 'IGT, Inc'],
    ]);
  });

  it('keeps names short and printable', () => {
    const [name] = [...readRegistry(`00D0EF ${'\u001b['}31m${'x'.repeat(500)}\n`).values()];
    expect(name).toHaveLength(64);
    expect(name).not.toContain('\u001b');
  });
});
