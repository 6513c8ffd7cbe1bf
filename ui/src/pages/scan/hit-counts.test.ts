import { expect, it } from 'vitest';
import { matchesText, rowsText } from './hit-counts.ts';

const results = { live_hosts: 1, open_ports: 3, vulnerabilities: 2 };

it('counts services without ports that did not respond, and those beside them', () => {
  expect(rowsText('services', results, 5)).toBe('3 services, 2 ports open|filtered');
  expect(rowsText('services', results, 3)).toBe('3 services');
  // The rows come after the counts of a running scan.
  expect(rowsText('services', results, 0)).toBe('3 services');
  expect(rowsText('hosts', results, 0)).toBe('1 host');
});

it('compares what matches with all there is, unless ports that did not respond match too', () => {
  const matches = { hosts: 1, ports: 2, findings: 0 };
  expect(matchesText('hosts', results, matches)).toBe('1 of 1 hosts');
  expect(matchesText('services', results, matches)).toBe('2 of 3 services');
  expect(matchesText('services', results, { ...matches, ports: 5 })).toBe('5 ports');
});
