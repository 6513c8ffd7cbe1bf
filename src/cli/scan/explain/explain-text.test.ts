import { describe, expect, it } from 'vitest';
import type { ExplainedFinding, ExplainedPort, Explanation } from '../../../actions/results/explain-port.ts';
import type { PlannedProbes, Silence } from '../../../actions/results/explain-silence.ts';
import type { HostRow } from '../../../domain/result.ts';
import { explanationText } from './explain-text.ts';
import { silenceText } from './silence-text.ts';

const now = Date.parse('2026-11-24T12:00:00Z');
const scanId = '20261124-115800-abcdef';
const style = { columns: 80, terminal: true, color: false, ascii: false };
const view = { style, now, details: false };

const finding = (id: string, score: number): ExplainedFinding =>
  ({
    id,
    severity: 'critical',
    title: 'A title',
    cvss: { version: '3.1', score, vector: 'CVSS:3.1/AV:N' },
    affected: '< 9.3p2',
    class: 'possible',
    backport_note: 'the package may have the fix',
    reasons: [],
    evidence: '',
    rank: '',
  }) as unknown as ExplainedFinding;

const ssh = {
  port: 22,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  banner: 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n',
  truncated: false,
  tls: null,
  sites: [],
  claims: [
    {
      match: 'ssh',
      product: 'OpenSSH',
      version: '9.2p1',
      revision: 'Debian-2+deb12u2',
      confidence: 0.98,
      rule: { id: 'ssh.openssh', source: 'banner', pattern: '^SSH' },
    },
  ],
  findings: ['CVE-1', 'CVE-22', 'CVE-3', 'CVE-4'].map((id) => finding(id, 9.8)),
} as unknown as ExplainedPort;

const explanation: Explanation = {
  scan_id: scanId,
  host: '192.0.2.10',
  os: { family: 'linux', distribution: 'Debian', version: '12', confidence: 0.9 },
  ports: [ssh],
  findings: [],
  left_out: 0,
};

const host = (counts: Partial<HostRow['port_counts']>, more: Partial<HostRow> = {}) =>
  ({
    type: 'host',
    host: '192.0.2.10',
    state: 'up',
    method: 'icmp-echo',
    latency_ms: 0.94,
    port_counts: { open: 0, closed: 0, filtered: 0, not_tried: 0, ...counts },
    ...more,
  }) as HostRow;

describe('an explained port', () => {
  it('goes in short from what it sent to the findings', () => {
    expect(explanationText(explanation, null, true, view)).toBe(
      [
        `192.0.2.10:22  open: syn-ack; ssh, OpenSSH 9.2p1 (0.98)  (${scanId}, 2 min ago)`,
        '  response  SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2',
        '  rule      ssh.openssh: version 9.2p1, revision Debian-2+deb12u2',
        '  system    linux Debian 12 (0.90)',
        '  findings  4 possible: the package may have the fix',
        '    MEDIUM   9.8  CVE-1   < 9.3p2',
        '    MEDIUM   9.8  CVE-22  < 9.3p2',
        '    MEDIUM   9.8  CVE-3   < 9.3p2',
        '    … 1 more: -v',
        '',
      ].join('\n'),
    );
  });

  it('has patterns, vectors and all findings with -v', () => {
    const text = explanationText(explanation, null, true, { ...view, details: true });
    for (const part of ['^SSH', 'CVSS:3.1/AV:N', 'CVE-4']) expect(text).toContain(part);
  });
});

describe('an explained host', () => {
  it('has its ports in a table', () => {
    const shown = explanationText(explanation, host({ open: 1, closed: 999 }), false, view);
    expect(shown).toBe(
      [
        `192.0.2.10  up: icmp-echo after 0.9 ms  (${scanId}, 2 min ago)`,
        '  ports  1 open, 999 closed, 0 filtered',
        '',
        'PORT    STATE  SERVICE  PRODUCT        RULE         FINDINGS',
        '22/tcp  open   ssh      OpenSSH 9.2p1  ssh.openssh         4',
        '',
        'why: portolan explain 192.0.2.10:22',
        '',
      ].join('\n'),
    );
  });
});

describe('silence', () => {
  const probe = (changes: Partial<PlannedProbes>): PlannedProbes => ({
    kind: 'tcp',
    ports: [],
    times: 2,
    timeout: '3s',
    ...changes,
  });
  const probes = {
    discovery: [probe({ kind: 'icmp', times: 3, timeout: '2s' }), probe({ ports: [22, 25, 80, 443, 8080] })],
    ports: [probe({ ports: [22, 80, 443] })],
  };
  const text = (silence: Silence, row: HostRow | null, port: number | null = null) =>
    silenceText(
      { scanId, place: { host: '192.0.2.10', port, protocol: null }, host: row, silence, probes },
      view,
    );

  it('of a host that is down names what was sent, how often, and what did not come back', () => {
    expect(text({ state: 'down' }, null)).toBe(
      [
        `192.0.2.10  no response  (${scanId}, 2 min ago)`,
        '  sent  icmp-echo 3 times, 2 s each: no reply',
        '        tcp 22 25 80 443 and 1 more twice, 3 s each: no SYN-ACK or RST',
        '  so    it is down, or a packet filter drops these probes',
        '  try   portolan scan 192.0.2.10 --no-discover',
        '',
      ].join('\n'),
    );
  });

  it('of filtered ports says what that means', () => {
    expect(text({ state: 'filtered' }, host({ filtered: 3 }))).toBe(
      [
        `192.0.2.10  up: icmp-echo after 0.9 ms  (${scanId}, 2 min ago)`,
        '  ports  3 filtered',
        '  sent   3 tcp ports twice, 3 s each: no SYN-ACK, RST or ICMP',
        '  so     a packet filter drops what is filtered; a closed port would send RST or',
        '         an ICMP error',
        '  try    --retries 3, --timeout 10s, or scan from inside its network',
        '',
      ].join('\n'),
    );
  });

  const prohibited = {
    protocol: 'tcp' as const,
    state: 'filtered' as const,
    reason: 'admin-prohibited',
    icmp: { type: 3, code: 13 },
    from: '10.0.0.254',
    count: 2,
    ports: [22, 80],
  };

  it('of a port about which an ICMP error came names the error and its sender', () => {
    const row = { ...(host({ filtered: 3 }) as HostRow), port_reasons: [prohibited] };
    expect(text({ state: 'filtered' }, row, 22)).toBe(
      [
        `192.0.2.10:22  filtered  (${scanId}, 2 min ago)`,
        '  sent  3 tcp ports twice, 3 s each',
        '  got   admin-prohibited from 10.0.0.254 (ICMP type 3, code 13)',
        '  so    a router or packet filter rejects what an ICMP error came about; that is',
        '        no answer of the port',
        '  try   scan from inside its network',
        '',
      ].join('\n'),
    );
    expect(text({ state: 'filtered' }, row)).toContain('(ICMP type 3, code 13): 2 ports: 22 80\n');
  });

  it('of a host that an ICMP error came about names the error', () => {
    const shown = text({ state: 'down', errors: ['host-unreachable from 10.0.0.254'] }, null);
    expect(shown).toContain('\n  got   host-unreachable from 10.0.0.254\n  so    a router on the way');
  });

  it.each([
    [{ state: 'closed' }, /:81 {2}closed .*\n {2}why {2}RST/],
    [{ state: 'filtered' }, /:81 {2}filtered .*\n {2}sent {2}3 tcp ports twice/],
    [{ state: 'closed_or_filtered' }, /:81 {2}closed or filtered .*\n.*9 closed and 3 filtered/],
    [
      { state: 'not_tried', reason: 'port_not_planned' },
      /not tried: it is not among.*\n.*scan 192.0.2.10 --ports 81/,
    ],
  ] as [Silence, RegExp][])('of a port is %j', (silence, expected) => {
    expect(text(silence, host({ closed: 9, filtered: 3 }), 81)).toMatch(expected);
  });
});
