import type { Finding, Severity } from '../../../src/domain/finding.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../../src/domain/result.ts';
import { countSyntheticRows, factsOf } from '../../../src/report/fixtures/synthetic-facts.ts';
import type { SyntheticScan } from '../../../src/report/fixtures/synthetic-scan.ts';

/** A scan whose names, products and titles are as long as those of real networks. */
export function longScan(scanId: string, change: { version: string; hosts?: number }): SyntheticScan {
  const startedAt = timeOf(scanId);
  const rows = hosts
    .slice(0, change.hosts ?? hosts.length)
    .flatMap((host) => [...rowsOf(host, change, startedAt)]);
  const facts = factsOf(
    {
      scanId,
      title: null,
      request: { targets: ['192.168.178.0/24', '2001:db8:4f02:7c10::/64'] },
      addresses: 256,
      excluded: 0,
      warnings: [],
      canceledBy: null,
      evaluated: true,
      startedAt,
      completedAt: new Date(Date.parse(startedAt) + 754_000).toISOString(),
      catalog: '2026-11-21',
      modules: ['syn_scanner', 'banner_grabber', 'fingerprint_coordinator', 'cve_matcher'],
    },
    countSyntheticRows(rows),
  );
  return {
    facts,
    async *rows() {
      yield* rows;
    },
  };
}

interface LongHost extends Partial<HostRow> {
  host: string;
  services: readonly LongService[];
}

interface LongService {
  port: number;
  name: string;
  product: string | null;
  version: string | null;
  banner: string;
  /** Further names that share the address. */
  sites?: readonly string[];
  findings?: readonly (readonly [id: string, title: string, severity: Severity, kev?: boolean])[];
}

const hosts: readonly LongHost[] = [
  {
    host: '192.168.178.101',
    hostnames: ['hv-frankfurt-03.infrastructure.example.net'],
    os: { family: 'windows', distribution: 'windows server', version: '2022', confidence: 0.9 },
    device_type: 'server',
    mac: '5c:ba:2c:14:9e:01',
    vendor: 'Hewlett Packard Enterprise',
    services: [
      {
        port: 443,
        name: 'https',
        product: 'Microsoft Internet Information Services',
        version: '10.0',
        banner: 'HTTP/1.1 403 Forbidden',
        sites: ['shop.infrastructure.example.net', 'wiki.infrastructure.example.net'],
        findings: [
          [
            'tls-cert-expired',
            'The certificate expired on 2024-03-01 and no client should accept it',
            'medium',
          ],
        ],
      },
      {
        port: 50_000,
        name: 'vmware-auth',
        product: 'VMware Authentication Daemon',
        version: '1.10',
        banner: '220 VMware Authentication Daemon Version 1.10: SSL Required, ServerDaemonProtocol:SOAP',
      },
    ],
  },
  {
    host: '192.168.178.102',
    hostnames: ['backup-archive.eu-central-1.compute.example.com'],
    os: { family: 'linux', distribution: 'red hat enterprise linux', version: '9.4', confidence: 0.8 },
    device_type: 'server',
    services: [
      {
        port: 8443,
        name: 'https-alt',
        product: 'Apache Tomcat/Coyote JSP engine',
        version: '1.1',
        banner: 'HTTP/1.1 200 OK',
        findings: [
          [
            'CVE-2020-1938',
            'Apache Tomcat AJP connector allows reading files and remote code execution (Ghostcat)',
            'critical',
            true,
          ],
          [
            'CVE-2023-46589',
            'Apache Tomcat: HTTP request smuggling through improper parsing of trailer headers',
            'high',
          ],
          [
            'CVE-2024-50379',
            'Apache Tomcat: remote code execution by a race while JSPs are compiled',
            'critical',
          ],
        ],
      },
    ],
  },
  {
    host: '192.168.178.103',
    device_type: 'router',
    device_evidence: [
      { device_type: 'router', weight: 0.9, source: '80/tcp', evidence: 'http.title: FRITZ!Box', rule: 'x' },
    ],
    port_reasons: [
      {
        protocol: 'tcp',
        state: 'filtered',
        reason: 'admin-prohibited',
        icmp: { type: 3, code: 13 },
        from: '192.168.178.1',
        count: 3,
        ports: [25, 445, 3389],
      },
      { protocol: 'tcp', state: 'closed', reason: 'rst', count: 900, ports: [] },
    ],
    mac: '2c:91:ab:7f:10:88',
    vendor: 'AVM Audiovisuelles Marketing und Computersysteme GmbH',
    services: [
      {
        port: 22,
        name: 'ssh',
        product: 'OpenSSH',
        version: 'VERSION',
        banner: 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3',
        findings: [
          [
            'CVE-2024-6387',
            'OpenSSH: race condition in the signal handler of sshd allows remote code execution (regreSSHion)',
            'high',
          ],
        ],
      },
    ],
  },
  { host: '192.168.178.104', services: [] },
  {
    host: '2001:db8:4f02:7c10:8a2b:11ff:fe3c:9d4e',
    hostnames: ['printer-second-floor-north.office.example.org'],
    device_type: 'printer',
    services: [
      {
        port: 631,
        name: 'ipp',
        product: 'HP LaserJet Enterprise M609 embedded web server',
        version: '2411286_057540',
        banner: 'HTTP/1.1 200 OK',
        findings: [
          [
            'printer-open-admin',
            'The administration of the printer is open to everybody who reaches it, without a password',
            'medium',
          ],
        ],
      },
    ],
  },
];

function* rowsOf(
  { host, services, ...more }: LongHost,
  { version }: { version: string },
  timestamp: string,
): Generator<ResultRow> {
  const counts = { open: services.length, closed: 900, filtered: 100 - services.length, not_tried: 0 };
  yield {
    type: 'host',
    timestamp,
    host,
    state: 'up',
    method: 'arp',
    latency_ms: 1.4,
    ...more,
    port_counts: counts,
  };
  for (const service of services) {
    yield portRow(host, service, version, timestamp);
    // What runs in the newer version has other findings.
    const isNew = service.version !== 'VERSION' || version === '9.2p1';
    for (const finding of isNew ? (service.findings ?? []) : [])
      yield findingRow(host, service, finding, timestamp);
  }
}

function portRow(host: string, service: LongService, version: string, timestamp: string): PortRow {
  const { port, name, product, banner } = service;
  const shown = service.version === 'VERSION' ? version : service.version;
  const at = {
    type: 'port',
    timestamp,
    host,
    port,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
  } as const;
  const named = { name, product, vendor: null, version: shown, cpe: null, confidence: 0.95 };
  const claim = {
    match: name,
    product,
    vendor: null,
    version: shown,
    cpe: null,
    confidence: 0.95,
    source: 'banner',
    evidence: banner,
  };
  const sites = service.sites?.map((site) => ({ name: site, http: { status: 200, title: `Site ${site}` } }));
  return { ...at, service: named, banner, fingerprints: [claim], attributes: sites ? { sites } : {} };
}

function findingRow(
  host: string,
  { port, product }: LongService,
  [id, title, severity, kev = false]: NonNullable<LongService['findings']>[number],
  timestamp: string,
): VulnerabilityRow {
  const vulnerability: Finding = {
    id,
    title,
    severity,
    class: 'likely',
    cvss: { version: '3.1', score: 9.8, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
    kev,
    epss: { score: 0.97, percentile: 0.99 },
    cpe: null,
    affected: null,
    detected: product,
    confidence: 0.65,
    backport_note: null,
    evidence: product ?? '',
    remediation: 'Update it.',
    references: [],
    plugin: 'cve_matcher',
  };
  return { type: 'vulnerability', timestamp, host, port, protocol: 'tcp', vulnerability };
}

/** `20261121-141418-a1b2c3` */
function timeOf(scanId: string): string {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(scanId) ?? [];
  return `${y}-${mo}-${d}T${h}:${mi}:${s}.000Z`;
}
