import { Type } from 'typebox';
import type { ListedScan } from '../../../domain/listed-scan.ts';
import type { PacketRate } from '../../../domain/packet-rate.ts';
import {
  defaultPriority,
  discoveryProfiles,
  failureCodes,
  maxPriority,
  type Scan,
  scanStatuses,
} from '../../../domain/scan.ts';
import { maxGraphBytes } from '../../../engine/graph/graph.ts';
import { maxNameLength, maxTagLength, maxTags, maxTargets } from '../../../scan-run/plan/submission.ts';

export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const nullableNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] });
export const countSchema = Type.Integer({ minimum: 0 });

export const packetRateSchema = Type.Unsafe<PacketRate>({
  anyOf: [{ type: 'integer', minimum: 1 }, { const: 'auto' }],
  description:
    'packets per second, at most `scanner.max_rate`; `auto`: 1000 at first, in all and for one host, more while responses keep coming, ' +
    'less where they stay away',
});
export const severityCounts = Type.Object(
  {
    critical: countSchema,
    high: countSchema,
    medium: countSchema,
    low: countSchema,
    info: countSchema,
  },
  { title: 'SeverityCounts' },
);
export const warningSchema = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    node: Type.Optional(Type.String()),
    target: Type.Optional(Type.String()),
  },
  { title: 'Warning' },
);
/** Ports by outcome. */
export const portCounts = Type.Object(
  { open: countSchema, closed: countSchema, filtered: countSchema, not_tried: countSchema },
  { title: 'PortCounts' },
);

export const scanIdParams = Type.Object({
  scan_id: Type.String({ description: 'id of a scan, e.g. `20261006-143022-a1b2c3`' }),
});

const progressSchema = Type.Object(
  {
    percent: Type.Number({ minimum: 0, maximum: 100 }),
    phase: Type.String(),
    hosts_done: Type.Number(),
    hosts_total: Type.Number(),
    paused: Type.Boolean(),
    paused_by: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'ID of the token that paused the scan',
    }),
    paused_at: nullableText,
    interrupted: Type.Boolean({ description: 'running, but no process runs it now' }),
    rate: Type.Number({ description: 'current packets per second' }),
    rate_limit: Type.Number({ description: 'most packets per second now; 0 while no process runs the scan' }),
    eta_seconds: nullableNumber,
    eta_basis: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'what eta_seconds was computed from, in words',
    }),
    tried: Type.Number({ minimum: 0, description: 'ports or hosts that were tried' }),
    not_tried: Type.Number({ minimum: 0, description: 'those that are known and not yet tried' }),
    unit: Type.Enum(['ports', 'hosts'], { description: 'of tried and not_tried' }),
    slowest_stage: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'instance_id of the running stage that the others wait for',
    }),
    finishing: Type.Unsafe<string | null>({
      ...nullableText,
      description: 'what remains once no packets are left to send',
    }),
    resumes: countSchema,
    shards: Type.Object({ total: countSchema, done: countSchema, running: countSchema }),
    rate_history: Type.Optional(
      Type.Object(
        {
          interval_seconds: Type.Number(),
          from: Type.String({ format: 'date-time' }),
          values: Type.Array(Type.Number()),
        },
        { description: 'mean packets per second of successive intervals, at most 240; not in lists' },
      ),
    ),
  },
  { title: 'ScanProgress' },
);

const stageSchema = Type.Object(
  {
    instance_id: Type.String(),
    module_type: Type.String(),
    version: Type.Optional(Type.String({ description: 'of the module; absent in older scans' })),
    status: Type.Enum(['pending', 'running', 'completed', 'failed', 'skipped']),
    started_at: nullableText,
    completed_at: nullableText,
    items_in: countSchema,
    items_out: countSchema,
    depends_on: Type.Array(Type.String(), { description: 'instances that it waits for' }),
    items_in_per_second: Type.Number({ minimum: 0, description: 'mean of the last 5 s' }),
    items_out_per_second: Type.Number({ minimum: 0 }),
    done: Type.Optional(Type.Number({ minimum: 0, description: 'work done, where the total is known' })),
    total: Type.Optional(Type.Number({ minimum: 0 })),
    error: nullableText,
    coverage: Type.Optional(portCounts),
    method: Type.Optional(
      Type.String({
        description: 'how packets were sent: raw frames, raw packets, connections ..., and why',
      }),
    ),
  },
  { title: 'Stage' },
);

const failureSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(failureCodes) as (keyof typeof failureCodes)[]),
    message: Type.String(),
    by: Type.Optional(Type.String({ description: 'ID of the token that canceled the scan' })),
  },
  { title: 'ScanFailure' },
);

/** Fields of details and of list items. */
const scanFields = {
  scan_id: Type.String(),
  status: Type.Enum([...scanStatuses]),
  targets: Type.Array(Type.String()),
  started_at: nullableText,
  completed_at: nullableText,
  results: Type.Object({ live_hosts: countSchema, open_ports: countSchema, vulnerabilities: countSchema }),
  created_at: Type.String({ format: 'date-time' }),
  profile: Type.String(),
  vuln: Type.Boolean(),
  name: nullableText,
  tags: Type.Array(Type.String()),
  pool: Type.String(),
  priority: Type.Integer({ minimum: 0, maximum: maxPriority }),
  progress: progressSchema,
  severity_counts: severityCounts,
};

const scanMembers = Type.Object(
  {
    ...scanFields,
    error: Type.Union([Type.Null(), failureSchema]),
    warnings: Type.Array(warningSchema),
    notifications: Type.Array(
      Type.Object({
        channel: Type.String(),
        status: Type.String(),
        attempts: countSchema,
        error: nullableText,
      }),
    ),
    stages: Type.Array(stageSchema),
  },
  { title: 'Scan' },
);

/** Typed as the response data: the type of the schema does not allow optional members that are `undefined`. */
export const scanSchema = Type.Unsafe<Scan>(scanMembers);

const listedMembers = Type.Object(
  {
    ...scanFields,
    targets: Type.Array(Type.String(), { description: 'the first 10 at most, fewer of long ones' }),
    targets_total: Type.Optional(Type.Integer({ minimum: 0, description: 'if there are more targets' })),
    name: Type.Unsafe<string | null>({ ...nullableText, description: 'ends with … if it is cut' }),
    tags: Type.Array(Type.String(), { description: 'the first ones if they are long' }),
    tags_total: Type.Optional(Type.Integer({ minimum: 0, description: 'if there are more tags' })),
    error: Type.Union([Type.Null(), Type.Object({ code: failureSchema.properties.code })]),
    warnings_total: Type.Integer({ minimum: 0, description: 'the detail has the warnings' }),
  },
  { title: 'ListedScan' },
);

export const listedScanSchema = Type.Unsafe<ListedScan>(listedMembers);

const text = Type.String({ minLength: 1 });

/** Plugins of one scan. */
const maxSentPlugins = 16;

const fileName = Type.String({
  pattern: '^[^/\\\\\\x00-\\x1f]{1,100}$',
  description: 'name of the file',
  examples: ['old_ssh.mjs'],
});

export const sentPluginSchema = Type.Object({
  file: fileName,
  content: Type.String({ minLength: 1, contentEncoding: 'base64', description: 'base64' }),
  signature: Type.Optional(Type.String({ maxLength: 16_384, description: 'text of its `.sig` file' })),
});

export const submissionSchema = Type.Object(
  {
    targets: Type.Array(text, {
      minItems: 1,
      maxItems: maxTargets,
      description:
        'addresses, CIDR blocks, ranges (`192.0.2.10-20`), octets as in nmap (`10.0.0-3.1,7`), host names, names with a prefix length (`host.example/28`)',
    }),
    profile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'see GET /api/v1/profiles; default: `scanner.default_profile`, else `standard`',
      }),
    ),
    vuln: Type.Optional(Type.Boolean({ description: 'evaluate vulnerabilities' })),
    notifications: Type.Optional(
      Type.Array(text, {
        maxItems: 100,
        description: 'channels to notify at the end, `<channel_type>://<channel_name>`',
      }),
    ),
    name: Type.Optional(Type.String({ maxLength: maxNameLength, description: 'label for people' })),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: maxTagLength }), {
        maxItems: maxTags,
        description: 'labels to filter lists by',
      }),
    ),
    ports: Type.Optional(
      Type.Union(
        [text, Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), { minItems: 1, maxItems: 65_535 })],
        {
          description:
            'ports instead of those of the profile, e.g. `22,80,8000-8100`, `top-100`, `ssh,http*`, `60000-`, `[1-1024]` (known ports) or `22,U:53`',
        },
      ),
    ),
    exclude: Type.Optional(Type.Array(text, { maxItems: maxTargets, description: 'targets to exclude' })),
    rate: Type.Optional(packetRateSchema),
    dag: Type.Optional(
      Type.String({ minLength: 1, description: 'an installed graph instead of the profile' }),
    ),
    graph: Type.Optional(
      Type.Object(
        { file: Type.Optional(fileName), text: Type.String({ minLength: 1, maxLength: maxGraphBytes }) },
        { description: 'a graph file for this scan, instead of `dag`; needs the scope `dag:write`' },
      ),
    ),
    plugins: Type.Optional(
      Type.Array(sentPluginSchema, {
        maxItems: maxSentPlugins,
        description:
          'packages or bare files that join the graph of this scan, confined as installed ones are; needs the scope ' +
          '`plugin:manage`',
      }),
    ),
    pool: Type.Optional(Type.String({ minLength: 1, description: 'worker pool' })),
    priority: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxPriority,
        description: `of waiting scans the highest start first; default ${defaultPriority}`,
      }),
    ),
    options: Type.Optional(
      Type.Object({
        scan_type: Type.Optional(
          Type.Enum(['syn', 'connect', 'udp', 'auto'], {
            description: 'probe type; this build supports `connect`, which `auto` selects',
          }),
        ),
        discover: Type.Optional(Type.Boolean({ description: 'false = treat every target as up' })),
        concurrency: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 65_535, description: 'concurrent connections' }),
        ),
        timeout: Type.Optional(Type.String({ description: 'timeout of a probe, e.g. `3s`' })),
        retries: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 10, description: 'retries of a probe without a response' }),
        ),
        max_duration: Type.Optional(
          Type.String({ description: 'maximum duration of the scan, e.g. `1h30m`' }),
        ),
        min_severity: Type.Optional(
          Type.Enum(['critical', 'high', 'medium', 'low', 'info'], {
            description: 'minimum severity of findings',
          }),
        ),
        compliance: Type.Optional(
          Type.Array(Type.Enum(['cis', 'pci', 'nist']), {
            maxItems: 16,
            description: 'compliance frameworks to evaluate',
          }),
        ),
        intrusive: Type.Optional(Type.Boolean({ description: 'allow checks that can disrupt a service' })),
        fail_fast: Type.Optional(
          Type.Boolean({ description: 'stop the scan at the first error of a stage' }),
        ),
        exclude_ports: Type.Optional(
          Type.String({ minLength: 1, description: 'ports to exclude, same syntax as `ports`' }),
        ),
        discover_profile: Type.Optional(
          Type.Enum([...discoveryProfiles], { description: 'discovery method, overrides the graph' }),
        ),
        discovery_timeout: Type.Optional(
          Type.String({ description: 'timeout of a discovery probe, e.g. `2s`' }),
        ),
        discovery_retries: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 10, description: 'retries of a discovery probe' }),
        ),
        fingerprint: Type.Optional(
          Type.Boolean({ description: 'false = only ports: no banners, products and versions' }),
        ),
        max_protocols: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 20,
            description: 'maximum number of services reported per port',
          }),
        ),
        interface: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 15,
            description:
              'interface that packets and connections leave through, instead of `scanner.interface`',
          }),
        ),
        source_ip: Type.Optional(
          Type.String({
            minLength: 2,
            maxLength: 64,
            description:
              'source address of packets and connections, instead of `scanner.source_ip`; one of the machine that scans, else 400',
          }),
        ),
        source_port: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 65_535,
            description: 'source port of raw TCP packets and UDP probes; connections have ports of their own',
          }),
        ),
        disable_plugins: Type.Optional(
          Type.Array(Type.String({ minLength: 3, maxLength: 63 }), {
            maxItems: 100,
            description: 'plugins that do not run in this scan, beside those of `plugins.disabled`',
          }),
        ),
      }),
    ),
  },
  {
    title: 'ScanRequest',
    examples: [
      {
        targets: ['192.0.2.10', '192.0.2.64/28'],
        profile: 'standard',
        ports: '22,80,443',
        name: 'branch office',
      },
    ],
  },
);
