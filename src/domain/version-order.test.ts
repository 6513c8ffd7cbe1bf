import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareVersions,
  type KeyedVersionScheme,
  schemeOf,
  type VersionScheme,
  versionKey,
} from './version-order.ts';

const symbols = { [-1]: '<', 0: '=', 1: '>' } as const;

function relation(a: string, b: string, scheme: VersionScheme): string {
  const order = compareVersions(a, b, scheme);
  return order === null ? '?' : symbols[order];
}

/** `a < b`, one fact per line; `?` = not comparable. */
function facts(scheme: VersionScheme, lines: string[]): void {
  test.each(lines)(`${scheme}: %s`, (line) => {
    const [a = '', expected, b = ''] = line.split(/ ([<=>?]) /);
    expect(relation(a, b, scheme)).toBe(expected);
    const mirrored = { '<': '>', '>': '<', '=': '=', '?': '?' }[expected as '<' | '>' | '=' | '?'];
    expect(relation(b, a, scheme)).toBe(mirrored);
  });
}

facts('dotted', [
  '1.2 < 1.10',
  '1.0 = 1.0.0',
  '1.0.0.1 > 1.0',
  '2.4.49 < 2.4.50',
  '9.2 < 9.2p1',
  '9.2p1 < 9.2p2',
  '9.3p2 < 9.3p10',
  '1.0.2 < 1.0.2a',
  '1.0.2k < 1.0.2l',
  '0.9.8y < 0.9.8za',
  '0.9.8zg < 0.9.8zh',
  '1.0.2zzz < 1.0.3',
  '1.3.5rc1 < 1.3.5',
  '1.3.5rc1 < 1.3.5rc2',
  '1.3.5-rc4 = 1.3.5rc4',
  '1.3.5 < 1.3.5a',
  '9.9.0a1 < 9.9.0b1',
  '9.9.0b3 < 9.9.0rc1',
  '9.9.0rc1 < 9.9.0',
  '9.11.5-P4 > 9.11.5',
  '9.11.5-P4 = 9.11.5p4',
  '9.6-ESV-R4-P1 < 9.6-ESV-R4-P3',
  '9.0.0.M1 < 9.0.0-RC1',
  '9.0.0-M20 < 9.0.0',
  '11.0.0-milestone3 = 11.0.0-M3',
  '1.0-rc1 = 1.0.0-rc1',
  '4.2.8p9 < 4.2.8p15',
  '9.4.51.Final = 9.4.51',
  'v1.24.3 = 1.24.3',
  '2.4.58-1ubuntu8 > 2.4.58',
  '2.4.58-1ubuntu8 < 2.4.59',
  '9.8(2)20 = 9.8.2.20',
  '10.1.3-h1 > 10.1.3',
  '007 = 7',
  '99999999999999999998 < 99999999999999999999',
  'unknown ? 1.0',
  ' ? 1.0',
  'build-7 ? 7',
  '1.0 ? 1.0\u0000',
]);

facts('openssh', ['7.4p1 < 7.4p2', '7.4 = 7.4p1', '7.4 < 7.4p2', '9.3p2 < 9.3p11', '9.9p2 < 10.0p1']);

facts('mariadb', [
  '5.5.5-10.11.6-MariaDB-0+deb12u1 = 10.11.6',
  '10.3.22-MariaDB < 10.3.23',
  '10.11.19-MariaDB = 10.11.19',
  '5.5.5 < 5.5.68-MariaDB',
]);

facts('cisco_ios', [
  '15.2(4)M3 < 15.2(4)M10',
  '15.2(4)M3 < 15.2(5)M1',
  '12.2(33)SXI4 < 12.2(33)SXI4a',
  '15.2(4)M3 ? 15.2(4)S1',
  '12.4(3) < 12.4(24)',
  '16.9.3 ? 15.2(4)M3',
]);

facts('junos', [
  '18.4R1 < 18.4R1-S2',
  '18.4R1-S2 < 18.4R2',
  '18.4 < 18.4R1',
  '15.1X49-D60 < 15.1X49-D100',
  '15.1X49-D60 ? 15.1R7',
  '17.3R3 < 18.1R1',
]);

facts('semver', [
  '1.0.0-alpha < 1.0.0-alpha.1',
  '1.0.0-alpha.1 < 1.0.0-alpha.beta',
  '1.0.0-beta.2 < 1.0.0-beta.11',
  '1.0.0-rc.1 < 1.0.0',
  '1.0.0+build5 = 1.0.0+build7',
  'v1.20 = 1.20.0',
  '1.28.3-1ubuntu2 < 1.28.3',
  '1.2.3.4 ? 1.2.3',
]);

facts('date', [
  '20240806 > 20240701',
  '2024-08-06 = 20240806',
  'FreeBSD-20240806 = 2024.08.06',
  'RELEASE.2024-01-16T16-07-38Z < RELEASE.2024-01-31T20-20-33Z',
  '2024-01-31t20-20-33z = RELEASE.2024-01-31T20-20-33Z',
  '20241301 ? 20240101',
  '2024 ? 20240101',
]);

facts('deb', [
  '1.0~rc1-1 < 1.0-1',
  '1.0~~ < 1.0~',
  '1.0~ < 1.0',
  '1.0 < 1.0a',
  '1.0a < 1.0+b',
  '1.0-1 < 1.0-1.1',
  '1.0 = 1.0-0',
  '0:1.0-1 = 1.0-1',
  '1:1.0-1 > 2.0-1',
  '1.2.3 = 1.02.3',
  '1:9.2p1-2+deb12u2 < 1:9.2p1-2+deb12u3',
  '1:9.2p1-2+deb12u3 < 1:9.2p1-2+deb12u10',
  '1:9.2p1-2 < 1:9.2p1-2+deb12u1',
  '9.18.24-1~deb12u2 < 9.18.24-1',
  '1:8.9p1-3ubuntu0.6 < 1:8.9p1-3ubuntu0.10',
  '2:4.17.12+dfsg-0+deb12u1 > 2:4.17.12-0',
  '1.2-3~bpo12+1 < 1.2-3',
  '3.0-1-2 > 3.0-1',
  '1.0-1_2 ? 1.0',
  'x1 ? 1.0',
]);

facts('rpm', [
  '1.0~rc1 < 1.0',
  '1.0 < 1.0^git1',
  '1.0^git1 < 1.0.1',
  '1.0~rc1^git1 > 1.0~rc1',
  '1.0^20240101 < 1.0^20240102',
  '1.0a < 1.0.1',
  '2.0.1a > 2.0.1',
  'fc4 < fc.4.1',
  '1.05 = 1.5',
  '5.5p1 < 5.5p10',
  '5.5p10 > 5.5p9',
  'xyz10 < xyz10.1',
  '6.0.rc1 > 6.0',
  '10xyz < 10.1xyz',
  '1.0_1 = 1.0.1',
  '9.16.23-18.el9_4.1 < 9.16.23-18.el9_4.6',
  '32:9.16.23-18.el9 > 9.18.0-1.el9',
  '2.4.57-8.el9 > 2.4.57-5.el9',
  '1.0 < 1.0-1',
  '1.0-1-1 ? 1.0',
]);

test('a scheme by product, dotted for all others', () => {
  expect(schemeOf('openbsd', 'openssh')).toBe('openssh');
  expect(schemeOf('mariadb', 'mariadb')).toBe('mariadb');
  expect(schemeOf('apache', 'http_server')).toBe('dotted');
  expect(schemeOf('constructor', '')).toBe('dotted');
  expect(compareVersions('1.0.2k', '1.0.2')).toBe(1);
});

/** Parts that collide often, so that equal and nearly equal versions occur. */
const pieces: Record<VersionScheme, string[]> = {
  dotted: [
    '0',
    '1',
    '10',
    '01',
    '.',
    '-',
    'a',
    'b',
    'k',
    'p',
    'rc',
    'beta',
    'm',
    'final',
    'dev',
    '(',
    '+',
    '~',
  ],
  openssh: ['0', '1', '9', '.', 'p', 'p1', 'p2', 'rc'],
  mariadb: ['0', '1', '5', '.', '5.5.5-10.', '-MariaDB', '-1-MariaDB-x', 'rc', 'a'],
  cisco_ios: ['1', '2', '12', '15.2', '.', '(4)', '(33)', '(4a)', 'M', 'M3', 'a'],
  junos: ['1', '15', '18.4', '.1', 'R1', 'R2', '-S1', '-S2', '.5', '-EVO'],
  semver: ['0', '1', '10', '.', '.', '-', 'a', 'rc', '1a', '+x', 'v'],
  date: ['2024', '2023', '-01-', '-12-', '01', '12', '31', 'T20-20-33Z', 'RELEASE.'],
  deb: ['0', '1', '10', '01', '.', '-', '~', '+', ':', 'a', 'Z', 'deb12u1'],
  rpm: ['0', '1', '10', '01', '.', '-', '~', '^', '_', '+', ':', 'a', 'Z', 'el9'],
};

function versionsOf(scheme: VersionScheme): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...pieces[scheme]), { minLength: 1, maxLength: 7 })
    .map((chosen) => chosen.join(''))
    .filter((text) => compareVersions(text, text, scheme) !== null);
}

describe.each(Object.keys(pieces) as VersionScheme[])('%s is an order', (scheme) => {
  const versions = versionsOf(scheme);
  // Trains of IOS and X releases of Junos are not ordered relative to others; all other readable versions are.
  const partial = scheme === 'cisco_ios' || scheme === 'junos';

  test('reflexive, total and antisymmetric', () => {
    fc.assert(
      fc.property(versions, versions, (a, b) => {
        expect(compareVersions(a, a, scheme)).toBe(0);
        const [there, back] = [compareVersions(a, b, scheme), compareVersions(b, a, scheme)];
        if (there === null || back === null) {
          expect([there, back, partial]).toEqual([null, null, true]);
          return;
        }
        expect(there + back).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  test('transitive', () => {
    fc.assert(
      fc.property(versions, versions, versions, (a, b, c) => {
        const atMost = (x: string, y: string): boolean => (compareVersions(x, y, scheme) ?? 1) <= 0;
        if (atMost(a, b) && atMost(b, c) && !(partial && compareVersions(a, c, scheme) === null))
          expect(compareVersions(a, c, scheme)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
  });

  test('any text gives an order or null', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii', maxLength: 60 }),
        fc.string({ maxLength: 60 }),
        (a, b) => {
          expect([-1, 0, 1, null]).toContain(compareVersions(a, b, scheme));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a version of more than 1024 characters is none; a shorter one of nothing but marks is read', () => {
    for (const unit of ['1', '1.', '1-', '1a', '~', '0', '1:', 'v', '(', '5.5.5-', '-mariadb', '1.1r1-s']) {
      const long = unit.repeat(1024).slice(0, 1023);
      for (const last of ['!', '1'])
        expect([-1, 0, 1, null]).toContain(compareVersions(long, `${long}${last}`, scheme));
    }
    expect(compareVersions('1'.repeat(1025), '1', scheme)).toBeNull();
    expect(compareVersions('1', '1'.repeat(1025), scheme)).toBeNull();
  });
});

describe.each(['dotted', 'openssh', 'mariadb', 'date'] satisfies KeyedVersionScheme[])(
  'keys of %s',
  (scheme) => {
    const versions = versionsOf(scheme);

    test('are in the order of the versions', () => {
      fc.assert(
        fc.property(versions, versions, (a, b) => {
          const order = compareVersions(a, b, scheme);
          const [left, right] = [versionKey(a, scheme), versionKey(b, scheme)];
          expect(left === null || right === null ? null : left < right ? -1 : Number(left > right)).toBe(
            order,
          );
        }),
        { numRuns: 3000 },
      );
    });

    test('are ASCII, and null for what is no version', () => {
      fc.assert(
        fc.property(fc.oneof(versions, fc.string()), (text) => {
          expect(versionKey(text, scheme) ?? '').toMatch(/^[ -~]*$/);
          expect(versionKey(text, scheme) === null).toBe(compareVersions(text, text, scheme) === null);
        }),
      );
      expect(versionKey('1'.repeat(61), scheme)).toBeNull();
    });
  },
);
