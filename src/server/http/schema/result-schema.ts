import { Type } from 'typebox';
import { scanStatuses } from '../../../domain/scan.ts';
import { enveloped } from './envelope.ts';
import {
  complianceMembers,
  errorMembers,
  extraMembers,
  findingSchema,
  hostMembers,
  portMembers,
} from './record-schema.ts';
import { countSchema, severityCounts, warningSchema } from './schemas.ts';

const openObject = Type.Object({}, { additionalProperties: true });

const portSchema = Type.Object(
  { ...portMembers, vulnerabilities: Type.Array(findingSchema) },
  { title: 'ResultPort' },
);

const hostSchema = Type.Object(
  { ...hostMembers, ports: Type.Array(portSchema), vulnerabilities: Type.Array(findingSchema) },
  { title: 'ResultHost' },
);

const complianceSchema = Type.Object(complianceMembers, { title: 'ResultControl' });
const extraSchema = Type.Object(extraMembers, { title: 'ResultExtra' });

const resultSchema = Type.Object(
  {
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
          {
            timeout: countSchema,
            rate: countSchema,
            cut: countSchema,
            tarpit: Type.Optional(countSchema),
            unproven: Type.Optional(countSchema),
            fragile: Type.Optional(countSchema),
          },
          { description: 'ports whose service is not identified for a reason; only for ended scans' },
        ),
      ),
      ports: Type.Optional(
        Type.Object(
          { tcp: Type.Optional(Type.String()), udp: Type.Optional(Type.String()) },
          { description: 'ports that were looked for on each host, as ranges; only for ended scans' },
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
    errors: Type.Array(Type.Object(errorMembers, { title: 'ResultError' })),
    warnings: Type.Array(warningSchema),
  },
  { title: 'ScanResults' },
);

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
