import type { OperatingSystem } from '../../domain/asset.ts';
import { type Finding, severities } from '../../domain/finding.ts';
import type { PortReason } from '../../domain/port-reasons.ts';
import type {
  ComplianceRow,
  ErrorRow,
  ExtraRow,
  HostRow,
  PortRow,
  ResultRow,
  ServiceSummary,
  SummaryRow,
  VulnerabilityRow,
} from '../../domain/result.ts';
import type { Fingerprint } from '../../domain/service.ts';
import {
  address,
  anything,
  itemsOf,
  mapOf,
  nullable,
  number,
  objectOf,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  text,
  time,
  truth,
  unset,
} from './response-shape.ts';

/** What is read of a row of a record; rows of older versions and rows of a running scan lack members. */

const protocol = oneOf(['tcp', 'udp']);
const counts = unset(mapOf(number));
const producer = objectOf<{ name: string; version: string }>({ name: text, version: text });
const produced = { timestamp: time, producer: unset(producer), producers: optional(itemsOf(producer)) };
const system = objectOf<OperatingSystem>({
  family: text,
  distribution: unset(text),
  version: unset(text),
  confidence: unset(number),
});

const host = objectOf<HostRow>({
  ...produced,
  host: address,
  state: text,
  hostnames: optional(itemsOf(text)),
  latency_ms: unset(number),
  mac: unset(text),
  vendor: unset(text),
  method: unset(text),
  os: unset(system),
  os_evidence: optional(itemsOf(objectOf({}))),
  device_type: unset(text),
  device_evidence: optional(itemsOf(objectOf({}))),
  identity: optional(itemsOf(objectOf<{ kind: string; value: string }>({ kind: text, value: text }))),
  applications: optional(
    itemsOf(
      objectOf<{ name: string; version: string; role: string }>({
        name: text,
        version: unset(text),
        role: unset(text),
      }),
    ),
  ),
  functions: optional(itemsOf(text)),
  port_counts: counts,
  udp_port_counts: counts,
  port_reasons: optional(
    itemsOf(
      objectOf<PortReason>({
        protocol,
        state: text,
        reason: text,
        icmp: optional(objectOf<{ type: number; code: number }>({ type: number, code: number })),
        from: optional(text),
        count: number,
        ports: itemsOf(number),
      }),
    ),
  ),
  all_ports_open: unset(truth),
});

const port = objectOf<PortRow>({
  ...produced,
  host: address,
  port: number,
  protocol,
  state: text,
  reason: text,
  service: unset(
    objectOf<ServiceSummary>({
      name: text,
      product: unset(text),
      vendor: unset(text),
      version: unset(text),
      cpe: unset(text),
      confidence: number,
    }),
  ),
  banner: unset(text),
  banner_b64: unset(text),
  truncated: unset(truth),
  partial: unset(truth),
  tls: unset(objectOf({})),
  fingerprints: optional(
    itemsOf(
      objectOf<Fingerprint>({
        match: text,
        product: unset(text),
        vendor: unset(text),
        version: unset(text),
        cpe: unset(text),
        confidence: number,
        source: text,
        evidence: text,
        rule: unset(text),
        revision: unset(text),
      }),
    ),
  ),
  attributes: unset(objectOf({})),
  unidentified_reason: unset(text),
});

const vulnerability = objectOf<VulnerabilityRow>({
  ...produced,
  host: address,
  port: nullable(number),
  protocol: nullable(protocol),
  vulnerability: objectOf<Finding>({
    id: text,
    title: text,
    severity: oneOf(severities),
    cvss: unset(objectOf<NonNullable<Finding['cvss']>>({ score: number, vector: unset(text) })),
    kev: unset(truth),
    epss: unset(objectOf<NonNullable<Finding['epss']>>({ score: number })),
    cpe: unset(text),
    affected: unset(text),
    detected: unset(text),
    confidence: unset(number),
    backport_note: unset(text),
    class: unset(text),
    evidence: unset(text),
    remediation: unset(text),
    references: optional(itemsOf(text)),
    plugin: unset(text),
  }),
});

const compliance = objectOf<ComplianceRow>({
  ...produced,
  host: nullable(address),
  port: nullable(number),
  framework: text,
  control: text,
  title: text,
  status: oneOf(['fail', 'pass', 'not_assessed']),
  description: unset(text),
});

const rows: Record<ResultRow['type'], Shape> = {
  host,
  port,
  vulnerability,
  compliance,
  extra: objectOf<ExtraRow>({ ...produced, host: unset(text), key: text, value: anything }),
  error: objectOf<ErrorRow>({ target: unset(text), code: text, message: text, node: unset(text) }),
  summary: objectOf<SummaryRow>({
    timestamp: time,
    status: text,
    partial: truth,
    live_hosts: number,
    open_ports: number,
    vulnerabilities: number,
    addresses_scanned: number,
    duration_seconds: number,
    severity_counts: unset(mapOf(number)),
    unidentified: counts,
    coverage: counts,
  }),
};

const ofType = objectOf<{ type: string }>({ type: oneOf(Object.keys(rows)) });

/** A row of a record. */
export const rowShape: ShapeOf<ResultRow> = (value, place) =>
  ofType(value, place) ?? rows[(value as ResultRow).type](value, place);
