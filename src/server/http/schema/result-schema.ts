import { type TSchema, Type } from 'typebox';
import { findingClasses, severities } from '../../../domain/finding.ts';
import { scanStatuses } from '../../../domain/scan.ts';
import { unidentifiedReasons } from '../../../domain/text/banner.ts';
import { enveloped } from './envelope.ts';
import { countSchema, nullableText, severityCounts, warningSchema } from './schemas.ts';

const confidence = Type.Number({ minimum: 0, maximum: 1 });
const openObject = Type.Object({}, { additionalProperties: true });

function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

const producerSchema = Type.Object(
  { name: Type.String(), version: Type.String(), sha256: Type.String() },
  { description: 'the plugin that made the record, the latest one of several; absent for builtin modules' },
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

const findingSchema = Type.Object(
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
  { additionalProperties: true },
);

const portSchema = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  protocol: Type.Enum(['tcp', 'udp']),
  state: Type.String(),
  reason: Type.String(),
  unidentified_reason: Type.Optional(
    Type.Enum([...unidentifiedReasons], {
      description: 'set if probes ran out of time: product and version may be missing',
    }),
  ),
  service: orNull(Type.Object({ name: Type.String(), ...claimMembers })),
  banner: nullableText,
  banner_b64: nullableText,
  truncated: Type.Boolean(),
  tls: orNull(openObject),
  fingerprints: Type.Array(
    Type.Object({ match: Type.String(), ...claimMembers, source: Type.String(), evidence: Type.String() }),
  ),
  attributes: openObject,
  vulnerabilities: Type.Array(findingSchema),
  ...producedMembers,
});

const portFigures = Type.Object({
  open: countSchema,
  closed: countSchema,
  filtered: countSchema,
  not_tried: countSchema,
});

const hostSchema = Type.Object({
  host: Type.String(),
  hostnames: Type.Array(Type.String()),
  state: Type.String(),
  latency_ms: orNull(Type.Number({ minimum: 0 })),
  mac: nullableText,
  vendor: nullableText,
  os: orNull(
    Type.Object({ family: Type.String(), distribution: nullableText, version: nullableText, confidence }),
  ),
  os_evidence: Type.Optional(Type.Array(openObject)),
  device_type: nullableText,
  device_evidence: Type.Optional(Type.Array(openObject)),
  identity: Type.Optional(Type.Array(Type.Object({ kind: Type.String(), value: Type.String() }))),
  port_counts: orNull(portFigures),
  udp_port_counts: Type.Optional(portFigures),
  all_ports_open: Type.Boolean(),
  ports: Type.Array(portSchema),
  vulnerabilities: Type.Array(findingSchema),
  ...producedMembers,
});

const complianceSchema = Type.Object({
  host: nullableText,
  port: orNull(Type.Integer({ minimum: 1, maximum: 65_535 })),
  framework: Type.String(),
  control: Type.String(),
  title: Type.String(),
  status: Type.Enum(['fail', 'pass', 'not_assessed']),
  description: Type.String(),
  severity: nullableText,
  finding_ids: Type.Array(Type.String()),
  ...producedMembers,
});

const extraSchema = Type.Object({
  host: nullableText,
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  protocol: Type.Optional(Type.Enum(['tcp', 'udp'])),
  value: Type.Unknown(),
  ...producedMembers,
});

const resultSchema = Type.Object({
  scan_id: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  status: Type.Enum([...scanStatuses]),
  partial: Type.Boolean(),
  targets: Type.Array(Type.String()),
  summary: Type.Object({
    live_hosts: countSchema,
    open_ports: countSchema,
    vulnerabilities: countSchema,
    addresses_scanned: countSchema,
    excluded: countSchema,
    severity_counts: severityCounts,
    duration_seconds: Type.Number({ minimum: 0 }),
    catalogue_version: Type.String(),
    damaged: Type.Optional(Type.Boolean({ description: 'rows were lost before the record was finished' })),
    unidentified: Type.Optional(
      Type.Object(
        { timeout: countSchema, rate: countSchema, cut: countSchema },
        { description: 'ports whose probes ran out of time, by reason; only for ended scans' },
      ),
    ),
    coverage: Type.Optional(
      Type.Object({
        planned: countSchema,
        open: countSchema,
        closed: countSchema,
        filtered: countSchema,
        not_tried: countSchema,
      }),
    ),
  }),
  results: Type.Array(hostSchema),
  compliance: Type.Array(complianceSchema),
  extra: Type.Optional(
    Type.Record(Type.String(), Type.Array(extraSchema), {
      description: 'values under keys of plugins, by key; absent without any',
    }),
  ),
  errors: Type.Array(
    Type.Object({ target: nullableText, code: Type.String(), message: Type.String(), node: nullableText }),
  ),
  warnings: Type.Array(warningSchema),
});

/** The three download formats, for the description only: downloads are streamed. */
export const resultFiles = {
  description: 'The results so far',
  content: {
    'application/json': { schema: enveloped(resultSchema) },
    'application/x-ndjson': { schema: Type.String({ description: 'one record per line, the summary last' }) },
    'text/csv': { schema: Type.String({ description: 'RFC 4180 with header, one row per port' }) },
  },
};

const markup = (description: string) => ({ schema: Type.String({ description }) });

/** The export formats. */
export const exportFiles = {
  description: 'The scan, or the results so far of an unfinished one',
  content: {
    ...resultFiles.content,
    'text/html': markup('a self-contained report without scripts'),
    'application/pdf': { schema: Type.String({ contentMediaType: 'application/pdf' }) },
    'text/markdown': markup('a report as the body of a ticket'),
    'application/xml': markup('the XML output format of nmap, 1.05'),
    'application/sarif+json': { schema: openObject },
    'application/gzip': { schema: Type.String({ contentMediaType: 'application/gzip' }) },
  },
};
