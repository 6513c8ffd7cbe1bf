import { describe, expect, it } from 'vitest';
import { noFindings } from '../../../domain/finding.ts';
import type { FindingKind, HostBlock, PortLine } from '../../model/report.ts';
import { hostDetail } from './host-detail.ts';

const line: PortLine = {
  anchor: 'h-192.168.1.10-80-tcp',
  port: 80,
  protocol: 'tcp',
  state: 'open',
  service: 'http',
  product: 'nginx 1.24.0',
  confidence: 0.95,
  cpe: null,
  said: '',
  saidLength: 0,
  tls: '',
  sites: '',
  missing: '',
  plugins: '',
};

const block: HostBlock = {
  anchor: 'h-192.168.1.10',
  host: '192.168.1.10',
  names: ['web-1', 'web-2'],
  system: 'Debian 12',
  systemConfidence: 0.9,
  kind: 'server',
  mac: null,
  vendor: null,
  method: 'arp',
  latencyMs: 0.42,
  ports: [],
  portsLeft: 0,
  openPorts: 1,
  counts: { open: 1, closed: 9, filtered: 0, notTried: 2, planned: 12 },
  filteredWhy: '',
  notOpen: '',
  allPortsOpen: false,
  findings: [],
  findingsLeft: 0,
  severities: noFindings(),
  exploited: false,
  position: 0,
};

const saying = (said: string, more: Partial<PortLine> = {}) =>
  hostDetail({ ...block, ports: [{ ...line, said, saidLength: said.length, ...more }] });

describe('a host in the HTML report', () => {
  it('has what is known of it, and no line for what is not', () => {
    const html = hostDetail(block);
    expect(html).toContain('<dt>Names</dt><dd>web-1, web-2</dd>');
    expect(html).toContain('<dt>System</dt><dd>Debian 12, confidence 90 %</dd>');
    expect(html).toContain('<dt>Seen by</dt><dd>arp, 0.42 ms</dd>');
    expect(html).toContain('<dt>Ports</dt><dd>1 open, 9 closed, 2 not tried, of 12</dd>');
    expect(html).not.toContain('<dt>MAC');
    const rejected = { counts: { open: 0, closed: 0, filtered: 3, notTried: 0, planned: 3 } };
    expect(hostDetail({ ...block, ...rejected, filteredWhy: 'admin-prohibited from 10.0.0.254' })).toContain(
      '<dt>Ports</dt><dd>3 filtered (admin-prohibited from 10.0.0.254), of 3</dd>',
    );
    expect(html).toContain('No open port is recorded.');
  });

  it('shows a short banner of one line as it is, and folds the others behind their first line', () => {
    expect(saying('SSH-2.0-x')).toContain('<td class="wd"><code>SSH-2.0-x</code></td>');
    const lines = saying('HTTP/1.1 200 OK\r\nServer: <x>');
    expect(lines).toContain('<summary><code>HTTP/1.1 200 OK</code> <small>28 characters</small></summary>');
    expect(lines).toContain('<pre>HTTP/1.1 200 OK\nServer: &lt;x&gt;</pre>');
    expect(saying('x'.repeat(121))).toContain(`<code>${'x'.repeat(120)}</code> <small>121 characters`);
  });

  it('cuts a long banner and counts what is missing', () => {
    const html = saying('x'.repeat(4000), { saidLength: 65_536 });
    expect(html).toContain(
      `<pre>${'x'.repeat(4000)}</pre><p class="t3">61,536 more characters in the JSON format.</p>`,
    );
  });

  it('says why a port was not identified, what TLS it has, and which plugin found it', () => {
    const html = saying('', {
      tls: 'TLS 1.2',
      missing: 'timeout',
      plugins: 'p@1.0.0',
      state: 'open|filtered',
    });
    expect(html).toContain('<small>TLS 1.2<br>not identified: timeout<br>Plugin p@1.0.0</small>');
    expect(html).toContain('<small>open|filtered</small>');
  });

  it('leads from a finding to the fix for this host, where other hosts have another one', () => {
    const kind = { severity: 'high', anchor: 'f-CVE-1', id: 'CVE-1', title: 'x', action: 1 } as FindingKind;
    const html = hostDetail({
      ...block,
      findings: [{ kind, action: 2, ports: ['80/tcp'], class: 'likely' }],
    });
    expect(html).toContain('<a href="#fix-2">2</a>');
    expect(html).not.toContain('fix-1');
  });

  it('warns of a host that accepts connections on every port, and counts what is left out', () => {
    const html = hostDetail({ ...block, ports: [line], portsLeft: 3, allPortsOpen: true });
    expect(html).toContain('nearly every port');
    expect(html).toContain('3 more ports in the JSON format.');
  });
});
