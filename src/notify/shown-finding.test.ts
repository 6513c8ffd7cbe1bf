import { expect, it } from 'vitest';
import type { Severity } from '../domain/finding.ts';
import { findingText, WorstFindings } from './shown-finding.ts';

const found = (id: string, severity: Severity, score: number | null = null) => ({
  host: '192.0.2.7',
  port: 443,
  protocol: 'tcp',
  vulnerability: {
    id,
    title: `title of ${id}`,
    severity,
    cvss: score === null ? null : { version: '3.1', score, vector: '' },
  },
});

it('keeps the worst findings, of equal urgency the first ones', () => {
  const worst = new WorstFindings(4);
  for (const finding of [
    found('a', 'low', 9),
    found('b', 'high', 7),
    found('c', 'high', 8.5),
    found('d', 'info'),
    found('e', 'critical'),
    found('f', 'high', 7),
    found('g', 'medium'),
  ])
    worst.add(finding);
  expect(worst.list().map(({ id }) => id)).toEqual(['e', 'c', 'b', 'f']);
  expect(worst.count).toBe(7);
});

it('equal findings of one host are one with their ports, and count each', () => {
  const worst = new WorstFindings(2);
  for (const finding of [
    found('a', 'high'),
    { ...found('a', 'high'), port: 8443 },
    { ...found('a', 'high'), host: '192.0.2.8' },
    { ...found('a', 'high'), port: 9443 },
  ])
    worst.add(finding);
  expect(worst.list().map(findingText)).toEqual([
    'high 192.0.2.7:443,8443,9443 title of a',
    'high 192.0.2.8:443 title of a',
  ]);
  expect(worst.list().map(({ ports }) => ports)).toEqual([[443, 8443, 9443], undefined]);
  expect(worst.count).toBe(4);
});

it('names a finding in one line, cut and without control characters', () => {
  const worst = new WorstFindings(1);
  const { vulnerability, ...place } = found('x'.repeat(500), 'high');
  const title = `a\r\nBcc: b\u202e${'t'.repeat(1000)}`;
  worst.add({ ...place, host: 'h'.repeat(1000), vulnerability: { ...vulnerability, title } });
  const [shown] = worst.list();
  expect([shown?.id.length, shown?.host.length, shown?.title.length]).toEqual([64, 253, 120]);
  expect(shown?.title).toMatch(/^a\\x0d\\x0aBcc: b\\u\{202e\}t+…$/);
});

it('tells host and port apart', () => {
  const finding = { severity: 'high' as const, protocol: 'tcp', id: 'x', title: 'T' };
  expect(findingText({ ...finding, host: '192.0.2.7', port: 22 })).toBe('high 192.0.2.7:22 T');
  expect(findingText({ ...finding, host: '2001:db8::1', port: 22 })).toBe('high [2001:db8::1]:22 T');
  expect(findingText({ ...finding, host: '2001:db8::1', port: null })).toBe('high 2001:db8::1 T');
});
