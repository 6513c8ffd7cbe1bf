import { expect, it } from 'vitest';
import { byWorst, findingKey } from './result-rows.ts';

const finding = { id: 'A', title: 'A', severity: 'high' } as const;

it('puts the worst finding first: severity, exploited, certain, then the score', () => {
  const cvss = (score: number) => ({ version: '3.1', score, vector: '' });
  const sorted = [
    { ...finding, id: 'exploited', severity: 'critical', kev: true, class: 'possible' },
    { ...finding, id: 'certain', severity: 'critical', class: 'certain' },
    { ...finding, id: 'score', severity: 'critical', class: 'possible', cvss: cvss(9.8) },
    { ...finding, id: 'unscored', severity: 'critical', class: 'possible' },
    { ...finding, id: 'less', kev: true, class: 'certain', cvss: cvss(8.1) },
  ] as const;
  expect([...sorted].reverse().sort(byWorst)).toEqual(sorted);
});

it('names a finding by its place', () => {
  const place = { host: '192.0.2.1', port: 443, protocol: 'tcp', vulnerability: { id: 'X' } };
  expect(findingKey(place)).toBe('finding 192.0.2.1 443/tcp X');
  expect(findingKey({ ...place, port: null, protocol: null })).toBe('finding 192.0.2.1 host X');
});
