import { systemText } from '../asset.ts';
import { classOf } from '../finding.ts';
import { countsAs } from '../finding-order.ts';
import { producersOf } from '../producer.ts';
import type {
  ComplianceRow,
  ErrorRow,
  ExtraRow,
  HostRow,
  PortRow,
  ServiceSummary,
  VulnerabilityRow,
} from '../result.ts';
import { type KeyedVersionScheme, schemeOf } from '../version-order.ts';
import { keyedVersionSchemes } from './compare-values.ts';
import { emptyRow, type IndexedRow, type RecordType } from './indexed-row.ts';

/** Characters of a banner and of an extra value that queries see. */
const maxBannerText = 4096;
/** Characters of every other text that queries see. */
const maxFieldText = 1024;
/** Texts of a list that queries see. */
const maxFieldTexts = 200;

/** One tuple. A port without its host row, or a finding without its port row, still has their address and number. */
export function indexedRow(
  host: HostRow | null,
  port: PortRow | null,
  finding: VulnerabilityRow | null,
): IndexedRow {
  const type: RecordType[] = [];
  if (host) type.push('host');
  if (port) type.push('port');
  if (finding) type.push('vulnerability');
  return {
    ...emptyRow,
    ...(host && hostFields(host)),
    host: text((host ?? port ?? finding)?.host),
    ...(port && portFields(port)),
    ...(finding && findingFields(finding)),
    port: (port ?? finding)?.port ?? null,
    protocol: (port ?? finding)?.protocol ?? null,
    seen: text((finding ?? port ?? host)?.timestamp),
    type,
  };
}

/** Records that together satisfy a query, or do not. */
export interface RecordTuple {
  host: HostRow | null;
  port: PortRow | null;
  finding: VulnerabilityRow | null;
}

/**
 * The tuples of one host: one for each finding with its port, for each port without findings, for each finding without
 * a port; one for the host itself if there are none of these.
 */
export function* recordTuples(
  host: HostRow | null,
  ports: readonly PortRow[],
  findings: readonly VulnerabilityRow[],
): Generator<RecordTuple> {
  const byPort = Map.groupBy(findings, endpointOf);
  for (const port of ports) {
    const own = byPort.get(endpointOf(port)) ?? [];
    byPort.delete(endpointOf(port));
    if (own.length === 0) yield { host, port, finding: null };
    for (const finding of own) yield { host, port, finding };
  }
  for (const others of byPort.values()) for (const finding of others) yield { host, port: null, finding };
  if (host && ports.length === 0 && findings.length === 0) yield { host, port: null, finding: null };
}

/** The same, flat. */
export function* indexedRows(
  host: HostRow | null,
  ports: readonly PortRow[],
  findings: readonly VulnerabilityRow[],
): Generator<IndexedRow> {
  for (const tuple of recordTuples(host, ports, findings))
    yield indexedRow(tuple.host, tuple.port, tuple.finding);
}

function endpointOf({ port, protocol }: { port: number | null; protocol: string | null }): string {
  return `${port} ${protocol}`;
}

/** Compliance, extra and error rows: their ID in `id`, what they say in `finding` and `banner`. */
export function indexedRemainder(row: ComplianceRow | ExtraRow | ErrorRow): IndexedRow {
  const common = { ...emptyRow, host: text(row.host), seen: row.timestamp, type: [row.type] };
  switch (row.type) {
    case 'compliance':
      return {
        ...common,
        port: row.port,
        id: text(`${row.framework} ${row.control}`),
        finding: text(row.title),
        severity: row.severity,
        state: row.status,
        detected: text(row.description),
      };
    case 'extra':
      return {
        ...common,
        port: row.port ?? null,
        protocol: row.protocol ?? null,
        id: text(row.key),
        banner: text(JSON.stringify(row.value), maxBannerText),
        plugin: texts(producersOf(row).map(({ name }) => name)),
      };
    case 'error':
      return {
        ...common,
        host: text(row.target),
        id: row.code,
        finding: text(row.message),
        plugin: texts([row.node]),
      };
  }
}

function hostFields({ hostnames = [], os, device_type, mac, vendor }: HostRow): Partial<IndexedRow> {
  return {
    name: texts(hostnames),
    os: os ? text(systemText(os)) : null,
    device: device_type === 'unknown' ? null : text(device_type),
    mac: texts([mac, vendor]),
  };
}

function portFields({ state, reason, service, banner, tls, attributes }: PortRow): Partial<IndexedRow> {
  return {
    state: text(state),
    reason: text(reason),
    ...(service && serviceFields(service)),
    banner: text(banner, maxBannerText),
    title: text(titleOf(attributes)),
    tls: tlsTexts(objectOf(tls)),
    certificate: [
      ...certificateTexts(objectOf(tls?.['certificate'])),
      ...sitesOf(attributes).flatMap((site) =>
        certificateTexts(objectOf(objectOf(site['tls'])['certificate'])),
      ),
    ],
  };
}

/** The titles of a port and its further sites. */
function titleOf(attributes: PortRow['attributes']): string | null {
  const pages = [attributes?.['http'], ...sitesOf(attributes).map((site) => site['http'])];
  const titles = pages.map((page) => objectOf(page)['title']).filter((title) => typeof title === 'string');
  return titles.length === 0 ? null : [...new Set(titles)].join(' | ');
}

/** The further sites of a port. */
function sitesOf(attributes: PortRow['attributes']): Record<string, unknown>[] {
  const sites = attributes?.['sites'];
  return Array.isArray(sites) ? sites.map(objectOf) : [];
}

function serviceFields({ name, product, vendor, version, cpe }: ServiceSummary): Partial<IndexedRow> {
  return {
    service: text(name),
    product: text(product),
    vendor: text(vendor),
    version: text(version),
    cpe: text(cpe),
    version_scheme: keyedScheme(cpe),
  };
}

/** The scheme of the product if it has a key, else its versions compare as dotted ones. */
function keyedScheme(cpe: string | null): KeyedVersionScheme {
  const [, , , vendor = '', product = ''] = (cpe ?? '').toLowerCase().split(':', 5);
  const scheme = schemeOf(vendor, product);
  return keyedVersionSchemes.find((keyed) => keyed === scheme) ?? 'dotted';
}

/** Versions, cipher suite, application protocols. */
function tlsTexts({ version, versions, cipher, alpn, alpn_protocols }: Record<string, unknown>): string[] {
  return texts([version, ...listOf(versions), cipher, alpn, ...listOf(alpn_protocols)]);
}

function certificateTexts({ subject, issuer, sans }: Record<string, unknown>): string[] {
  return texts([subject, issuer, ...listOf(sans)]);
}

function findingFields({ vulnerability: finding, ...row }: VulnerabilityRow): Partial<IndexedRow> {
  const { id, title, severity, cvss, epss, kev, action, plugin, detected } = finding;
  return {
    id: text(id),
    finding: text(title),
    severity: severity ? countsAs(finding) : null,
    class: classOf(finding),
    cvss: cvss?.score ?? null,
    epss: epss?.score ?? null,
    kev: kev === true,
    action: texts([action?.text, action?.key]),
    plugin: texts([plugin, ...producersOf(row).map(({ name }) => name)]),
    detected: text(detected),
  };
}

/** Null for what is no text, and for an empty one. */
function text(value: unknown, longest = maxFieldText): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.length > longest ? value.slice(0, longest).toWellFormed() : value;
}

/** Deduplicated. */
function texts(values: readonly unknown[]): string[] {
  const found = values.slice(0, maxFieldTexts).map((value) => text(value));
  return [...new Set(found.filter((value) => value !== null))];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
