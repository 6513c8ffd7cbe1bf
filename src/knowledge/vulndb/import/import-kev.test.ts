import { describe, expect, it } from 'vitest';
import { readKevEntry } from './import-kev.ts';

describe('readKevEntry', () => {
  it('reads the CVE, the day and whether ransomware uses it', () => {
    const entry = { cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', knownRansomwareCampaignUse: 'Known' };
    expect(readKevEntry(entry)).toEqual({ id: 'CVE-2021-44228', added: '2021-12-10', ransomware: true });
    expect(readKevEntry({ ...entry, knownRansomwareCampaignUse: 'Unknown' }).ransomware).toBe(false);
  });

  it.each([
    [{ cveID: 'CVE-21', dateAdded: '2021-12-10' }, /cveID must be a CVE id/],
    [{ cveID: 'CVE-2021-44228', dateAdded: '10.12.2021' }, /dateAdded must be a date/],
    [{ cveID: 'CVE-2021-44228', dateAdded: '2021-13-10' }, /dateAdded must be a date/],
    [{ cveID: 'CVE-2021-44228' }, /dateAdded must be text/],
    [[], /entry must be an object/],
  ])('refuses %j', (entry, reason) => {
    expect(() => readKevEntry(entry)).toThrow(reason);
  });
});
