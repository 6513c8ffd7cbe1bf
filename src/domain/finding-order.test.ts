import { expect, test } from 'vitest';
import { countsAs, urgencyOf, urgencyRank, urgencyRanks, worstFirst } from './finding-order.ts';

const finding = (id: string, more: object = {}) => ({ id, severity: 'high' as const, ...more });
const scored = (epss: number | null, cvss: number | null) => ({
  epss: epss === null ? null : { score: epss },
  cvss: cvss === null ? null : { score: cvss },
});
const ids = (findings: ReturnType<typeof finding>[]) =>
  worstFirst(findings, (each) => each).map(({ id }) => id);

test('the severity decides first, also over exploited ones', () => {
  const findings = [
    finding('exploited', { kev: true, class: 'certain', ...scored(0.9, 8.9) }),
    finding('critical', { severity: 'critical', class: 'possible' }),
    finding('bare', { severity: 'low' }),
  ];
  expect(ids(findings)).toEqual(['critical', 'exploited', 'bare']);
});

test('a finding that is possible, and that a distribution may have fixed, counts as medium at most', () => {
  const noted = { backport_note: 'Debian revision 1 seen: compare it.' };
  const counted = (more: object) => countsAs({ severity: 'critical', ...more });
  expect(counted({ class: 'possible', ...noted })).toBe('medium');
  expect(counted({ class: 'possible', severity: 'low', ...noted })).toBe('low');
  expect(counted({ class: 'possible', backport_note: null })).toBe('critical');
  expect(counted({ class: 'certain', ...noted })).toBe('critical');
  const findings = [
    finding('patched?', { severity: 'critical', class: 'possible', kev: true, ...noted }),
    finding('high', { class: 'possible' }),
    finding('medium', { severity: 'medium', class: 'certain' }),
  ];
  expect(ids(findings)).toEqual(['high', 'medium', 'patched?']);
});

test('within a severity certain comes before likely before possible, whatever the scores', () => {
  const findings = [
    finding('possible', { class: 'possible', ...scored(0.9, 8.9) }),
    finding('likely', { class: 'likely', ...scored(0.5, 8) }),
    finding('certain', { class: 'certain' }),
  ];
  expect(ids(findings)).toEqual(['certain', 'likely', 'possible']);
});

test('exploitation raises what is at least likely, not what is only possible', () => {
  const findings = [
    finding('certain', { class: 'certain' }),
    finding('exploited possible', { class: 'possible', kev: true }),
    finding('exploited likely', { class: 'likely', kev: true }),
    finding('exploited certain', { class: 'certain', kev: true }),
    finding('possible, EPSS', { class: 'possible', ...scored(0.2, null) }),
  ];
  expect(ids(findings)).toEqual([
    'exploited certain',
    'exploited likely',
    'certain',
    'possible, EPSS',
    'exploited possible',
  ]);
});

test('equal ones come by EPSS, CVSS and id; an unknown score comes last', () => {
  const findings = [
    finding('CVE-2020-10000'),
    finding('CVE-2020-900'),
    finding('CVSS 8', scored(null, 8)),
    finding('EPSS 0.1, CVSS 9', scored(0.1, 9)),
    finding('EPSS 0.2', scored(0.2, null)),
    finding('EPSS 0.1, CVSS 7', scored(0.1, 7)),
  ];
  expect(ids(findings)).toEqual([
    'EPSS 0.2',
    'EPSS 0.1, CVSS 9',
    'EPSS 0.1, CVSS 7',
    'CVSS 8',
    'CVE-2020-900',
    'CVE-2020-10000',
  ]);
});

test('a row of an older record takes its class from its confidence', () => {
  expect(urgencyOf({ severity: 'low', cpe: null, confidence: 0.95 })).toEqual({
    severity: 'low',
    class: 'certain',
    exploited: false,
    epss: null,
    cvss: null,
  });
});

test('ranks fill their range', () => {
  expect(urgencyRank({ severity: 'critical', class: 'certain', exploited: true })).toBe(0);
  expect(urgencyRank({ severity: 'info', class: 'possible', exploited: true })).toBe(urgencyRanks - 1);
});
