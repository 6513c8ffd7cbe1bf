import { expect, it } from 'vitest';
import { finding, host, port, stream } from '../../../test/result-rows.ts';
import { countRows } from './stream-results.ts';

it('counts the rows of a record, and as open ports those that responded', async () => {
  const silent = port(161, { protocol: 'udp', state: 'open|filtered', reason: 'no-response' });
  const rows = [
    host,
    port(22),
    port(80, { unidentified_reason: 'rate' }),
    silent,
    finding(80, 'CVE-1', 'low'),
  ];
  expect(await countRows(stream(rows))).toMatchObject({
    results: { live_hosts: 1, open_ports: 2, vulnerabilities: 1 },
    unidentified: { timeout: 0, rate: 1, cut: 0 },
    severity_counts: { low: 1, high: 0 },
  });
});
