import { describe, expect, it } from 'vitest';
import type { Finding } from '../../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, SummaryRow } from '../../domain/result.ts';
import { columnsOf } from '../terminal/printable.ts';
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

function finding(id: string, more: Partial<Finding>): ResultRow {
  const vulnerability = { id, title: `Title of ${id}`, severity: 'critical', ...more } as Finding;
  return { type: 'vulnerability', timestamp, host: '192.0.2.10', port: 22, protocol: 'tcp', vulnerability };
}

const debianNote = 'Debian revision 2+deb12u2 seen: compare it before acting.';
const findings = [
  finding('CVE-1', { class: 'possible', confidence: 0.5, kev: true, backport_note: debianNote }),
  finding('CVE-2', { class: 'likely', confidence: 0.75 }),
  finding('telnet-open', { class: 'certain', confidence: 0.95, severity: 'high' }),
  finding('CVE-3', { class: 'certain', confidence: 0.95 }),
  finding('CVE-4', { severity: 'medium' }),
];

describe('findings in the table', () => {
  it('stand with their class, confidence and backport note, the certain ones first', async () => {
    const rows = [host(), port(22), ...findings, summary({ vulnerabilities: 5 })];
    expect((await render(rows)).split('\n').slice(3, -1)).toEqual([
      '  CRITICAL  ● certain    95 %  22/tcp  CVE-3  Title of CVE-3',
      '  HIGH      ● certain    95 %  22/tcp  telnet-open  Title of telnet-open',
      '  CRITICAL  ◐ likely     75 %  22/tcp  CVE-2  Title of CVE-2',
      `  CRITICAL  ○ possible   50 %  22/tcp  CVE-1  Title of CVE-1  (${debianNote})`,
      '  MEDIUM    ○ possible    0 %  22/tcp  CVE-4  Title of CVE-4',
      '',
      '1 host up, 2 open ports, 5 findings (2 certain, 1 likely, 2 possible); 1 address in 1.3 s',
    ]);
  });

  it('are red or bold only where they are certain', async () => {
    const text = await render([host(), port(22), ...findings], { columns: 120, color: true });
    const colored = text.split('\n').filter((line) => /^ {2}.*\x1b/.test(line));
    expect(colored.map((line) => line.replaceAll('\x1b', ''))).toEqual([
      '  [1m[31mCRITICAL[39m[22m  ● certain    95 %  22/tcp  CVE-3  Title of CVE-3',
      '  [31mHIGH[39m      ● certain    95 %  22/tcp  telnet-open  Title of telnet-open',
    ]);
  });

  it('fit into a terminal; the backport note leaves a mark', async () => {
    const long = finding('CVE-1', { title: 'x'.repeat(90), confidence: 0.5, backport_note: debianNote });
    const lines = (await render([host(), port(22), long], { ...plain, terminal: true })).split('\n');
    const line = lines.find((each) => each.includes('CVE-1')) ?? '';
    expect(line).toMatch(/^ {2}CRITICAL {2}◐ likely {5}50 % {2}22\/tcp {2}CVE-1 {2}backport\? {2}x+…$/);
    expect(columnsOf(line)).toBe(80);
  });
});

describe('renderTable', () => {
  it('lists failed controls before the hosts, and counts all verdicts', async () => {
    const verdict = (control: string, status: 'fail' | 'pass'): ResultRow => ({
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
    const text = await render([verdict('3.10', 'fail'), verdict('4.8', 'pass'), host(), port(23)]);
    const [first, second, third] = text.split('\n');
    expect(first).toMatch(/^cis 3\.10 failed at 192\.0\.2\.10, port 23: Data is encrypted [^\x1b]*$/);
    expect([second, third]).toEqual(['compliance: 1 failed, 1 passed, 0 not assessed', '']);
    expect(await render([host(), port(23)])).not.toContain('compliance');
  });

  it('counts the values of plugins by key, and names the plugin of a finding where it fits', async () => {
    const producer = { name: 'my_plugin', version: '1.0.0', sha256: 'ab' };
    const value = (key: string): ResultRow => ({ type: 'extra', timestamp, host: null, key, value: 1 });
    const row = { ...finding('CVE-1', { title: 'short' }), producer } as ResultRow;
    const text = await render([value('a_key'), value('a_key'), value('b\x1b[2J'), host(), port(22), row]);
    expect(text.split('\n')[0]).toMatch(/^extra values: 2 a_key, 1 b[^\x1b]*$/);
    expect(text).toMatch(/CVE-1 {2}short {2}\[my_plugin\]$/m);
    const long = { ...finding('CVE-1', { title: 'x'.repeat(90) }), producer } as ResultRow;
    expect(await render([host(), port(22), long], { ...plain, terminal: true })).not.toContain('my_plugin');
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
        'PORT      STATE  SERVICE    PRODUCT        EVIDENCE',
        '22/tcp    open   ssh        OpenSSH 9.2p1  SSH-2.0-OpenSSH_9.2p1 Debian-2',
        '8080/tcp  open   http-alt?',
        'not shown: 997 closed, 1 filtered',
        '',
        '1 host up, 2 open ports; 1 address in 1.3 s',
        '',
      ].join('\n'),
    );
  });

  it('says where probes had no time', async () => {
    const text = await render([
      host(),
      port(22, { service: ssh, banner: 'SSH-2.0-x\r\n', unidentified_reason: 'rate' }),
      port(80, { unidentified_reason: 'timeout' }),
      summary({ unidentified: { timeout: 1, rate: 1, cut: 0 } }),
    ]);
    expect(text).toMatch(/22\/tcp .* SSH-2\.0-x\n80\/tcp .* not identified: timeout\n/);
    expect(text).toMatch(/\nPorts not fully probed for lack of time: timeout 1, rate 1\.\n$/);
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
    expect(text).toMatch(/^No host responded; 254 addresses in 1\.3 s\.\n.*--no-discover/);
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
      '22/tcp  open   ssh?',
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
