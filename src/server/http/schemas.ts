import { Type } from 'typebox';
import { maxNameLength, maxTagLength, maxTags, maxTargets } from '../../actions/decide-request.ts';
import type { ListedScan } from '../../actions/list-scans.ts';
import { failureCodes, scanStatuses } from '../../domain/scan.ts';

export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const nullableNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] });
export const count = Type.Integer({ minimum: 0 });
export const severityCounts = Type.Object({
  critical: count,
  high: count,
  medium: count,
  low: count,
  info: count,
});
export const warningSchema = Type.Object({
  code: Type.String(),
  message: Type.String(),
  node: Type.Optional(Type.String()),
  target: Type.Optional(Type.String()),
});

export const scanIdParams = Type.Object({ scan_id: Type.String() });

/** The detail of a scan; an item of the list carries the same fields. */
const scanMembers = Type.Object({
  scan_id: Type.String(),
  status: Type.Enum([...scanStatuses]),
  targets: Type.Array(Type.String()),
  targets_total: Type.Optional(count),
  started_at: nullableText,
  completed_at: nullableText,
  results: Type.Object({ live_hosts: count, open_ports: count, vulnerabilities: count }),
  created_at: Type.String({ format: 'date-time' }),
  profile: Type.String(),
  vuln: Type.Boolean(),
  name: nullableText,
  tags: Type.Array(Type.String()),
  pool: Type.String(),
  progress: Type.Object({
    percent: Type.Number({ minimum: 0, maximum: 100 }),
    phase: Type.String(),
    hosts_done: Type.Number(),
    hosts_total: Type.Number(),
    paused: Type.Boolean(),
    rate: Type.Number({ description: 'packets per second now' }),
    eta_seconds: nullableNumber,
    resumes: count,
    shards: Type.Object({ total: count, done: count, running: count }),
  }),
  severity_counts: severityCounts,
  error: Type.Union([
    Type.Null(),
    Type.Object({
      code: Type.Enum(Object.keys(failureCodes) as (keyof typeof failureCodes)[]),
      message: Type.String(),
    }),
  ]),
  warnings: Type.Array(warningSchema),
  notifications: Type.Array(
    Type.Object({ channel: Type.String(), status: Type.String(), attempts: count, error: nullableText }),
  ),
  stages: Type.Array(
    Type.Object({
      instance_id: Type.String(),
      module_type: Type.String(),
      status: Type.Enum(['pending', 'running', 'completed', 'failed', 'skipped']),
      started_at: nullableText,
      completed_at: nullableText,
      items_in: count,
      items_out: count,
      error: nullableText,
    }),
  ),
});

/** Typed as what is answered: the schema's own type knows no optional members that are `undefined`. */
export const scanSchema = Type.Unsafe<ListedScan>(scanMembers);

const text = Type.String({ minLength: 1 });

export const submissionSchema = Type.Object({
  targets: Type.Array(text, {
    minItems: 1,
    maxItems: maxTargets,
    description: 'addresses, CIDR blocks, ranges, host names',
  }),
  profile: Type.Optional(text),
  vuln: Type.Optional(Type.Boolean({ description: 'evaluate vulnerabilities' })),
  notifications: Type.Optional(
    Type.Array(text, { maxItems: 100, description: '<channel_type>://<channel_name>' }),
  ),
  name: Type.Optional(Type.String({ maxLength: maxNameLength })),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: maxTagLength }), { maxItems: maxTags }),
  ),
  ports: Type.Optional(
    Type.Union(
      [text, Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), { minItems: 1, maxItems: 65_535 })],
      {
        description: 'ports in place of those of the profile, e.g. `22,80,8000-8100` or `top-100`',
      },
    ),
  ),
  exclude: Type.Optional(
    Type.Array(text, { maxItems: maxTargets, description: 'targets that are never touched' }),
  ),
  rate: Type.Optional(Type.Integer({ minimum: 1, description: 'packets per second' })),
  dag: Type.Optional(
    Type.String({ minLength: 1, description: 'an installed graph in place of the profile' }),
  ),
  pool: Type.Optional(text),
  options: Type.Optional(
    Type.Object({
      scan_type: Type.Optional(Type.Enum(['syn', 'connect', 'udp', 'auto'])),
      discover: Type.Optional(Type.Boolean({ description: 'false = treat every target as up' })),
      concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
      timeout: Type.Optional(Type.String({ description: 'wait for one answer, e.g. `3s`' })),
      retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
      max_duration: Type.Optional(Type.String({ description: 'longest scan, e.g. `1h30m`' })),
      min_severity: Type.Optional(Type.Enum(['critical', 'high', 'medium', 'low', 'info'])),
      compliance: Type.Optional(Type.Array(Type.Enum(['cis', 'pci', 'nist']))),
      intrusive: Type.Optional(Type.Boolean()),
      fail_fast: Type.Optional(Type.Boolean()),
    }),
  ),
});
