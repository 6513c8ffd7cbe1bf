import { classOf } from '../../domain/finding.ts';
import {
  type ComplianceRow,
  type ErrorRow,
  type HostRow,
  type PortRow,
  type ResultRow,
  respondingPort,
  type VulnerabilityRow,
} from '../../domain/result.ts';

/**
 * JSON on one line, valid for every strict parser: U+2028 and U+2029 escaped, lone surrogates (which have no UTF-8
 * form, and whose `\udXXX` escapes many parsers reject) replaced by U+FFFD.
 * @param indent blanks per level; without it no line breaks
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  if (!/[\u2028\u2029]|\\ud/.test(text)) return text;
  // Match every escape as a whole, so that the `\\` of `\\ud800` (a backslash, then letters) stays unchanged.
  return text
    .replace(/\\(?:ud[0-9a-f]{3}|.)/g, (escape) => (escape.length > 2 ? '\ufffd' : escape))
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** A row as its line of the record, without the line break; the fields of its identity come first. */
export function rowLine(row: ResultRow): string {
  const { type, timestamp, host } = row;
  if (row.type !== 'port') return jsonText(Object.assign({ type, timestamp, host }, row));
  const { port, protocol } = row;
  return jsonText(Object.assign({ type, timestamp, host, port, protocol }, row));
}

/** Null for a damaged line. */
export function parseRow(line: string): ResultRow | null {
  try {
    return JSON.parse(line) as ResultRow;
  } catch {
    return null;
  }
}

const rowTypes = new Set<unknown>([
  'host',
  'port',
  'vulnerability',
  'compliance',
  'extra',
  'error',
  'summary',
]);

/** Whether a row from damaged bytes has at least the shape its readers rely on. */
export function isPlausibleRow(row: ResultRow): boolean {
  if (typeof row !== 'object' || row === null || !rowTypes.has(row.type)) return false;
  if (typeof row.timestamp !== 'string') return false;
  if (row.type === 'host') return typeof row.host === 'string';
  if (row.type === 'port') return typeof row.host === 'string' && Number.isInteger(row.port);
  if (row.type === 'vulnerability')
    return typeof row.host === 'string' && typeof row.vulnerability?.id === 'string';
  if (row.type === 'extra') return typeof row.key === 'string';
  return true;
}

/** The row with every field of its kind in the API response; absent ones as null, false or empty. */
export function completeRow<R extends ResultRow>(row: R): R;
export function completeRow(row: ResultRow): ResultRow {
  switch (row.type) {
    case 'host':
      return completeHost(row);
    case 'port':
      return completePort(row);
    case 'vulnerability':
      return completeVulnerability(row);
    case 'compliance':
      return completeCompliance(row);
    case 'error':
      return completeError(row);
    default:
      return row;
  }
}

function completeHost(row: HostRow): HostRow {
  const { type, timestamp, host, hostnames, state, ...others } = row;
  return {
    type,
    timestamp,
    host,
    hostnames: hostnames ?? [],
    state: state ?? 'up',
    ...withDefaults(others, {
      latency_ms: null,
      mac: null,
      vendor: null,
      os: null,
      device_type: null,
      port_counts: null,
      all_ports_open: false,
    }),
  } as HostRow;
}

function completePort(row: PortRow): PortRow {
  const { type, timestamp, host, port, protocol, state, reason, unidentified_reason, ...others } = row;
  const responding = respondingPort(row);
  return {
    type,
    timestamp,
    host,
    port,
    protocol,
    state: state ?? responding.state,
    reason: reason ?? responding.reason,
    ...(unidentified_reason ? { unidentified_reason } : {}),
    ...withDefaults(others, {
      service: null,
      banner: null,
      banner_b64: null,
      truncated: false,
      tls: null,
      fingerprints: [],
      attributes: {},
    }),
  } as PortRow;
}

function completeVulnerability(row: VulnerabilityRow): VulnerabilityRow {
  const { type, timestamp, host, port, protocol, vulnerability, ...others } = row;
  const { id, title, severity, ...finding } = vulnerability;
  return {
    type,
    timestamp,
    host,
    port: port ?? null,
    protocol: protocol ?? null,
    vulnerability: {
      id,
      title: title ?? id,
      severity,
      ...withDefaults(finding, {
        cvss: null,
        kev: false,
        epss: null,
        cpe: null,
        affected: null,
        detected: null,
        confidence: 0,
        backport_note: null,
        class: classOf(finding),
        evidence: '',
        remediation: '',
        references: [],
        plugin: '',
      }),
    } as VulnerabilityRow['vulnerability'],
    ...others,
  };
}

function completeCompliance(row: ComplianceRow): ComplianceRow {
  const { type, timestamp, host, port, framework, control, title, ...others } = row;
  const { status, description, severity, finding_ids, ...further } = others;
  return {
    type,
    timestamp,
    host: host ?? null,
    port: port ?? null,
    framework,
    control,
    title: title ?? '',
    status,
    description: description ?? '',
    severity: severity ?? null,
    finding_ids: finding_ids ?? [],
    ...further,
  };
}

function completeError(row: ErrorRow): ErrorRow {
  const { type, timestamp, host, target, code, message, node, ...others } = row;
  return { type, timestamp, host, target: target ?? null, code, message, node: node ?? null, ...others };
}

function withDefaults(fields: object, defaults: Record<string, unknown>): Record<string, unknown> {
  const complete: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) complete[name] = value;
  }
  return complete;
}
