import { describe, expect, test } from 'vitest';
import { compareVersions, schemeOf } from '../../domain/version-order.ts';
import { parseCpe } from '../products/cpe.ts';
import { knownExploited } from './builtin/known-exploited.ts';
import { builtinCves, builtinEntries, builtinRemedy } from './builtin.ts';
import type { CpeMatch } from './cve-record.ts';

const records = builtinEntries.map(({ record }) => record);
const matchesOf = (index: number): CpeMatch[] =>
  (records[index]?.configurations ?? []).flatMap(({ nodes }) => nodes.flatMap(({ matches }) => matches));

describe('the builtin catalog', () => {
  test('holds each CVE once', () => {
    expect(records.length).toBeGreaterThanOrEqual(250);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  });

  test.each(records.map((record, index) => [record.id, record, index] as const))(
    '%s is sound',
    (id, record, index) => {
      expect(id).toMatch(/^CVE-(?:199\d|20\d\d)-\d{4,7}$/);
      expect(record.title).toMatch(/^[\p{Lu}\d].{15,140}[^.]$|^[a-z]\S* .{15,140}[^.]$/u);
      const [cvss] = record.cvss;
      expect(cvss?.score, cvss?.vector).toBeGreaterThan(0);
      const matches = matchesOf(index);
      expect(matches.some(({ vulnerable }) => vulnerable)).toBe(true);
      for (const match of matches) {
        const cpe = parseCpe(match.cpe);
        expect(cpe, match.cpe).not.toBeNull();
        if (cpe === null) continue;
        const scheme = schemeOf(cpe.vendor, cpe.product);
        const low = match.startIncluding ?? match.startExcluding;
        const high = match.endIncluding ?? match.endExcluding;
        for (const bound of [low, high])
          if (bound !== null) expect(compareVersions(bound, bound, scheme), bound).toBe(0);
        if (low !== null && high !== null)
          expect(compareVersions(low, high, scheme), `${low} ${high}`).toBe(-1);
        if (low !== null || high !== null) expect(cpe.version).toBe('*');
      }
    },
  );

  test('ranges of one product do not overlap', () => {
    for (const [index, record] of records.entries()) {
      const byProduct = Map.groupBy(matchesOf(index), ({ cpe }) => cpe);
      for (const [cpe, matches] of byProduct) {
        const name = parseCpe(cpe);
        const scheme = schemeOf(name?.vendor ?? '', name?.product ?? '');
        for (let at = 1; at < matches.length; at++) {
          const before = matches[at - 1]?.endExcluding ?? matches[at - 1]?.endIncluding;
          const start = matches[at]?.startIncluding ?? matches[at]?.startExcluding;
          if (!before || !start) continue;
          expect(compareVersions(before, start, scheme), `${record.id}: ${before} and ${start}`).not.toBe(1);
        }
      }
    }
  });

  test('what is known to be exploited is in it', () => {
    const ids = new Set(records.map(({ id }) => id));
    for (const [id, { added }] of knownExploited) {
      expect(ids.has(id), id).toBe(true);
      expect(added).toMatch(/^20(?:2[1-9])-\d\d-\d\d$/);
    }
    expect(knownExploited.size).toBeGreaterThan(100);
  });

  test('answers by product, whatever the case and the escapes', () => {
    const ids = (vendor: string, product: string) => builtinCves.lookup(vendor, product).map(({ id }) => id);
    expect(ids('openbsd', 'openssh')).toContain('CVE-2024-6387');
    expect(ids('OpenBSD', 'OpenSSH')).toContain('CVE-2024-6387');
    expect(ids('erlang', String.raw`erlang\/otp`)).toEqual(['CVE-2025-32433']);
    expect(ids('openbsd', 'nothing')).toEqual([]);
    // The platform is not vulnerable itself.
    expect(ids('microsoft', 'windows')).toEqual([]);
  });

  test('knows the rank of an entry and what to do besides an update', () => {
    expect(builtinCves.rank('CVE-2021-44228')).toEqual({
      kev: { added: '2021-12-10', ransomware: true },
      epss: null,
    });
    expect(builtinCves.rank('CVE-2023-51766')).toEqual({ kev: null, epss: null });
    expect(builtinRemedy('CVE-2024-6387')).toContain('LoginGraceTime');
    expect(builtinRemedy('CVE-1999-0001')).toBeNull();
  });
});
