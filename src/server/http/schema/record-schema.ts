import { type TSchema, Type } from 'typebox';
import { findingClasses, severities } from '../../../domain/finding.ts';
import { unidentifiedReasons } from '../../../domain/text/banner.ts';
import { countSchema, nullableText, portCounts, severityCounts } from './schemas.ts';

const confidence = Type.Number({ minimum: 0, maximum: 1 });
const openObject = Type.Object({}, { additionalProperties: true });
const portNumber = Type.Integer({ minimum: 1, maximum: 65_535 });
const protocol = Type.Enum(['tcp', 'udp']);

/** The schema, or null. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

const producerSchema = Type.Object(
  { name: Type.String(), version: Type.String(), sha256: Type.String() },
  {
    title: 'Producer',
    description: 'the plugin that made the record, the latest one of several; absent for builtin modules',
  },
);

const producedMembers = {
  producer: Type.Optional(producerSchema),
  producers: Type.Optional(Type.Array(producerSchema, { description: 'only if there are several' })),
};

const claimMembers = {
  product: nullableText,
  vendor: nullableText,
  version: nullableText,
  cpe: nullableText,
  confidence,
};

export const findingSchema = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    severity: Type.Enum([...severities]),
    cvss: orNull(Type.Object({ version: Type.String(), score: Type.Number(), vector: Type.String() })),
    kev: Type.Boolean(),
    epss: orNull(Type.Object({ score: Type.Number(), percentile: Type.Number() })),
    cpe: nullableText,
    affected: nullableText,
    detected: nullableText,
    confidence,
    backport_note: nullableText,
    affected_from: Type.Optional(orNull(Type.String({ description: 'first affected version, if known' }))),
    fixed_in: Type.Optional(orNull(Type.String({ description: 'first fixed version, if known' }))),
    action: Type.Optional(
      Type.Object(
        {
          key: Type.String({ description: 'equal for findings that one change removes' }),
          text: Type.String({ description: 'imperative, such as Turn off Telnet' }),
          update: Type.Boolean({ description: 'whether installing fixed_in or later removes the finding' }),
        },
        { description: 'what removes the finding; absent in older results' },
      ),
    ),
    class: Type.Enum([...findingClasses], {
      description:
        'confidence of the verdict: certain (shown by the service itself, or an exact version without distribution ' +
        'patches), likely, possible',
    }),
    evidence: Type.String(),
    remediation: Type.String(),
    references: Type.Array(Type.String()),
    plugin: Type.String(),
    ...producedMembers,
  },
  { title: 'Finding', additionalProperties: true },
);

/** Members of a port, in records and in results. */
export const portMembers = {
  port: portNumber,
  protocol,
  state: Type.String(),
  reason: Type.String(),
  unidentified_reason: Type.Optional(
    Type.Enum([...unidentifiedReasons], {
      description:
        'why product and version may be missing: probes ran out of time (timeout, rate, cut), the port was left alone (tarpit, fragile), or nothing came back on a host that accepts every connection (unproven)',
    }),
  ),
  service: orNull(Type.Object({ name: Type.String(), ...claimMembers }, { title: 'Service' })),
  banner: nullableText,
  banner_b64: nullableText,
  truncated: Type.Boolean(),
  tls: orNull(openObject),
  fingerprints: Type.Array(
    Type.Object(
      { match: Type.String(), ...claimMembers, source: Type.String(), evidence: Type.String() },
      { title: 'Fingerprint' },
    ),
  ),
  attributes: openObject,
  ...producedMembers,
};

/** Members of a host, in records and in results. */
export const hostMembers = {
  host: Type.String(),
  hostnames: Type.Array(Type.String()),
  state: Type.String(),
  latency_ms: orNull(Type.Number({ minimum: 0 })),
  mac: nullableText,
  vendor: nullableText,
  method: Type.Optional(Type.String({ description: 'what showed that the host is up' })),
  os: orNull(
    Type.Object(
      { family: Type.String(), distribution: nullableText, version: nullableText, confidence },
      { title: 'OperatingSystem' },
    ),
  ),
  os_evidence: Type.Optional(Type.Array(openObject)),
  device_type: nullableText,
  device_evidence: Type.Optional(Type.Array(openObject)),
  identity: Type.Optional(
    Type.Array(Type.Object({ kind: Type.String(), value: Type.String() }, { title: 'HostIdentity' })),
  ),
  port_counts: orNull(portCounts),
  udp_port_counts: Type.Optional(portCounts),
  port_reasons: Type.Optional(
    Type.Array(
      Type.Object(
        {
          protocol: Type.Enum(['tcp', 'udp']),
          state: Type.Enum(['closed', 'filtered', 'open|filtered']),
          reason: Type.String({
            description: '`rst`, `no-response`, `admin-prohibited`, `host-unreachable` ...',
          }),
          icmp: Type.Optional(
            Type.Object({ type: Type.Integer(), code: Type.Integer() }, { title: 'IcmpMessage' }),
          ),
          from: Type.Optional(Type.String({ description: 'sender of the ICMP error' })),
          count: countSchema,
          ports: Type.Array(Type.Integer(), {
            description: 'all without a row where at most 50 were planned, else up to 50 with an ICMP error',
          }),
        },
        { title: 'PortReason' },
      ),
      { description: 'why ports are not open' },
    ),
  ),
  all_ports_open: Type.Boolean(),
  ...producedMembers,
};

/** Members of a control, in records and in results. */
export const complianceMembers = {
  host: nullableText,
  port: orNull(portNumber),
  framework: Type.String(),
  control: Type.String(),
  title: Type.String(),
  status: Type.Enum(['fail', 'pass', 'not_assessed']),
  description: Type.String(),
  severity: nullableText,
  finding_ids: Type.Array(Type.String()),
  ...producedMembers,
};

/** Members of a value of a plugin, in records and in results. */
export const extraMembers = {
  host: nullableText,
  port: Type.Optional(portNumber),
  protocol: Type.Optional(protocol),
  value: Type.Unknown(),
  ...producedMembers,
};

/** Members of an error, in records and in results. */
export const errorMembers = {
  target: nullableText,
  code: Type.String(),
  message: Type.String(),
  node: nullableText,
};

const timestamp = Type.String({ format: 'date-time' });

/** Sums of a host in a list with `q`, `type` or `sort`. */
const hostTotals = Type.Object(
  {
    open_ports: countSchema,
    services: Type.Array(
      Type.Object(
        { port: portNumber, protocol, service: Type.Optional(Type.String()) },
        { title: 'ListedService' },
      ),
      { description: 'the first eight' },
    ),
    severity_counts: severityCounts,
    hidden_ports: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'open ports without a record: the host accepts connections on nearly every port',
      }),
    ),
  },
  { title: 'HostTotals', description: 'of all its records; only with `q`, `type` or `sort`' },
);

const hostRecord = Type.Object(
  {
    type: Type.Literal('host'),
    timestamp,
    ...hostMembers,
    totals: Type.Optional(hostTotals),
    matching: Type.Optional(
      Type.Object(
        { ports: countSchema, findings: countSchema },
        { description: 'its ports and findings that satisfy `q`' },
      ),
    ),
  },
  { title: 'HostRecord' },
);

const portRecord = Type.Object(
  {
    type: Type.Literal('port'),
    timestamp,
    host: Type.String(),
    ...portMembers,
    totals: Type.Optional(
      Type.Object(
        { severity_counts: severityCounts },
        { title: 'PortTotals', description: 'only with `q`, `type` or `sort`' },
      ),
    ),
  },
  { title: 'PortRecord' },
);

const findingRecord = Type.Object(
  {
    type: Type.Literal('vulnerability'),
    timestamp,
    host: Type.String(),
    port: orNull(portNumber),
    protocol: orNull(protocol),
    vulnerability: findingSchema,
    ports: Type.Optional(
      Type.Array(Type.Object({ port: portNumber, protocol }), {
        description: 'only with `join=ports`: where the host has the same finding',
      }),
    ),
    ...producedMembers,
  },
  { title: 'FindingRecord' },
);

const complianceRecord = Type.Object(
  { type: Type.Literal('compliance'), timestamp, ...complianceMembers },
  { title: 'ComplianceRecord' },
);

const extraRecord = Type.Object(
  { type: Type.Literal('extra'), timestamp, key: Type.String(), ...extraMembers },
  { title: 'ExtraRecord' },
);

const errorRecord = Type.Object(
  { type: Type.Literal('error'), timestamp, host: Type.Null(), ...errorMembers },
  { title: 'ErrorRecord' },
);

export const recordTypes = ['host', 'port', 'vulnerability', 'compliance', 'extra', 'error'] as const;

/** A record of a scan, as in the JSON Lines of its results. */
export const recordSchema = Type.Union(
  [hostRecord, portRecord, findingRecord, complianceRecord, extraRecord, errorRecord],
  { title: 'Record', description: 'as in the JSON Lines of the results; `type` says which one' },
);
