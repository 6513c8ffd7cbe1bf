import * as fc from 'fast-check';
import { type Finding, noFindings, type Severity } from '../src/domain/finding.ts';
import type { Producer } from '../src/domain/producer.ts';
import type {
  ComplianceRow,
  ExtraRow,
  HostRow,
  PortRow,
  ResultRow,
  SummaryRow,
  VulnerabilityRow,
} from '../src/domain/result.ts';
import { type ResultHead, resultHead } from '../src/workspace/render/result-head.ts';

export const timestamp = '2026-10-06T14:31:40.520Z';

export const summary: SummaryRow = {
  type: 'summary',
  timestamp,
  host: null,
  scan_id: '20261006-143022-a1b2c3',
  status: 'completed',
  partial: false,
  live_hosts: 1,
  open_ports: 2,
  vulnerabilities: 1,
  addresses_scanned: 254,
  excluded: 0,
  severity_counts: noFindings(),
  duration_seconds: 77.5,
  catalogue_version: '2026-10-05',
};

export const head: ResultHead = resultHead(summary, { targets: ['192.168.1.0/24'], warnings: [] });

export const host: HostRow = { type: 'host', timestamp, host: '192.168.1.10', state: 'up', latency_ms: 0.42 };

export const plugin: Producer = { name: 'my_plugin', version: '1.2.3', sha256: 'ab'.repeat(32) };

/** A value of a plugin. */
export function extra(key: string, value: unknown, more: Partial<ExtraRow> = {}): ExtraRow {
  return { type: 'extra', timestamp, host: null, key, value, producer: plugin, ...more };
}

export function port(number: number, more: Partial<PortRow> = {}): PortRow {
  const { host: address } = host;
  return {
    type: 'port',
    timestamp,
    host: address,
    port: number,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    ...more,
  };
}

/** A finding with every field; without a port it is of the host. */
export function finding(
  number: number | null,
  id: string,
  severity: Severity = 'high',
  more: Partial<Finding> = {},
): VulnerabilityRow {
  const protocol = number === null ? null : 'tcp';
  const vulnerability: Finding = {
    id,
    title: `Title of ${id}`,
    severity,
    cvss: null,
    kev: false,
    epss: null,
    cpe: null,
    affected: null,
    detected: null,
    confidence: 0.5,
    backport_note: null,
    class: 'likely',
    evidence: '',
    remediation: '',
    references: [],
    plugin: 'cve_matcher',
    ...more,
  };
  return { type: 'vulnerability', timestamp, host: host.host, port: number, protocol, vulnerability };
}

/** A control that the host breaks, of the framework CIS. */
export function compliance(control: string, more: Partial<ComplianceRow> = {}): ComplianceRow {
  return {
    type: 'compliance',
    timestamp,
    host: host.host,
    port: 80,
    framework: 'cis',
    control,
    title: `Title of ${control}`,
    status: 'fail',
    description: '',
    severity: 'medium',
    finding_ids: [],
    ...more,
  };
}

/** A scan whose target says the same text everywhere where a target can say something. */
export function hostileRows(text: string): ResultRow[] {
  const claim = { product: text, vendor: text, version: text, cpe: text, confidence: 0.9 };
  const said: Partial<Finding> = {
    title: text,
    evidence: text,
    remediation: text,
    affected: text,
    detected: text,
    cpe: text,
    backport_note: text,
    references: [text, `javascript:alert(1)//${text}`, 'https://example.org/advisory'],
    plugin: text,
    cvss: { version: text, score: 9.8, vector: text },
  };
  return [
    {
      type: 'error',
      timestamp,
      host: null,
      target: text,
      code: 'resolve_failed',
      message: text,
      node: text,
    },
    {
      ...host,
      hostnames: [text],
      mac: text,
      vendor: text,
      method: text,
      os: { family: text, distribution: text, version: text, confidence: 0.9 },
      device_type: text,
      applications: [{ name: text, version: text, role: text }],
      functions: [text],
    },
    port(80, {
      state: text,
      reason: text,
      service: { name: text, ...claim },
      banner: text,
      banner_b64: Buffer.from(text).toString('base64'),
      tls: { version: text, certificate: { subject: text, sans: [text] }, [text]: text },
      fingerprints: [{ match: text, ...claim, source: text, evidence: text }],
      attributes: { http: { title: text, headers: { server: text, [text]: text } } },
    }),
    finding(80, text, 'critical', said),
    finding(81, text, 'low', said),
    finding(null, text, 'info', said),
  ];
}

/** Rows as they come from a record. */
export async function* stream(rows: ResultRow[]): AsyncGenerator<ResultRow> {
  yield* rows;
}

/** A rendering in one piece. */
export async function text(pieces: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}

/** Everything that was ever trouble: formulas, quotes, line breaks of all kinds, controls, half surrogates. */
export function anyText(): fc.Arbitrary<string> {
  const trouble = [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    '"',
    ',',
    ';',
    '\0',
    '\x1b',
    '\x9b',
    '\u2028',
    '\u2029',
  ];
  const more = ['\ud800', '\udc00', '\\', '\\ud800', '\u{1f600}', 'a', ' ', '__proto__', '<script>'];
  return fc.array(fc.constantFrom(...trouble, ...more), { maxLength: 12 }).map((parts) => parts.join(''));
}
