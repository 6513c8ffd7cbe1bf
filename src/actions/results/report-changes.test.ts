import { describe, expect, it } from 'vitest';
import type { Finding, Severity } from '../../domain/finding.ts';
import type { ChangeList, ChangeLists, Comparison, ListedFinding, PortState } from './compare-scans.ts';
import { reportChanges } from './report-changes.ts';

const earlier = {
  scan_id: '20261001-120000-aaaaaa',
  completed_at: '2026-10-01T12:05:00.000Z',
  created_at: '2026-10-01T12:00:00.000Z',
};
const scanId = '20261002-120000-bbbbbb';

function finding(
  host: string,
  port: number | null,
  id: string,
  severity: Severity = 'high',
  kev = false,
): ListedFinding {
  const vulnerability: Finding = {
    id,
    title: `title of ${id}`,
    severity,
    cvss: null,
    kev,
    epss: null,
    cpe: null,
    affected: null,
    detected: null,
    confidence: 1,
    backport_note: null,
    class: 'certain',
    evidence: '',
    remediation: '',
    references: [],
    plugin: 'cve_matcher',
  };
  return { host, port, protocol: port === null ? null : 'tcp', vulnerability };
}

function state(product: string | null, version: string | null = null): PortState {
  return { state: 'open', service: 'http', product, version };
}

function compared(lists: Partial<{ [L in ChangeList]: ChangeLists[L][] }>, unchanged = 0): Comparison {
  const list = <L extends ChangeList>(name: L) => (lists[name] ?? []) as ChangeLists[L][];
  return { scan_id: scanId, against: earlier.scan_id, unchanged, list };
}

describe('the changes of a report', () => {
  it('are none between equal scans', async () => {
    expect(await reportChanges(compared({}, 7), earlier)).toEqual({
      against: earlier.scan_id,
      at: earlier.completed_at,
      new: 0,
      fixed: 0,
      unchanged: 7,
      unseen: 0,
      balance: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
      hostsAdded: 0,
      hostsRemoved: 0,
      items: [],
      itemsLeft: 0,
      notComparable: [],
    });
  });

  it('count a finding with an invalid severity, as an older row may have one, as info', async () => {
    const odd = finding('10.0.0.1', 80, 'odd', 'urgent' as Severity);
    const worse = finding('10.0.0.1', 80, 'worse', 'low');
    const { balance, items } = await reportChanges(
      compared({ 'vulnerabilities.new': [odd, worse] }),
      earlier,
    );
    expect(balance).toEqual({ critical: 0, high: 0, medium: 0, low: 1, info: 1 });
    expect(items.map(({ id, severity }) => [id, severity])).toEqual([
      ['worse', 'low'],
      ['odd', 'info'],
    ]);
  });

  it('show why a finding is new or gone, as far as ports and hosts say so', async () => {
    const place = { host: '10.0.0.1', protocol: 'tcp' } as const;
    const changes = await reportChanges(
      compared({
        'vulnerabilities.new': [
          finding('10.0.0.1', 80, 'new-service'),
          finding('10.0.0.1', 443, 'updated'),
          finding('10.0.0.1', 8080, 'other-product'),
          finding('10.0.0.1', 22, 'same-port'),
          finding('10.0.0.2', 22, 'new-host'),
          finding('10.0.0.4', null, 'moved'),
        ],
        'vulnerabilities.resolved': [finding('10.0.0.1', 21, 'closed'), finding('10.0.0.9', 22, 'gone')],
        'ports.added': [
          { ...place, port: 80, ...state('nginx', '1.27.1') },
          { ...place, host: '10.0.0.2', port: 22, ...state('OpenSSH') },
        ],
        'ports.removed': [{ ...place, port: 21, ...state('vsftpd', '2.3.4') }],
        'ports.changed': [
          { ...place, port: 443, before: state('Apache', '2.4.57'), after: state('Apache', '2.4.62') },
          { ...place, port: 8080, before: state('Apache', '2.4.57'), after: state('nginx', '1.27.1') },
        ],
        'hosts.added': ['10.0.0.2', '10.0.0.4'],
        'hosts.removed': ['10.0.0.9'],
        'hosts.moved': [{ before: '10.0.0.3', after: '10.0.0.4', by: [] }],
      }),
      earlier,
    );
    expect(Object.fromEntries(changes.items.map(({ id, why }) => [id, why]))).toEqual({
      'new-service': 'service appeared since',
      updated: 'updated 2.4.57 → 2.4.62',
      'other-product': 'Apache → nginx',
      'same-port': '',
      'new-host': 'host appeared since',
      moved: 'host was 10.0.0.3',
      closed: 'port closed',
      gone: 'host is gone',
    });
    expect(Object.fromEntries(changes.items.map(({ id, product }) => [id, product]))).toMatchObject({
      'new-service': 'nginx',
      updated: 'Apache',
      closed: 'vsftpd',
      'same-port': null,
    });
    expect([changes.new, changes.fixed, changes.hostsAdded, changes.hostsRemoved]).toEqual([6, 2, 2, 1]);
  });

  it('name the worst first, and count the rest', async () => {
    const many = Array.from({ length: 2000 }, (_, n) =>
      finding(`10.1.${n >> 8}.${n & 255}`, 80, `low-${n}`, 'low'),
    );
    const changes = await reportChanges(
      compared({
        'vulnerabilities.new': [
          ...many,
          finding('10.2.0.1', 80, 'new-high'),
          finding('10.2.0.1', 81, 'exploited', 'high', true),
        ],
        'vulnerabilities.resolved': [
          finding('10.2.0.1', 80, 'fixed-high', 'high', true),
          finding('10.2.0.1', 80, 'fixed-critical', 'critical'),
        ],
      }),
      earlier,
    );
    expect(changes.items.slice(0, 4).map(({ sign, id }) => [sign, id])).toEqual([
      ['fixed', 'fixed-critical'],
      ['new', 'exploited'],
      ['fixed', 'fixed-high'],
      ['new', 'new-high'],
    ]);
    expect(changes.items.length + changes.itemsLeft).toBe(2004);
    expect(changes.items.length).toBeLessThanOrEqual(50);
    expect(changes.balance).toEqual({ critical: -1, high: 1, medium: 0, low: 2000, info: 0 });
  });

  it('count what only one of the scans could have found', async () => {
    const one = { port: null, protocol: null } as const;
    const changes = await reportChanges(
      compared({
        'vulnerabilities.unseen': [finding('10.0.0.7', 80, 'unseen')],
        not_comparable: [
          { ...one, host: '10.0.0.5', reason: 'partial', missing_in: scanId },
          {
            host: '10.0.0.7',
            port: 80,
            protocol: 'tcp',
            reason: 'port_not_planned',
            missing_in: earlier.scan_id,
          },
          {
            host: '10.0.0.8',
            port: 80,
            protocol: 'tcp',
            reason: 'port_not_planned',
            missing_in: earlier.scan_id,
          },
        ],
      }),
      earlier,
    );
    expect(changes.unseen).toBe(1);
    expect(changes.notComparable).toEqual([
      { reason: 'not among the ports of the earlier scan', count: 2, example: '10.0.0.7, 80/tcp' },
      { reason: 'not reached in this scan', count: 1, example: '10.0.0.5' },
    ]);
  });
});
