import { severities } from '../domain/finding.ts';
import { interfaceForm, interfacePattern } from '../domain/interface-name.ts';
import { tenantPattern } from '../domain/tenant.ts';
import { freezeTimePattern, windowDaysPattern, windowHoursPattern } from '../domain/time/scan-calendar.ts';

/**
 * The one table of configuration keys. The type `Config`, the environment names, the checks and the texts of
 * `config show` all come from it. Durations are written as text (`30s`) and read as milliseconds, sizes (`20GB`) as
 * bytes.
 */
/** Constraints on a value: of a key, or of a member of an entry. */
export interface ValueForm {
  type: ValueType;
  /** Accepted texts of an `enum`, or of the items of a `string[]`. */
  values?: readonly string[];
  /** Pattern of a `string`, or of every item of a `string[]`; `form` describes it in words. */
  pattern?: RegExp;
  form?: string;
  /** Inclusive bounds of an `int`, or of a `duration` in milliseconds. */
  min?: number;
  max?: number;
  /** A text that an `int` accepts instead of a number. */
  word?: string;
  /** A duration of retention: also `mo` and `y`, and no `m`. */
  retention?: true;
  /** Any duration, and `mo` and `y` too. */
  months?: true;
  /** Line breaks are part of the text. */
  lines?: true;
  /** Never shown, not even in the error about an invalid value. */
  secret?: true;
}

export interface ConfigMember extends Omit<ValueForm, 'type'> {
  type: ValueType | 'group';
  description: string;
  /** The entry is rejected without it. */
  required?: true;
  /** As written in a file; without a default an absent member is null. */
  default?: Written;
  /** Of a `group`: its own members. */
  members?: Members;
}

export type Members = Readonly<Record<string, ConfigMember>>;

/** A value as a file has it. */
type Written = string | number | boolean | readonly string[] | Readonly<Record<string, never>>;

export interface ConfigKey extends Omit<ValueForm, 'type'> {
  path: string;
  type: ConfigKeyType;
  /** As written in a file; `null` = not set. */
  default: Written | null;
  description: string;
  /** The value in the example file where it differs from the default. */
  shipped?: string | number | boolean | readonly string[];
  /** Environment names beside the one derived from the path, highest precedence first. */
  env?: readonly string[];
  /** Accepted and validated, but without effect in this build; a value other than the default causes a warning. */
  inert?: true;
  /** Of `entries` and of a `map`: the members of each entry. */
  members?: Members;
  /** Of `entries`: the member that must be unique. */
  unique?: string;
}

/**
 * `endpoint` = `host:port`; `address` = an IP address; `url` = an absolute http(s) URL; `zone` = an IANA time zone; `cidr[]` =
 * addresses, networks and ranges; `target[]` = the target grammar; `resolver[]` = IP addresses, each with an optional port; `text{}` = a map
 * of texts; `int{}` = a map of whole numbers.
 */
export type ValueType =
  | 'bool'
  | 'int'
  | 'string'
  | 'enum'
  | 'duration'
  | 'size'
  | 'path'
  | 'endpoint'
  | 'address'
  | 'url'
  | 'zone'
  | 'string[]'
  | 'cidr[]'
  | 'target[]'
  | 'resolver[]'
  | 'text{}'
  | 'int{}';

/**
 * `entries` = a list of maps with the same members, `map` = such maps by name, `options` = options of modules by module
 * type, checked where the modules are known.
 */
export type ConfigKeyType = ValueType | 'entries' | 'map' | 'options';

/** Highest packet rate that `scanner.max_rate` accepts, packets per second. */
export const highestRate = 10_000_000;
/** Of webhooks and rules. */
const eventsToSend = {
  type: 'string[]',
  values: ['scan.completed', 'scan.failed', 'scan.changed', 'alert'],
  default: [],
  description: 'events to send; all when empty',
} as const;
/**
 * Metadata services of clouds, IPv4 and IPv6: they hand out credentials, which a scan from a cloud machine would
 * collect.
 */
const metadataServices = ['169.254.169.254/32', 'fd00:ec2::254/128'] as const;

export const auditEvents = [
  'api_access',
  'scan_start',
  'scan_complete',
  'config_change',
  'user_login',
] as const;
const channelName = {
  pattern: /^(?:slack|email|webhook):\/\/\P{Cc}{1,254}$/u,
  form: 'slack://name, email://address or webhook://name',
};
/** Name of a worker pool. */
export const poolPattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** `poolPattern` in words. */
export const poolForm = 'lower-case letters, digits, dashes and underscores, 63 at most';
/** Name of a plugin. */
const pluginPattern = /^[a-z][a-z0-9_-]{2,62}$/;
const publisherFingerprint = {
  pattern: /^[0-9a-f]{64}$/,
  form: 'a fingerprint of 64 hex digits in lower case',
};
const freezeTime = {
  type: 'string',
  pattern: freezeTimePattern,
  form: 'a day such as 2026-12-24, or a time such as 2026-12-24 18:00',
  required: true,
} as const;
const tenantName = {
  pattern: tenantPattern,
  form: 'lower-case letters, digits and dashes, 63 at most, with no dash at the start',
};
const originPattern = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
/** Lower-case host name or address without a port; IPv6 with or without brackets. */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[?[0-9a-f:.]+\]?)$/;
/** Scheme, host, port and path prefix: characters that need no escaping in a header or a message. */
const publicUrlPattern =
  /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9._~-]+)*$/;
/** The longest accepted duration, milliseconds (100 years). */
const century = 100 * 365 * 86_400_000;

/** Inclusive bounds. */
function wholeNumber(min: number, max: number) {
  return { type: 'int', min, max } as const;
}

/** Inclusive bounds, milliseconds. */
function duration(min: number, max: number) {
  return { type: 'duration', min, max } as const;
}

export const configKeys = [
  {
    path: 'workspace.dir',
    type: 'path',
    default: '',
    shipped: '/var/lib/portolan',
    env: ['SERVICE_WORKSPACE_DIR', 'SERVICE_WORKSPACE'],
    description: 'Root directory of the workspace; $XDG_DATA_HOME/portolan when not set.',
  },
  {
    path: 'workspace.enabled',
    type: 'bool',
    default: true,
    description: 'Store scans on disk; false uses a temporary directory, removed when the process exits.',
  },
  {
    path: 'workspace.retention.enabled',
    type: 'bool',
    default: false,
    shipped: true,
    description:
      'Delete finished scans beyond the limits below, every hour and after each scan (server only).',
  },
  {
    path: 'workspace.retention.max_age',
    ...duration(1000, century),
    retention: true,
    default: null,
    shipped: '90d',
    description: 'Delete scans older than this; mo is 30 days, y is 365 days, m is rejected.',
  },
  {
    path: 'workspace.retention.max_scans',
    ...wholeNumber(1, 10_000_000),
    default: null,
    shipped: 5000,
    description: 'Maximum number of stored scans per tenant.',
  },
  {
    path: 'workspace.retention.min_free_space',
    type: 'size',
    default: null,
    shipped: '20GB',
    description:
      'Minimum free disk space: the oldest scans are deleted as long as that can restore it; below it, health is degraded.',
  },
  {
    path: 'workspace.retention.protect',
    ...wholeNumber(0, 10_000_000),
    default: 10,
    description:
      'Newest scans of each tenant that workspace.retention.min_free_space never deletes; scans that ended less than an hour ago are protected too.',
  },
  {
    path: 'workspace.scans.compress',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Compress results.jsonl with gzip when a scan ends.',
  },
  {
    path: 'workspace.scans.keep_artifacts',
    type: 'bool',
    default: true,
    description: 'Store banners and files of a scan in its artifacts directory.',
  },
  {
    path: 'workspace.result_store.url',
    type: 'string',
    pattern:
      /^(?:file:\/\/\/[^\s?#]+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*\/?)$/,
    form: 'file:///directory or s3://bucket/prefix',
    default: null,
    description:
      'Result store for finished scans, shared by all servers of a database: a shared directory (file:///mnt/results) or a bucket of an S3-compatible service.',
  },
  {
    path: 'workspace.result_store.s3.endpoint',
    type: 'url',
    default: null,
    description: 'Base URL of the S3-compatible service; the bucket becomes part of its path.',
  },
  {
    path: 'workspace.result_store.s3.region',
    type: 'string',
    pattern: /^[A-Za-z0-9-]{1,64}$/,
    form: 'letters, digits and dashes',
    default: 'us-east-1',
    description: 'Region used in request signatures.',
  },
  {
    path: 'workspace.result_store.s3.access_key',
    type: 'string',
    default: null,
    description: 'Access key ID that signs requests.',
  },
  {
    path: 'workspace.result_store.s3.secret_key',
    type: 'string',
    default: null,
    secret: true,
    description: 'Secret access key that signs requests.',
  },
  {
    path: 'server.bind',
    type: 'endpoint',
    default: '127.0.0.1:8080',
    shipped: '0.0.0.0:8080',
    description: 'Listen address; port 0 picks a free port.',
  },
  {
    path: 'server.workers',
    ...wholeNumber(1, 1024),
    default: 4,
    description:
      'Number of concurrent scans, within workers.min and workers.max; a map here is read as workers.*.',
  },
  { path: 'server.api.enabled', type: 'bool', default: true, description: 'Serve the REST API.' },
  {
    path: 'server.api.auth',
    type: 'bool',
    default: null,
    shipped: true,
    description: 'Require tokens; when not set: false if bound to loopback, otherwise true.',
  },
  {
    path: 'server.api.rate_limit',
    ...wholeNumber(0, 1_000_000_000),
    default: null,
    shipped: 100,
    description:
      'API requests per minute and token (per client address without a token); unlimited when 0 or not set.',
  },
  {
    path: 'server.ui.enabled',
    type: 'bool',
    default: true,
    description: 'Serve the Web UI, and lead from / to it.',
  },
  {
    path: 'server.ui.path',
    type: 'string',
    pattern: /^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/,
    form: 'a URL path such as /ui',
    default: '/ui',
    description: 'URL path of the Web UI; must not equal or contain /api, /health, /metrics.',
  },
  {
    path: 'server.ui.static_dir',
    type: 'path',
    default: '',
    description:
      'Directory with the files of another UI, served without authentication; symbolic links that lead out of it are not followed. Not set = the Web UI of Portolan.',
  },
  {
    path: 'server.tls.enabled',
    type: 'bool',
    default: false,
    description: 'Serve HTTPS (TLS 1.2 and 1.3) with the certificate below.',
  },
  {
    path: 'server.tls.cert_file',
    type: 'path',
    default: '',
    description: 'PEM file with the certificate and its chain; reread on reload.',
  },
  {
    path: 'server.tls.key_file',
    type: 'path',
    default: '',
    description: 'PEM file with the private key, readable only by the service.',
  },
  {
    path: 'server.cors.enabled',
    type: 'bool',
    default: false,
    description: 'Allow web pages of the origins below to call the API (CORS).',
  },
  {
    path: 'server.cors.origins',
    type: 'string[]',
    pattern: originPattern,
    form: 'an exact origin such as https://console.example.net, in lower case and without a path',
    default: [],
    description: 'Exact origins; no wildcards.',
  },
  {
    path: 'server.allowed_hosts',
    type: 'string[]',
    pattern: hostPattern,
    form: 'a host name or address in lower case, without a port',
    default: [],
    description:
      'Host names under which pages for browsers are served (the bound address and localhost when empty), and the API too when it requires no tokens.',
  },
  {
    path: 'server.public_url',
    type: 'url',
    pattern: publicUrlPattern,
    form: 'a URL such as https://scanner.example.net/portolan, without a slash at its end, a query or a user name',
    default: null,
    description:
      'Public URL of this server, for example behind a reverse proxy: used in links in notifications, Location, Link and the OpenAPI description. Its host counts as allowed, and its origin as same-origin.',
  },
  {
    path: 'server.streams.per_token',
    ...wholeNumber(1, 100_000),
    default: 20,
    description:
      'Open event streams per token (per client address when no tokens are required), REST and gRPC together; more are rejected with 429.',
  },
  {
    path: 'server.streams.total',
    ...wholeNumber(1, 100_000),
    default: 100,
    description: 'Open event streams of all clients; more are rejected with 429.',
  },
  {
    path: 'server.trusted_proxies',
    type: 'cidr[]',
    default: [],
    description: 'Reverse proxies whose X-Forwarded-For header is trusted for the client address.',
  },
  {
    path: 'server.metrics.auth',
    type: 'bool',
    default: false,
    description: 'Require a token with metrics:read for /metrics, even when the API requires none.',
  },
  {
    path: 'server.grpc.enabled',
    type: 'bool',
    default: false,
    description: 'Serve the gRPC API.',
  },
  {
    path: 'server.grpc.bind',
    type: 'endpoint',
    default: '127.0.0.1:9090',
    description: 'Listen address of the gRPC API; tokens, TLS and tenants are those of the REST API.',
  },
  {
    path: 'server.allow_insecure',
    type: 'bool',
    default: false,
    description: 'Allow a non-loopback bind without tokens: every client is served.',
  },
  {
    path: 'server.shutdown_timeout',
    ...duration(100, 3_600_000),
    default: '30s',
    description: 'Maximum drain time on SIGTERM.',
  },
  {
    path: 'queue.max_jobs',
    ...wholeNumber(1, 10_000_000),
    default: 1000,
    description:
      'Maximum number of queued scans and due jobs per tenant; further submissions are rejected with 503.',
  },
  {
    path: 'queue.retention',
    ...duration(1000, century),
    months: true,
    default: '7d',
    description:
      'How long the record of a finished job is kept; its scans stay. The health endpoint counts failed scans for the same time.',
  },
  {
    path: 'queue.url',
    type: 'string',
    default: null,
    secret: true,
    pattern: /^postgres(?:ql)?:\/\/\S+$/,
    form: 'a URL such as postgres://user@host/database',
    description:
      'PostgreSQL database for the store and the queue, required for workers on other hosts; a file in the workspace when not set.',
  },
  {
    path: 'queue.timezone',
    type: 'zone',
    default: 'UTC',
    description: 'IANA time zone of cron schedules.',
  },
  {
    path: 'workers.min',
    ...wholeNumber(0, 1024),
    default: 1,
    shipped: 2,
    description: 'Minimum number of workers.',
  },
  {
    path: 'workers.max',
    ...wholeNumber(1, 1024),
    default: 10,
    description: 'Maximum number of workers; when not set, at least server.workers.',
  },
  {
    path: 'workers.auto_scale',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Scale the number of workers with the queue, between workers.min and workers.max.',
  },
  {
    path: 'workers.lease',
    ...duration(1000, 3_600_000),
    default: '30s',
    description: 'Lease duration: a worker loses its scan when it sends no heartbeat for this long.',
  },
  {
    path: 'workers.heartbeat',
    ...duration(100, 3_600_000),
    default: '10s',
    description: 'Interval between lease renewals.',
  },
  {
    path: 'workers.pools',
    type: 'map',
    pattern: poolPattern,
    form: poolForm,
    members: {
      max: { ...wholeNumber(1, 1024), description: 'maximum number of concurrent scans of the pool' },
      tags: {
        type: 'string[]',
        default: [],
        description: 'tags that a worker needs to take shards of the pool',
      },
    },
    default: null,
    description: 'Worker pools beside default; when not set, a pool exists as soon as it is named.',
  },
  {
    path: 'workers.shard_size',
    ...wholeNumber(1, 1_000_000_000),
    default: 4096,
    description: 'Addresses per shard of a distributed scan; fewer when many ports are probed.',
  },
  {
    path: 'workers.max_attempts',
    ...wholeNumber(1, 1000),
    default: 3,
    description: 'Attempts per shard before it counts as failed.',
  },
  {
    path: 'logging.level',
    type: 'enum',
    values: ['trace', 'debug', 'info', 'warn', 'error'],
    default: 'info',
    env: ['SERVICE_LOG_LEVEL'],
    description: 'Minimum severity that is logged.',
  },
  {
    path: 'logging.format',
    type: 'enum',
    values: ['json', 'text'],
    default: 'text',
    shipped: 'json',
    env: ['SERVICE_LOG_FORMAT'],
    description: 'Format of log lines.',
  },
  {
    path: 'logging.output',
    type: 'enum',
    values: ['stderr', 'stdout', 'file'],
    default: 'stderr',
    shipped: 'file',
    description: 'Log destination; stdout and file only in the server.',
  },
  {
    path: 'logging.file.enabled',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Also write the server log to a file.',
  },
  {
    path: 'logging.file.path',
    type: 'path',
    default: '',
    shipped: '/var/log/portolan/portolan.log',
    description: 'The log file; logs/portolan.log in the workspace when not set.',
  },
  {
    path: 'logging.file.max_size',
    type: 'size',
    default: '100MB',
    min: 1000,
    description: 'Maximum size of the log file before it is rotated.',
  },
  {
    path: 'logging.file.max_backups',
    ...wholeNumber(1, 10_000),
    default: 10,
    description: 'Number of rotated files to keep.',
  },
  {
    path: 'logging.file.max_age',
    ...duration(1000, century),
    retention: true,
    default: '30d',
    description: 'Age at which rotated files are deleted.',
  },
  {
    path: 'logging.audit.enabled',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Write the audit log.',
  },
  {
    path: 'logging.audit.file',
    type: 'path',
    default: '',
    shipped: '/var/log/portolan/audit.log',
    description: 'The audit log; audit/YYYY-MM-DD.jsonl in the workspace when not set.',
  },
  {
    path: 'logging.audit.reads',
    type: 'bool',
    default: false,
    description: 'Record also what the Web UI reads; rejected requests are always recorded.',
  },
  {
    path: 'logging.audit.events',
    type: 'string[]',
    values: auditEvents,
    default: auditEvents,
    description: 'Events to record.',
  },
  {
    path: 'scanner.default_profile',
    type: 'string',
    default: 'standard',
    env: ['SERVICE_PROFILE'],
    description: 'Profile of scans that name none.',
  },
  {
    path: 'scanner.rate',
    ...wholeNumber(1, highestRate),
    word: 'auto',
    default: 'auto',
    shipped: 1000,
    env: ['SERVICE_RATE'],
    description:
      'Packets per second of scans that name no rate; auto = from 1000 up to scanner.max_rate as responses keep coming.',
  },
  {
    path: 'scanner.concurrency',
    ...wholeNumber(1, 65_535),
    default: null,
    shipped: 100,
    env: ['SERVICE_CONCURRENCY'],
    description:
      'Concurrent connections per scan; when not set, from 100 up to 1000 as the machine and the targets bear.',
  },
  {
    path: 'scanner.timeout',
    ...duration(1, 600_000),
    default: '3s',
    env: ['SERVICE_TIMEOUT'],
    description: 'How long a probe waits for a response.',
  },
  {
    path: 'scanner.retries',
    ...wholeNumber(0, 10),
    default: 1,
    description: 'Retries of a probe without a response.',
  },
  {
    path: 'scanner.max_addresses',
    ...wholeNumber(0, Number.MAX_SAFE_INTEGER),
    default: 65_536,
    description: 'Maximum number of addresses per scan; 0 = unlimited.',
  },
  {
    path: 'scanner.max_rate',
    ...wholeNumber(1, highestRate),
    default: 100_000,
    description:
      'Packets per second of all scans of a server together, and the highest rate that a scan may request.',
  },
  {
    path: 'scanner.max_resumes',
    ...wholeNumber(0, 1000),
    default: 3,
    description: 'Consecutive resumes without progress before a scan counts as interrupted.',
  },
  {
    path: 'scanner.interface',
    type: 'string',
    default: null,
    pattern: interfacePattern,
    form: interfaceForm,
    description:
      'Interface that all packets and connections to targets leave through, except to addresses of this machine; chosen by the routing table when not set.',
  },
  {
    path: 'scanner.source_ip',
    type: 'address',
    default: null,
    description:
      'Source address of all packets and connections to targets, one of this machine; targets of the other family are not scanned then. Chosen by the kernel when not set.',
  },
  {
    path: 'scanner.blocklist',
    type: 'target[]',
    default: [],
    description: 'Targets (docs/targets.md) to exclude from every scan.',
  },
  {
    path: 'scanner.windows',
    type: 'entries',
    members: {
      name: { type: 'string', description: 'label for people' },
      days: {
        type: 'string',
        pattern: windowDaysPattern,
        form: 'days such as mon-fri or sat,sun',
        default: 'mon-sun',
        description: 'days on which the hours start',
      },
      hours: {
        type: 'string',
        pattern: windowHoursPattern,
        form: 'hours such as 22:00-06:00',
        required: true,
        description: 'start and end in local time of the zone, may cross midnight; 24:00 is the end of a day',
      },
      zone: { type: 'zone', description: 'IANA time zone; queue.timezone when not set' },
    },
    default: [],
    description:
      'Hours in which the scans of a server may send packets; always when empty. Outside of them, running scans are paused and resume by themselves.',
  },
  {
    path: 'scanner.freeze',
    type: 'entries',
    members: {
      from: { ...freezeTime, description: 'first day, or time' },
      to: { ...freezeTime, description: 'last day, or time' },
      zone: { type: 'zone', description: 'IANA time zone; queue.timezone when not set' },
      reason: { type: 'string', description: 'shown when a scan waits for the end of the freeze' },
    },
    default: [],
    description:
      'Days or times in which the scans of a server send nothing; takes precedence over scanner.windows.',
  },
  {
    path: 'scanner.scope.allow',
    type: 'cidr[]',
    default: [],
    shipped: [
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '127.0.0.0/8',
      '::1/128',
      'fc00::/7',
      'fe80::/10',
    ],
    description: 'Networks and ranges (docs/targets.md) that may be scanned; empty = every unicast address.',
  },
  {
    path: 'scanner.scope.deny',
    type: 'cidr[]',
    default: metadataServices,
    shipped: metadataServices,
    description:
      'Networks and ranges that are never scanned; takes precedence over allow. Setting it replaces the default, the metadata services of clouds.',
  },
  {
    path: 'scanner.scope.protect_self',
    type: 'bool',
    default: false,
    shipped: true,
    description: "Never probe the server's own listeners.",
  },
  {
    path: 'scanner.dns.servers',
    type: 'resolver[]',
    default: [],
    description: 'DNS servers; the system resolver when empty.',
  },
  {
    path: 'scanner.dns.timeout',
    ...duration(1, 600_000),
    default: '5s',
    description: 'Timeout for resolving one name.',
  },
  {
    path: 'engine.fail_fast',
    type: 'bool',
    default: false,
    description: 'Stop the scan at the first error of a node.',
  },
  {
    path: 'engine.stall_timeout',
    ...duration(0, century),
    default: '10m',
    description: 'Fail a node that makes no progress for this long; 0 = never.',
  },
  {
    path: 'engine.global_timeout',
    ...duration(0, century),
    default: '0',
    description: 'Maximum duration of a scan; 0 = unlimited.',
  },
  {
    path: 'engine.max_parallel_nodes',
    ...wholeNumber(1, 1024),
    default: 32,
    description: 'Concurrent nodes per scan.',
  },
  {
    path: 'engine.stream_buffer',
    ...wholeNumber(1, 1_048_576),
    default: 1024,
    description: 'Items buffered in a stream before its producer waits.',
  },
  {
    path: 'fingerprint.cache.auto_sync',
    type: 'bool',
    default: false,
    shipped: true,
    description:
      'Refresh the fingerprints from fingerprint.cache.url (server only); no effect without the URL.',
  },
  {
    path: 'fingerprint.cache.ttl',
    ...duration(60_000, century),
    months: true,
    default: '7d',
    description: 'Maximum age of the fingerprints before they are refreshed.',
  },
  {
    path: 'fingerprint.cache.url',
    type: 'url',
    default: null,
    description: 'URL of additional fingerprint rules; append `#sha256=<64 hex digits>` to pin the file.',
  },
  {
    path: 'fingerprint.rules',
    type: 'string[]',
    default: [],
    description: 'Files with additional fingerprint rules, used in every scan.',
  },
  {
    path: 'vulndb.dir',
    type: 'path',
    default: '',
    description: 'Directory of the vulnerability data; cache/vulndb in the workspace when not set.',
  },
  {
    path: 'vulndb.auto_sync',
    type: 'bool',
    default: false,
    description:
      'Refresh the vulnerability data automatically (server only); otherwise only `vulndb sync` fetches it.',
  },
  {
    path: 'vulndb.ttl',
    ...duration(1000, century),
    months: true,
    default: '24h',
    description: 'Maximum age of the vulnerability data: then it is refreshed, and health is degraded.',
  },
  {
    path: 'vulndb.nvd_url',
    type: 'url',
    default: 'https://services.nvd.nist.gov/rest/json/cves/2.0',
    description: 'URL of the NVD API 2.0; contacted only by sync.',
  },
  {
    path: 'vulndb.kev_url',
    type: 'url',
    default: 'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    description: 'URL of the known exploited vulnerabilities (KEV); contacted only by sync.',
  },
  {
    path: 'vulndb.epss_url',
    type: 'url',
    default: 'https://epss.cyentia.com/epss_scores-current.csv.gz',
    description: 'URL of the exploit prediction scores (EPSS); contacted only by sync.',
  },
  {
    path: 'vulndb.sources',
    type: 'string[]',
    default: [],
    pattern: /^(?:nvd|nvd-files|kev|epss|debian|ubuntu|redhat|alpine)=https?:\/\/[^\s/?#]\S*$/,
    form: 'NAME=URL with NAME of nvd, nvd-files, kev, epss, debian, ubuntu, redhat, alpine',
    description:
      'Mirrors of the sources, `NAME=URL`: files as the publishers have them; contacted only by sync.',
  },
  {
    path: 'vulndb.nvd_api_key',
    type: 'string',
    default: null,
    secret: true,
    description: 'NVD API key, for a higher request rate.',
  },
  {
    path: 'notifications.default_channels',
    type: 'string[]',
    ...channelName,
    default: [],
    description: 'Notification channels of scans that name none.',
  },
  {
    path: 'notifications.slack.webhook_url',
    type: 'url',
    default: null,
    shipped: '${SLACK_WEBHOOK_URL}',
    secret: true,
    description: 'Incoming webhook URL of Slack.',
  },
  {
    path: 'notifications.slack.channel',
    type: 'string',
    default: null,
    shipped: '#security',
    description: 'Channel behind slack://default.',
  },
  {
    path: 'notifications.email.smtp_server',
    type: 'string',
    default: null,
    shipped: 'smtp.example.com',
    description: 'Mail server.',
  },
  {
    path: 'notifications.email.smtp_port',
    ...wholeNumber(1, 65_535),
    default: 587,
    description: 'Port of the mail server: TLS on 465, STARTTLS if offered on others.',
  },
  {
    path: 'notifications.email.from',
    type: 'string',
    default: null,
    shipped: 'scanner@example.com',
    description: 'Sender address; without it no mail is sent.',
  },
  {
    path: 'notifications.email.to',
    type: 'string[]',
    default: [],
    shipped: ['security@example.com'],
    description: 'Recipients behind email://default.',
  },
  {
    path: 'notifications.email.username',
    type: 'string',
    default: null,
    description: 'User name for the mail server.',
  },
  {
    path: 'notifications.email.password',
    type: 'string',
    default: null,
    secret: true,
    description: 'Password for the mail server.',
  },
  {
    path: 'notifications.email.tls',
    type: 'enum',
    values: ['auto', 'required', 'none'],
    default: 'auto',
    description:
      'TLS to the mail server: auto uses it if offered, required fails without it, none sends in the clear.',
  },
  {
    path: 'notifications.webhooks',
    type: 'entries',
    unique: 'name',
    members: {
      name: {
        type: 'string',
        required: true,
        pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/,
        form: 'letters, digits, dots, dashes and underscores, 63 at most',
        description: 'name used in webhook://name',
      },
      url: { type: 'url', required: true, secret: true, description: 'URL that receives the message' },
      secret: { type: 'string', secret: true, description: 'key of the HMAC signature' },
      events: eventsToSend,
      headers: { type: 'text{}', secret: true, default: {}, description: 'additional request headers' },
    },
    default: [],
    description: 'Webhooks that receive JSON messages.',
  },
  {
    path: 'notifications.rules',
    type: 'entries',
    members: {
      channels: {
        type: 'string[]',
        ...channelName,
        default: [],
        description: 'channels that the rule is for; all that no other rule names when empty',
      },
      events: eventsToSend,
      min_severity: {
        type: 'enum',
        values: severities,
        description: 'a completed scan is sent only with findings of this severity or a worse one',
      },
      only_changes: {
        type: 'bool',
        default: false,
        description: 'send new and fixed findings since the baseline, and nothing without them',
      },
    },
    default: [],
    description: 'Rules about which channels get which messages; they also add their channels to every scan.',
  },
  {
    path: 'alerts.file',
    type: 'path',
    default: '',
    env: ['SERVICE_ALERTS'],
    description: 'Alert rules; alerts.yaml beside the configuration file when not set.',
  },
  {
    path: 'alerts.interval',
    ...duration(1000, 86_400_000),
    default: '30s',
    description: 'Interval between evaluations of the alert rules.',
  },
  {
    path: 'cli.hints',
    type: 'bool',
    default: true,
    description: 'A command ends with a line that names the next one, on a terminal only.',
  },
  {
    path: 'multi_tenant.enabled',
    type: 'bool',
    default: false,
    description: 'Isolate tenants: every request names one in X-Tenant-ID.',
  },
  {
    path: 'multi_tenant.default_tenant',
    type: 'string',
    ...tenantName,
    default: null,
    description: 'Tenant of requests that name none; without it they are rejected.',
  },
  {
    path: 'multi_tenant.tenants',
    type: 'string[]',
    ...tenantName,
    default: [],
    description: 'Names of all tenants.',
  },
  {
    path: 'multi_tenant.weights',
    type: 'int{}',
    ...tenantName,
    min: 1,
    max: 100,
    default: {},
    description:
      'Shares of tenants while scans of several wait, such as `{acme: 3}`: three scans of acme run beside one of a tenant without an entry, which counts 1.',
  },
  {
    path: 'license.enforce',
    type: 'bool',
    default: false,
    description: 'Require a license for enterprise features; if false, every feature works.',
  },
  {
    path: 'license.file',
    type: 'path',
    default: '',
    env: ['SERVICE_LICENSE_FILE'],
    description: 'License file; config/license.key in the workspace when not set.',
  },
  {
    path: 'license.public_key',
    type: 'string',
    lines: true,
    default: null,
    description: 'Ed25519 public key that verifies licenses: PEM text or a file.',
  },
  {
    path: 'plugins.list',
    type: 'entries',
    unique: 'name',
    members: {
      name: {
        type: 'string',
        required: true,
        pattern: pluginPattern,
        form: 'a lower-case letter, then letters, digits, dashes and underscores, 3 to 63 in all',
        description: 'name of the plugin',
      },
      type: { type: 'enum', values: ['grpc'], default: 'grpc', description: 'kind' },
      endpoint: { type: 'endpoint', required: true, description: 'address of the plugin' },
      timeout: {
        ...duration(1, 86_400_000),
        default: '30s',
        description: 'timeout of one call',
      },
      batch_size: {
        ...wholeNumber(0, 1_000_000),
        default: 64,
        description: 'hosts per call; 0 = all in one call',
      },
      tls: {
        type: 'group',
        description: 'TLS certificates (PEM files)',
        members: {
          ca_file: { type: 'path', default: '', description: 'certificate authorities of the plugin' },
          cert_file: { type: 'path', default: '', description: 'client certificate' },
          key_file: { type: 'path', default: '', description: 'key of the client certificate' },
        },
      },
    },
    default: [],
    env: ['SERVICE_PLUGINS'],
    description: 'Plugins reached over gRPC; plugins itself may be this list.',
  },
  {
    path: 'plugins.disabled',
    type: 'string[]',
    pattern: pluginPattern,
    form: 'a lower-case letter, then letters, digits, dashes and underscores, 3 to 63 in all',
    default: [],
    description: 'Plugins that run in no scan: their rules are not evaluated, their nodes are skipped.',
  },
  {
    path: 'plugins.require_signature',
    type: 'bool',
    default: false,
    description: 'Install and load only plugins signed by a trusted publisher.',
  },
  {
    path: 'plugins.trusted_publishers',
    type: 'entries',
    unique: 'fingerprint',
    members: {
      fingerprint: {
        type: 'string',
        required: true,
        ...publisherFingerprint,
        description: 'SHA-256 of the public key',
      },
      name: { type: 'string', description: 'name of the publisher' },
      bound: {
        type: 'bool',
        default: false,
        description: 'accept only signatures that cover publisher and expiry, as those of plugin sign do',
      },
    },
    default: [],
    description: 'Publishers whose signatures are trusted.',
  },
  {
    path: 'plugins.revoked_publishers',
    type: 'string[]',
    ...publisherFingerprint,
    default: [],
    description: 'Fingerprints of publishers that are no longer trusted.',
  },
  {
    path: 'plugins.dir',
    type: 'path',
    default: '',
    description: 'Directory of installed plugins; $XDG_DATA_HOME/portolan/plugins when not set.',
  },
  {
    path: 'plugins.manifest_url',
    type: 'url',
    default: null,
    description: 'URL of the signed plugin index.',
  },
  {
    path: 'plugins.allow_unconfined',
    type: 'bool',
    default: false,
    description: 'Run plugins also where the kernel lacks a part of the sandbox.',
  },
  {
    path: 'plugins.limits.memory',
    type: 'size',
    default: '512MB',
    description: 'Maximum memory of a plugin host process; 64 MB for WebAssembly.',
  },
  {
    path: 'plugins.limits.timeout',
    ...duration(100, 86_400_000),
    default: '5m',
    description:
      'Maximum run time of a plugin; waiting for items, for the rate limit and while the scan is paused does not count.',
  },
  {
    path: 'plugins.limits.output',
    type: 'size',
    default: '64MB',
    description: 'Maximum output of a plugin at a time.',
  },
  {
    path: 'plugins.limits.node_items',
    ...wholeNumber(1, 1_000_000_000),
    default: 500_000,
    description: 'Maximum number of items that a node of a plugin publishes; a warning counts the others.',
  },
  {
    path: 'plugins.limits.node_bytes',
    type: 'size',
    default: '128MB',
    description: 'Maximum size of these items as JSON.',
  },
  {
    path: 'plugins.limits.scan_items',
    ...wholeNumber(1, 1_000_000_000),
    default: 1_000_000,
    description: 'Maximum number of items that all plugins of a scan, or of a shard of it, publish.',
  },
  {
    path: 'plugins.limits.scan_bytes',
    type: 'size',
    default: '256MB',
    description: 'Maximum size of these items as JSON.',
  },
  {
    path: 'plugins.limits.threads',
    ...wholeNumber(32, 10_000),
    default: 256,
    description: 'Maximum number of threads of a plugin host process, with a dozen of Node.js.',
  },
  {
    path: 'modules',
    type: 'options',
    default: {},
    description:
      'modules.<module_type>.<option>: default of a module option that neither the graph nor the scan sets.',
  },
] as const satisfies readonly ConfigKey[];

type Key = (typeof configKeys)[number];

/** Value of a module option. */
export type OptionValue = string | number | boolean | (string | number | boolean)[];

type Typed<F> = F extends { type: 'enum'; values: readonly (infer V)[] }
  ? V
  : F extends { type: 'bool' }
    ? boolean
    : F extends { type: 'int' | 'duration' | 'size' }
      ? number | (F extends { word: infer W } ? W : never)
      : F extends { type: 'text{}' | 'int{}' }
        ? Record<string, F extends { type: 'int{}' } ? number : string>
        : F extends { type: `${string}[]` }
          ? string[]
          : F extends { type: 'group'; members: infer M }
            ? ConfigEntry<M>
            : string;

/** One entry: every member has a value, null when it is absent and has no default. */
export type ConfigEntry<M> = {
  -readonly [N in keyof M]: M[N] extends { required: true } | { default: Written } | { type: 'group' }
    ? Typed<M[N]>
    : Typed<M[N]> | null;
};

type Value<K extends Key> =
  | (K extends { type: 'entries'; members: infer M }
      ? ConfigEntry<M>[]
      : K extends { type: 'map'; members: infer M }
        ? Record<string, ConfigEntry<M>>
        : K extends { type: 'options' }
          ? Record<string, Record<string, OptionValue>>
          : Typed<K>)
  | (K['default'] extends null ? null : never);

/** The members of one level: first path segment -> value, or the keys below it. */
type Level<P extends { path: string; value: unknown }> = {
  [S in P['path'] as S extends `${infer Head}.${string}` ? Head : S]: S extends `${infer Head}.${string}`
    ? Level<Below<P, Head>>
    : Extract<P, { path: S }>['value'];
};

type Below<P extends { path: string; value: unknown }, Head extends string> = P extends {
  path: `${Head}.${infer Rest}`;
  value: infer V;
}
  ? { path: Rest; value: V }
  : never;

/** All settings, nested by the names of the contract; durations in milliseconds, sizes in bytes. */
export type Config = Level<{ [K in Key as K['path']]: { path: K['path']; value: Value<K> } }[Key['path']]>;

/** Environment names of a key, highest precedence first. */
export function environmentNames(key: ConfigKey): string[] {
  const byRule = `SERVICE_${key.path.toUpperCase().replaceAll('.', '__')}`;
  if (key.type === 'options') return [`${byRule}__<MODULE_TYPE>__<OPTION>`];
  return [...new Set([...(key.env ?? []), byRule])];
}

/** Keys, and sections that end with a dot, that a reload applies to a running server. */
const reloadable = [
  'logging.',
  'notifications.',
  'alerts.',
  'server.tls.cert_file',
  'server.tls.key_file',
  'server.api.rate_limit',
  'workspace.retention.',
  'scanner.scope.',
  'scanner.blocklist',
  'scanner.windows',
  'scanner.freeze',
  'plugins.disabled',
  'plugins.require_signature',
  'plugins.trusted_publishers',
  'plugins.revoked_publishers',
];

/** Whether a reload applies a new value to a running server. */
export function isReloadable(path: string): boolean {
  return reloadable.some((known) => (known.endsWith('.') ? path.startsWith(known) : path === known));
}
