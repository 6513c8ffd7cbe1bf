import { describe, expect, it } from 'vitest';
import { findingRow, hostRow, reportOfRows } from '../../fixtures/report-of-rows.ts';

describe('hosts of a report', () => {
  it('are led by the six with the worst findings', async () => {
    const rows = [
      hostRow('10.0.0.1'),
      findingRow('10.0.0.1', 1, 'a', { severity: 'critical' }),
      hostRow('10.0.0.2'),
      hostRow('10.0.0.3', { hostnames: ['c.example'] }),
      findingRow('10.0.0.3', 1, 'kev', { kev: true, class: 'possible', severity: 'low' }),
      findingRow('10.0.0.3', 1, 'b'),
      hostRow('10.0.0.4'),
      findingRow('10.0.0.4', 1, 'kev', { kev: true, severity: 'low' }),
      ...[5, 6, 7, 8].flatMap((last) => [hostRow(`10.0.0.${last}`), findingRow(`10.0.0.${last}`, 1, 'b')]),
      findingRow('10.0.0.8', 2, 'b'),
    ];
    const { hosts, actions, summary } = await reportOfRows(rows);
    expect(hosts.worst.map(({ host }) => host)).toEqual([
      '10.0.0.1',
      '10.0.0.8',
      '10.0.0.3',
      '10.0.0.5',
      '10.0.0.6',
      '10.0.0.7',
    ]);
    const third = hosts.worst[2];
    expect([third?.name, third?.exploited, third?.severities.medium]).toEqual(['c.example', true, 1]);
    expect(actions[(third?.action ?? 0) - 1]?.kinds[0]?.id).toBe('b');
    expect([hosts.all, hosts.withFindings]).toEqual([8, 7]);
    expect(summary.exploitedHosts).toEqual({ all: 2, certain: 1, likely: 0, possible: 1 });
  });

  it('are summed by network, those beyond the maximum counted', async () => {
    const rows = Array.from({ length: 210 }, (_, index) => [
      hostRow(`10.0.${index}.1`),
      hostRow(`10.0.${index}.2`),
      ...Array.from({ length: index % 7 }, () => findingRow(`10.0.${index}.2`, 1, 'a', { severity: 'low' })),
    ]).flat();
    const { hosts } = await reportOfRows(rows);
    expect([hosts.networks.length, hosts.networksLeft]).toEqual([100, 110]);
    expect(hosts.networks[0]).toEqual({
      network: '10.0.6.0/24',
      hosts: 2,
      findings: 6,
      severities: { critical: 0, high: 0, medium: 0, low: 6, info: 0 },
    });
  });

  it('without a row of their own are hosts as well', async () => {
    const { hosts, summary } = await reportOfRows([
      findingRow('10.0.0.1', null, 'a'),
      findingRow('10.0.0.2', 1, 'a'),
    ]);
    expect([hosts.all, hosts.withFindings, summary.hosts]).toEqual([2, 2, 2]);
  });
});
