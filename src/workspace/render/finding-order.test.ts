import { expect, test } from 'vitest';
import type { Finding } from '../../domain/finding.ts';
import { mostUrgentFirst } from './finding-order.ts';

const finding = (id: string, more: Partial<Finding>) => ({ id, severity: 'low', ...more }) as Finding;

test('exploited ones first, then severity, then EPSS and CVSS; a bare row is no trouble', () => {
  const score = (value: number) => ({ cvss: { version: '3.1', score: value, vector: '' } });
  const findings = [
    finding('bare', {}),
    finding('high', { severity: 'high', ...score(8) }),
    finding('no-password', { severity: 'critical', cvss: null }),
    finding('likelier', { severity: 'high', ...score(7), epss: { score: 0.5, percentile: 0.9 } }),
    finding('exploited', { severity: 'medium', kev: true, ...score(5) }),
    finding('higher', { severity: 'high', ...score(8.8) }),
  ];
  expect(mostUrgentFirst(findings, (item) => item).map(({ id }) => id)).toEqual([
    'exploited',
    'no-password',
    'likelier',
    'higher',
    'high',
    'bare',
  ]);
});
