import { describe, expect, it } from 'vitest';
import type { Finding } from '../../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, SummaryRow } from '../../domain/result.ts';
import type { StageRecord } from '../../domain/scan.ts';
import { initialProgress } from '../../domain/scan-progress.ts';
import { columnsOf } from '../terminal/draw/printable.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import type { CountedScan } from './counts-text.ts';
import { renderTable, type TableOptions } from './result-table.ts';

const timestamp = '2026-01-02T03:04:05.000Z';
const plain: TerminalStyle = { columns: 80, terminal: false, color: false, ascii: false };
const window = { ...plain, terminal: true };

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

async function render(
  rows: ResultRow[],
  style: TerminalStyle = plain,
  options: TableOptions = {},
): Promise<string> {
  let text = '';
  const source = (async function* () {
    yield* rows;
  })();
  for await (const chunk of renderTable(source, null, style, options)) text += chunk;
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
const cvss = { version: '3.1', score: 9.8, vector: '' };
const findings = [
  finding('CVE-1', { class: 'possible', confidence: 0.5, kev: true, backport_note: debianNote }),
  finding('CVE-2', { class: 'likely', cvss, epss: { score: 0.936, percentile: 1 } }),
  finding('telnet-open', { class: 'certain', severity: 'high' }),
  finding('CVE-3', { class: 'certain' }),
  finding('CVE-4', { severity: 'medium' }),
  finding('CVE-5', { severity: 'low' }),
];
const findingRows = [host(), port(22), ...findings, summary({ vulnerabilities: 6 })];

function scanOf(more: Partial<CountedScan> = {}): CountedScan {
  const base = { targets: ['192.0.2.10'], progress: initialProgress(), error: null, stages: [] };
  return { ...base, ...more };
}

describe('findings', () => {
  it('stand in one table below the hosts, worst first, with what decides the order', async () => {
    expect((await render(findingRows)).split('\n').slice(4)).toEqual([
      'SEVERITY  CLASS       CVSS  EPSS  WHERE          ID           TITLE',
      'CRITICAL  ● certain      –     –  192.0.2.10:22  CVE-3        Title of CVE-3',
      'CRITICAL  ◐ likely     9.8  0.94  192.0.2.10:22  CVE-2        Title of CVE-2',
      'HIGH      ● certain      –     –  192.0.2.10:22  telnet-open  Title of telnet-open',
      'MEDIUM    ○ possible     –     –  192.0.2.10:22  CVE-1        EXPLOITED Title of CVE-1',
      'MEDIUM    ○ possible     –     –  192.0.2.10:22  CVE-4        Title of CVE-4',
      '… 1 more (1 low): portolan workspace show latest --findings',
      '1 possible: distributions fix without a new version; portolan explain HOST:PORT tells more',
      '',
      '1 host up, 2 open ports, 6 findings (2 critical, 1 high, 2 medium, 1 low) in 1.3 s',
      '',
    ]);
  });

  it('of one host that are equal are one row with their ports, and count each', async () => {
    const at = (number: number, more: Partial<Finding> = {}) => ({
      ...finding('CVE-3', { class: 'certain', ...more }),
      port: number,
    });
    const rows = [80, 443, 8080, 8443, 9443].map((number) => at(number));
    const all = [
      host(),
      ...rows,
      at(10_443, { class: 'likely' }),
      summary({ vulnerabilities: 6 }),
    ] as ResultRow[];
    const text = await render(all);
    expect(text).toContain('192.0.2.10:80,443,8080,8443,9443  CVE-3');
    expect(text).toContain('192.0.2.10:10443 ');
    expect(text).toContain('6 findings (6 critical)');
    expect(text).not.toContain('more (');
    const inTerminal = await render(all, { ...plain, terminal: true, columns: 120 });
    expect(inTerminal).toContain('192.0.2.10:80,443,8080,8443 +1  CVE-3');
  });

  it('of low severity are shown when asked for', async () => {
    expect(await render(findingRows, plain, { least: 'info' })).toContain('CVE-5');
    expect(await render(findingRows, plain, { least: 'high' })).not.toContain('CVE-4');
    const minor = [
      finding('a', { severity: 'low' }),
      finding('b', { severity: 'low' }),
      finding('c', { severity: 'info' }),
    ];
    const text = await render([host(), port(22), ...minor, summary({ vulnerabilities: 3 })]);
    expect(text).toContain('\n… 3 not listed (2 low, 1 info): portolan workspace show latest --findings\n');
    expect(text).toContain(', 3 findings (2 low, 1 info) in ');
    const only = await render(findingRows, plain, { isWhole: true, onlyFindings: true });
    expect(only.split('\n')).toHaveLength(9);
    expect(only).toContain('CVE-5');
  });

  it('are at most 20 rows in a terminal, all elsewhere, and the others are counted', async () => {
    const many = Array.from({ length: 30 }, (_, index) => finding(`CVE-${100 + index}`, {}));
    const rows = [host(), port(22), ...many, summary({ vulnerabilities: 30 })];
    const shown = (text: string) => text.match(/^CRITICAL/gm)?.length;
    const text = await render(rows, window);
    expect([shown(text), shown(await render(rows))]).toEqual([20, 30]);
    expect(text).toContain('… 10 more (10 critical): portolan workspace show latest --findings\n');
  });

  it('give up columns in a narrow terminal: EPSS, CVSS, most of the title, the word of the class, the id', async () => {
    const rows = [host(), port(22), finding('CVE-2021-42013', { cvss, title: 'x'.repeat(90) })];
    const headOf = async (columns: number) => {
      const text = await render(rows, { ...window, columns });
      for (const line of text.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
      return text.split('\n').find((line) => line.startsWith('SEVERITY'));
    };
    expect(await headOf(120)).toMatch(/CVSS +EPSS +WHERE +ID +TITLE/);
    expect(await headOf(90)).toMatch(/CLASS +CVSS +WHERE +ID +TITLE/);
    expect(await headOf(80)).toMatch(/CLASS +WHERE +ID +TITLE/);
    expect(await headOf(62)).toMatch(/CLASS +WHERE +TITLE/);
    expect(await headOf(50)).toMatch(/SEVERITY +CLASS +WHERE$/);
  });

  it('are red only in the word of critical and high, and what is exploited is inverted', async () => {
    const text = (await render(findingRows, { ...plain, color: true })).replaceAll('\x1b', '');
    expect(text).toContain('\n[1m[31mCRITICAL[39m[22m  ● certain');
    expect(text).toContain('\n[31mHIGH[39m      ● certain ');
    expect(text).toContain('\n[33mMEDIUM[39m    ○');
    expect(text).toContain('  [7mEXPLOITED[27m Title of CVE-1\n');
  });

  it('name their plugin where nothing is cut', async () => {
    const producer = { name: 'my_plugin', version: '1.0.0', sha256: 'ab' };
    const row = { ...finding('CVE-1', { title: 'short' }), producer } as ResultRow;
    expect(await render([host(), port(22), row])).toMatch(/CVE-1 +short +my_plugin$/m);
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

  it('counts the values of plugins by key', async () => {
    const value = (key: string): ResultRow => ({ type: 'extra', timestamp, host: null, key, value: 1 });
    const text = await render([value('a_key'), value('a_key'), value('b\x1b[2J'), host(), port(22)]);
    expect(text.split('\n')[0]).toMatch(/^extra values: 2 a_key, 1 b[^\x1b]*$/);
  });

  it('counts a silent UDP port that has a line no second time', async () => {
    const silent = (number: number) =>
      port(number, { protocol: 'udp', state: 'open|filtered', reason: 'no-response' });
    const filtered = (count: number) =>
      host({ port_counts: { open: 0, closed: 1, filtered: count, not_tried: 0 } });
    const rows = [silent(123), silent(161), summary({ open_ports: 0 })];
    const text = await render([filtered(3), ...rows]);
    expect(text.split('\n').slice(1)).toEqual([
      'PORT     STATE          SERVICE  PRODUCT  EVIDENCE',
      expect.stringMatching(/^123\/udp  open\|filtered  ntp\?/),
      expect.stringMatching(/^161\/udp  open\|filtered  snmp\?/),
      'not shown: 1 closed, 1 filtered',
      '',
      '1 host up, 0 open ports in 1.3 s',
      '',
    ]);
    expect(await render([filtered(2), ...rows])).toContain('not shown: 1 closed\n');
  });

  it('shows hosts, ports, services and evidence', async () => {
    const text = await render([
      host({
        hostnames: ['web.example.net'],
        latency_ms: 0.42,
        os: { family: 'linux', distribution: 'debian', version: '12', confidence: 0.9 },
        device_type: 'server',
        port_counts: { open: 2, closed: 1997, filtered: 1, not_tried: 0 },
      }),
      port(22, { service: ssh, banner: 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n' }),
      port(8080),
      summary(),
    ]);
    expect(text).toBe(
      [
        '192.0.2.10  up, 0.4 ms; server, Debian 12; web.example.net',
        'PORT      STATE  SERVICE    PRODUCT        EVIDENCE',
        '22/tcp    open   ssh        OpenSSH 9.2p1  SSH-2.0-OpenSSH_9.2p1 Debian-2',
        '8080/tcp  open   http-alt?',
        'not shown: 1,997 closed, 1 filtered',
        '',
        '1 host up, 2 open ports in 1.3 s',
        '',
      ].join('\n'),
    );
  });

  it('lists few ports that are not open with their state and reason, and counts many', async () => {
    const closed = (count: number, ports: number[]) => ({
      port_counts: { open: 1, closed: count, filtered: 1, not_tried: 0 },
      port_reasons: [
        { protocol: 'tcp', state: 'closed', reason: 'rst', count, ports },
        { protocol: 'tcp', state: 'filtered', reason: 'no-response', count: 1, ports: [443] },
      ] as HostRow['port_reasons'] & object,
    });
    const text = await render([host(closed(2, [9, 80])), port(22)]);
    expect(text.split('\n').slice(1, 7)).toEqual([
      'PORT     STATE     SERVICE   PRODUCT  EVIDENCE',
      '22/tcp   open      ssh?',
      '9/tcp    closed    discard?           rst',
      '80/tcp   closed    http?              rst',
      '443/tcp  filtered  https?             no response',
      '',
    ]);
    const many = Array.from({ length: 30 }, (_, at) => 1000 + at);
    expect(await render([host(closed(30, many)), port(22)])).toContain('not shown: 30 closed, 1 filtered\n');
  });

  it('names the ICMP error and its sender in place of "no response"', async () => {
    const error = {
      protocol: 'tcp',
      state: 'filtered',
      reason: 'admin-prohibited',
      from: '10.0.0.254',
    } as const;
    const counts = (closed: number) => ({ open: 0, closed, filtered: 3, not_tried: 0 });
    const all = host({
      port_counts: counts(0),
      port_reasons: [{ ...error, count: 3, ports: [22, 80, 443] }],
    });
    expect(await render([all])).toContain(
      'no open port: 22, 80, 443/tcp filtered (admin-prohibited from 10.0.0.254)\n',
    );
    const silent = { ...error, reason: 'no-response', from: undefined, count: 1, ports: [] };
    const some = host({
      port_counts: counts(4),
      port_reasons: [{ ...error, count: 2, ports: [22, 80] }, silent],
    });
    expect(await render([some])).toContain(
      'no open port: 4 closed, 3 filtered (2 admin-prohibited from 10.0.0.254, 1 no response)\n',
    );
  });

  it('says how much of a completed scan was not tried', async () => {
    const coverage = { planned: 65_535, open: 2, closed: 23_944, filtered: 0, not_tried: 41_589 };
    const text = await render([host(), port(22), summary({ partial: true, coverage })], plain, {
      scan: scanOf({}),
    });
    expect(text).toContain(
      'partial: 41,589 of 65,535 ports not tried; its warnings say what is missing\n1 host',
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
    expect(text).toContain(
      '\n2 of 2 services not fully probed for lack of time: timeout 1, rate 1\n1 host up',
    );
  });

  it('says which ports of a host that accepts everything are in doubt', async () => {
    const tarpit = host({ all_ports_open: true });
    const silent = port(23, { banner: '', unidentified_reason: 'unproven' });
    const left = port(24, { unidentified_reason: 'tarpit' });
    const unidentified = { timeout: 0, rate: 0, cut: 0, unproven: 1, tarpit: 1 };
    const text = await render([tarpit, silent, left, summary({ open_ports: 2, unidentified })]);
    expect(text).toMatch(/23\/tcp .* unproven: no sign of life\n24\/tcp .* not probed: tarpit\n/);
    expect(text).toContain(
      'this host accepts nearly every connection; open ports alone are not evidence of services: 1 unproven, 1 not probed\n',
    );
    expect(text).toContain(
      '\n1 of 2 open ports unproven: connections are accepted, but nothing comes back\n' +
        '1 of 2 open ports not probed: too many others of the same host showed no sign of life\n',
    );
    expect(await render([tarpit, port(22)])).toMatch(
      /22\/tcp .* unproven: no sign of life\n.* open ports alone are not evidence of services: 1 unproven\n/,
    );
  });

  it('says how many control systems and printers were left alone', async () => {
    const unidentified = { timeout: 1, rate: 0, cut: 0, fragile: 1 };
    const text = await render([
      host(),
      port(22, { unidentified_reason: 'timeout' }),
      port(502, { unidentified_reason: 'fragile' }),
      summary({ unidentified }),
    ]);
    expect(text).toMatch(/502\/tcp .* left alone: fragile device\n/);
    expect(text).toContain(
      '\n1 of 2 services not fully probed for lack of time: timeout 1\n1 of 2 open ports not fully probed: control systems and printers are fragile\n',
    );
  });

  it('says how far a canceled scan came, right before the counts', async () => {
    const progress = { ...initialProgress(), hosts_done: 8704, hosts_total: 65_534, tried: 42, not_tried: 9 };
    const error = { code: 'canceled' as const, message: '' };
    const scan = scanOf({ error, progress: { ...progress, unit: 'ports' } });
    const text = await render([host(), port(22), summary({ status: 'failed', partial: true })], plain, {
      scan,
    });
    expect(text).toContain('\ncanceled: 8,704 of 65,534 addresses and 42 of 51 ports tried\n1 host up');
  });

  it('is whole outside a terminal, and never wider than one', async () => {
    const long = 'x'.repeat(500);
    const service = { ...ssh, name: long, product: long, version: long };
    const rows = [host({ hostnames: [long] }), port(65535, { service, banner: long })];
    for (const columns of [60, 80, 120]) {
      const lines = (await render(rows, { ...window, columns })).split('\n').slice(1);
      for (const line of lines.filter((text) => !text.startsWith('  x')))
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }
    expect(await render(rows)).not.toContain('…');
  });

  it('shows no control character of a target', async () => {
    const evil = '\x1b[2J\x1b]52;c;AAAA\x07\b\x9b31m\u202e';
    const service = { ...ssh, name: evil, product: evil, version: evil };
    const text = await render([
      host({
        hostnames: [evil],
        vendor: evil,
        os: { family: evil, distribution: evil, version: evil, confidence: 1 },
      }),
      port(1, { service, banner: evil, state: evil }),
      finding(evil, { title: evil }),
      summary(),
    ]);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('\\x1b[2J');
  });

  it('says what was sent when nothing responded', async () => {
    const stages = [
      { module_type: 'icmp_discovery', status: 'completed' },
      { module_type: 'tcp_probe_discovery', status: 'completed' },
      { module_type: 'arp_discovery', status: 'skipped' },
    ] as StageRecord[];
    const silent = summary({ live_hosts: 0, open_ports: 0 });
    expect(await render([silent], plain, { scan: scanOf({ stages }) })).toBe(
      '192.0.2.10  no response: icmp-echo, tcp ping\n0 of 1 address up in 1.3 s\n',
    );
    const coverage = { planned: 2, open: 0, closed: 0, filtered: 2, not_tried: 0 };
    expect(await render([{ ...silent, coverage } as ResultRow], plain, { scan: scanOf() })).toBe(
      '192.0.2.10  unknown; 2 ports filtered: no response\n0 of 1 address up in 1.3 s\n',
    );
  });

  it('uses color only when asked', async () => {
    const rows = [host(), port(22)];
    expect(await render(rows)).not.toContain('\x1b');
    expect(await render(rows, { ...plain, color: true })).toContain('\x1b[32mopen');
  });

  it('gives a host without open ports one line, and many of them share one', async () => {
    const counts = { open: 0, closed: 1000, filtered: 0, not_tried: 0 };
    const bare = (last: number) => host({ host: `192.0.2.${last}`, port_counts: counts });
    const filtered = host({ host: '192.0.2.99', port_counts: { ...counts, closed: 0, filtered: 3 } });
    const rows = [...Array.from({ length: 12 }, (_, index) => bare(index + 1)), filtered];
    expect((await render(rows)).split('\n').slice(7)).toEqual([
      '192.0.2.8  up; no open port: 1,000 closed',
      '192.0.2.99  up; 3 ports filtered: no response',
      '4 more hosts up without an open port: 192.0.2.9-12',
      '',
    ]);
    const scan = scanOf({ targets: Array.from({ length: 12 }, (_, index) => `192.0.2.${index + 1}`) });
    expect((await render(rows, plain, { scan })).split('\n')).toHaveLength(14);
  });

  it('says nothing about ports that nobody probed', async () => {
    expect(await render([host()])).toBe('192.0.2.10  up\n');
  });

  it('makes a block for ports whose host row is missing', async () => {
    expect(await render([port(22)])).toMatch(/^192\.0\.2\.10 {2}up\n/);
  });
});
