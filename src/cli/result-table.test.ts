import { describe, expect, it } from 'vitest';
import type { HostRow, PortRow, ResultRow, SummaryRow } from '../domain/result.ts';
import { columnsOf } from './printable.ts';
import { renderTable, type TableStyle } from './result-table.ts';

const timestamp = '2026-01-02T03:04:05.000Z';
const plain: TableStyle = { columns: 80, color: false };

function host(fields: Partial<HostRow> = {}): HostRow {
  return { type: 'host', timestamp, host: '192.0.2.10', state: 'up', ...fields };
}

function port(number: number, fields: Partial<PortRow> = {}): PortRow {
  const place = { host: '192.0.2.10', port: number, protocol: 'tcp' as const };
  return { type: 'port', timestamp, ...place, state: 'open', reason: 'syn-ack', ...fields };
}

function summary(fields: Partial<SummaryRow> = {}): SummaryRow {
  return {
    type: 'summary',
    timestamp,
    host: null,
    scan_id: '20260102-030405-abcdef',
    status: 'completed',
    partial: false,
    live_hosts: 1,
    open_ports: 2,
    vulnerabilities: 0,
    addresses_scanned: 1,
    excluded: 0,
    severity_counts: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
    duration_seconds: 1.25,
    catalogue_version: 'test',
    ...fields,
  };
}

async function render(rows: ResultRow[], style: TableStyle = plain): Promise<string> {
  let text = '';
  const source = (async function* () {
    yield* rows;
  })();
  for await (const chunk of renderTable(source, null, style)) text += chunk;
  return text;
}

const ssh = {
  name: 'ssh',
  product: 'OpenSSH',
  vendor: 'openbsd',
  version: '9.2p1',
  cpe: null,
  confidence: 0.9,
};

describe('renderTable', () => {
  it('names the controls that are broken before the hosts, and counts the others', async () => {
    const judged = (control: string, status: 'fail' | 'pass'): ResultRow => ({
      type: 'compliance',
      timestamp,
      host: '192.0.2.10',
      port: status === 'fail' ? 23 : null,
      framework: 'cis',
      control,
      title: 'Data is encrypted \x1b[2J',
      status,
      description: '',
      severity: null,
      finding_ids: [],
    });
    const text = await render([judged('3.10', 'fail'), judged('4.8', 'pass'), host(), port(23)]);
    const [first, second, third] = text.split('\n');
    expect(first).toMatch(/^cis 3\.10 is broken at 192\.0\.2\.10, port 23: Data is encrypted [^\x1b]*$/);
    expect([second, third]).toEqual(['compliance: 1 broken, 1 kept, 0 not told', '']);
    expect(await render([host(), port(23)])).not.toContain('compliance');
  });

  it('shows hosts, ports, services and evidence', async () => {
    const text = await render([
      host({
        hostnames: ['web.example.net'],
        latency_ms: 0.42,
        os: { family: 'linux', distribution: 'debian', version: '12', confidence: 0.9 },
        device_type: 'server',
        port_counts: { open: 2, closed: 997, filtered: 1, not_tried: 0 },
      }),
      port(22, { service: ssh, banner: 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n' }),
      port(8080),
      summary(),
    ]);
    expect(text).toBe(
      [
        '192.0.2.10 (web.example.net)  up, 0.42 ms  server, linux debian 12',
        'PORT      STATE  SERVICE  PRODUCT        EVIDENCE',
        '22/tcp    open   ssh      OpenSSH 9.2p1  SSH-2.0-OpenSSH_9.2p1 Debian-2',
        '8080/tcp  open',
        'not shown: 997 closed, 1 filtered',
        '',
        '1 host up, 2 open ports; 1 address in 1.3 s',
        '',
      ].join('\n'),
    );
  });

  it('never is wider than the terminal', async () => {
    const long = 'x'.repeat(500);
    const service = { ...ssh, name: long, product: long, version: long };
    const rows = [host({ hostnames: [long] }), port(65535, { service, banner: long })];
    for (const columns of [80, 120]) {
      const lines = (await render(rows, { columns, color: false })).split('\n');
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('shows no control character of a target (T-022)', async () => {
    const evil = '\x1b[2J\x1b]52;c;AAAA\x07\b\x9b31m\u202e';
    const service = { ...ssh, name: evil, product: evil, version: evil };
    const text = await render([
      host({
        hostnames: [evil],
        vendor: evil,
        os: { family: evil, distribution: evil, version: evil, confidence: 1 },
      }),
      port(1, { service, banner: evil, state: evil }),
      summary(),
    ]);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('\\x1b[2J');
  });

  it('says something useful when nothing answered', async () => {
    const text = await render([summary({ live_hosts: 0, open_ports: 0, addresses_scanned: 254 })]);
    expect(text).toMatch(/^No host answered; 254 addresses in 1\.3 s\.\n.*--no-discover/);
  });

  it('uses colour only when asked', async () => {
    const rows = [host(), port(22)];
    expect(await render(rows)).not.toContain('\x1b');
    expect(await render(rows, { columns: 80, color: true })).toContain('\x1b[32m22/tcp');
  });

  it('gives a host without open ports one line', async () => {
    const counts = { open: 0, closed: 1000, filtered: 0, not_tried: 0 };
    const bare = (address: string) => host({ host: address, port_counts: counts });
    const rows = [
      bare('192.0.2.1'),
      bare('192.0.2.2'),
      host({ latency_ms: 12.3 }),
      port(22),
      bare('192.0.2.11'),
    ];
    expect((await render(rows)).split('\n')).toEqual([
      '192.0.2.1  up  no open port found (1000 closed)',
      '192.0.2.2  up  no open port found (1000 closed)',
      '',
      '192.0.2.10  up, 12 ms',
      'PORT    STATE  SERVICE  PRODUCT  EVIDENCE',
      '22/tcp  open',
      '',
      '192.0.2.11  up  no open port found (1000 closed)',
      '',
    ]);
  });

  it('says nothing about ports that nobody probed', async () => {
    expect(await render([host()])).toBe('192.0.2.10  up\n');
  });

  it('makes a block for ports whose host row is missing', async () => {
    expect(await render([port(22)])).toMatch(/^192\.0\.2\.10 {2}up\n/);
  });
});
