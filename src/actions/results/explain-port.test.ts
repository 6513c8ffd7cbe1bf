import { describe, expect, test } from 'vitest';
import type { Finding } from '../../domain/finding.ts';
import type { PortRow, ResultRow } from '../../domain/result.ts';
import { builtinRules } from '../../knowledge/rules/rule-catalog.ts';
import { builtinCves } from '../../knowledge/vulndb/builtin.ts';
import { explainEndpoint, type PortEndpoint } from './explain-port.ts';

const timestamp = '2026-11-21T00:00:00.000Z';
const host = '192.0.2.1';
const cpe = 'cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*';
const claim = {
  match: 'ssh',
  product: 'OpenSSH',
  vendor: 'openbsd',
  version: '9.2p1',
  cpe,
  confidence: 0.98,
  source: 'banner',
  evidence: 'SSH-2.0-OpenSSH_9.2p1',
  rule: 'ssh.openssh',
};
const port = (number: number, more: Partial<PortRow> = {}): PortRow => ({
  type: 'port',
  timestamp,
  host,
  port: number,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  ...more,
});
const finding: Finding = {
  id: 'CVE-2024-6387',
  title: 'A race',
  severity: 'high',
  cvss: { version: '3.1', score: 8.1, vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H' },
  kev: false,
  epss: null,
  cpe,
  affected: '>= 8.5, < 9.8',
  detected: '9.2p1',
  confidence: 0.539,
  backport_note: null,
  class: 'possible',
  evidence: claim.evidence,
  remediation: 'Update.',
  references: [],
  plugin: 'cve_matcher',
};
const vulnerability = (number: number | null, more: Partial<Finding> = {}): ResultRow => ({
  type: 'vulnerability',
  timestamp,
  host,
  port: number,
  protocol: number === null ? null : 'tcp',
  vulnerability: { ...finding, ...more },
});

async function* stream(rows: readonly ResultRow[]) {
  yield* rows;
}
const rows: ResultRow[] = [
  { type: 'host', timestamp, host: '192.0.2.0', state: 'up' },
  { type: 'host', timestamp, host, state: 'up', hostnames: ['Web-1.example.net'] },
  port(22, {
    banner: 'SSH-2.0-OpenSSH_9.2p1\r\n',
    fingerprints: [
      claim,
      { ...claim, product: 'Other', cpe: null, confidence: 0.6, rule: 'no.such-rule', evidence: 'OpenSSH' },
      { ...claim, product: null, cpe: null, confidence: 0.8, rule: undefined, evidence: 'SSH-2.0' },
    ],
  }),
  vulnerability(22),
  port(80),
  vulnerability(null, { id: 'host-flaw', plugin: 'other_module', cpe: null }),
  { type: 'host', timestamp, host: '192.0.2.9', state: 'up' },
  { ...port(22), host: '192.0.2.9' },
];
const explain = (place: Partial<PortEndpoint>, from = rows) =>
  explainEndpoint('scan', stream(from), { host, port: null, protocol: null, ...place }, atHand);
const atHand = { signatures: builtinRules, vulnerabilities: builtinCves };

describe('explaining a place', () => {
  test('a port shows what was said, which rule read it, and why the others were not chosen', async () => {
    const { ports } = await explain({ port: 22 });
    expect(ports).toHaveLength(1);
    expect(ports[0]).toMatchObject({ port: 22, banner: 'SSH-2.0-OpenSSH_9.2p1\r\n' });
    const [chosen, other, bare] = ports[0]?.claims ?? [];
    expect(chosen).toMatchObject({ outcome: 'chosen', rule: { id: 'ssh.openssh', source: 'ssh.software' } });
    expect(chosen?.rule?.pattern).toContain('OpenSSH_');
    expect(other).toMatchObject({
      outcome: 'kept beside',
      reason: 'lower confidence: 0.6 against 0.98',
      rule: { id: 'no.such-rule', source: null, pattern: null },
    });
    expect(bare).toMatchObject({ outcome: 'kept beside', reason: 'names no product', rule: null });
  });

  test.each([
    ['the whole greeting', 'SSH-2.0-OpenSSH_9.2p1\r\n', 'OpenSSH_9.2p1', 'OpenSSH_9.2p1'],
    [
      'a header',
      'HTTP/1.0 200 OK\r\nSERVER:nginx/1.18.0 \r\n\r\n',
      'server: nginx/1.18.0',
      'SERVER:nginx/1.18.0',
    ],
    ['a header of two', 'X-By: a\r\nX-By: PHP/8.1\r\n', 'x-by: PHP/8.1', 'X-By: PHP/8.1'],
    [
      'a header that is not ASCII',
      'HTTP/1.0 200 OK\r\nServer: Zürich 1\r\n',
      'server: Zürich 1',
      'Server: Zürich 1',
    ],
    ['nothing that was said', 'HTTP/1.0 200 OK\r\nServer: nginx\r\n', 'favicon: 1234', null],
    ['another header', 'HTTP/1.0 200 OK\r\nVia: nginx\r\n', 'server: nginx', null],
  ])('the bytes that a claim rests on are marked: %s', async (_, banner, evidence, marked) => {
    const { ports } = await explain({ port: 80 }, [
      port(80, { banner, fingerprints: [{ ...claim, evidence }] }),
    ]);
    const { matched } = ports[0]?.claims[0] ?? {};
    expect(matched ? Buffer.from(banner).toString('utf8', matched.from, matched.to) : null).toBe(marked);
  });

  test('a finding shows its range, its rank and why it is as sure as it is', async () => {
    const { ports } = await explain({ port: 22 });
    const [found] = ports[0]?.findings ?? [];
    expect(found).toMatchObject({ id: 'CVE-2024-6387', affected: '>= 8.5, < 9.8' });
    expect(found?.rank).toContain('CVSS 3.1 8.1');
    expect(found?.reasons.join(' ')).toContain('Confidence: 0.98 in the product');
    expect(found?.reasons.join(' ')).not.toContain('With the current data it would have');
  });

  test('data that has changed since is told', async () => {
    const changed = await explain({ port: 22 }, [
      port(22, { fingerprints: [claim] }),
      vulnerability(22, { confidence: 0.1 }),
    ]);
    expect(changed.ports[0]?.findings[0]?.reasons.at(-1)).toContain('With the current data it would have');
    const gone = await explain({ port: 22 }, [
      port(22, { fingerprints: [claim] }),
      vulnerability(22, { id: 'CVE-1999-1' }),
    ]);
    expect(gone.ports[0]?.findings[0]?.reasons).toEqual([
      'The current vulnerability data does not contain it.',
    ]);
  });

  test('a host shows all its ports and what is of no port; it may be named', async () => {
    for (const name of [host, 'web-1.example.net']) {
      const whole = await explain({ host: name });
      expect(whole).toMatchObject({ scan_id: 'scan', host });
      expect(whole.ports.map((each) => each.port)).toEqual([22, 80]);
      expect(whole.findings.map(({ id, reasons }) => [id, reasons])).toEqual([['host-flaw', []]]);
    }
  });

  test('what the record does not have is not found', async () => {
    await expect(explain({ host: '192.0.2.77' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(explain({ port: 23 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(explain({ port: 22, protocol: 'udp' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a host with very many ports is cut', async () => {
    const many = [
      { type: 'host', timestamp, host, state: 'up' } as const,
      ...Array.from({ length: 300 }, (_, at) => port(at + 1)),
    ];
    const { ports, left_out } = await explain({}, many);
    expect([ports.length, left_out]).toEqual([256, 44]);
  });
});
