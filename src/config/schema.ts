import { freezeTimePattern, windowDaysPattern, windowHoursPattern } from '../domain/scan-calendar.ts';
import { tenantPattern } from '../domain/tenant.ts';

/**
 * The one table of configuration keys. The type `Config`, the environment names, the checks and the texts of
 * `config show` all come from it. Durations are written as text (`30s`) and read as milliseconds, sizes (`20GB`) as
 * bytes.
 */
/** What a value must be: that of a key, or of a member of an entry. */
export interface ValueForm {
  type: ValueType;
  /** Accepted texts of an `enum`, or of the items of a `string[]`. */
  values?: readonly string[];
  /** What a `string`, or every item of a `string[]`, must look like; `form` says it in words. */
  pattern?: RegExp;
  form?: string;
  /** Inclusive bounds of an `int`, or of a `duration` in milliseconds. */
  min?: number;
  max?: number;
  /** A duration of retention: also `mo` and `y`, and no `m`. */
  retention?: true;
  /** Any duration, and `mo` and `y` too. */
  months?: true;
  /** Line breaks are part of the text. */
  lines?: true;
  /** Never shown, not even when it is wrong. */
  secret?: true;
}

export interface ConfigMember extends Omit<ValueForm, 'type'> {
  type: ValueType | 'group';
  description: string;
  /** The entry is refused without it. */
  required?: true;
  /** As written in a file; without one the member is null when it is not given. */
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
  /** The value in the example file where it is another one than the default. */
  shipped?: string | number | boolean | readonly string[];
  /** Environment names beside the one that follows from the path, the strongest first. */
  env?: readonly string[];
  /** Accepted and checked, but nothing in this build acts on it yet; a value other than the default is warned about. */
  inert?: true;
  /** Of `entries` and of a `map`: what each entry holds. */
  members?: Members;
  /** Of `entries`: the member in which no two may be equal. */
  unique?: string;
}

/**
 * `endpoint` = `host:port`; `address` = an IP address; `url` = an absolute http(s) URL; `zone` = an IANA time zone; `cidr[]` = addresses and
 * networks; `target[]` = the target grammar; `resolver[]` = IP addresses, each with an optional port; `text{}` = a map
 * of texts.
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
  | 'text{}';

/**
 * `entries` = a list of maps with the same members, `map` = such maps by name, `options` = options of modules by module
 * type, checked where the modules are known.
 */
export type ConfigKeyType = ValueType | 'entries' | 'map' | 'options';

/** Highest packet rate that `scanner.max_rate` accepts, packets per second. */
export const highestRate = 10_000_000;
/** Names of events that a webhook can ask for. */
const notificationEvents = ['scan.completed', 'scan.failed', 'alert'] as const;
/** Names of audit events (`logging.audit.events`). */
/**
 * Addresses at which clouds hand their machines credentials, IPv4 and IPv6. A scan from a machine in a cloud would
 * collect them.
 */
const metadataServices = ['169.254.169.254/32', 'fd00:ec2::254/128'] as const;

export const auditEvents = [
  'api_access',
  'scan_start',
  'scan_complete',
  'config_change',
  'user_login',
] as const;
/** What a pool of workers may be called. */
export const poolPattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** The same in words. */
export const poolForm = 'lower-case letters, digits, dashes and underscores, 63 at most';
/** What a plugin may be called. */
const pluginPattern = /^[a-z][a-z0-9_-]{2,62}$/;
const fingerprintPattern = /^[0-9a-f]{64}$/;
const fingerprintForm = 'a fingerprint of 64 hex digits in lower case';
const freezeTimeForm = 'a day such as 2026-12-24, or a time such as 2026-12-24 18:00';
const tenantForm = 'lower-case letters, digits and dashes, 63 at most, with no dash at the start';
const originPattern = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
/** A host name or an address in brackets or not, in lower case, without a port. */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[?[0-9a-f:.]+\]?)$/;
/** Scheme, host, port and path prefix: nothing that would have to be escaped in a header or a message. */
const publicUrlPattern =
  /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9._~-]+)*$/;
/** The longest accepted duration, milliseconds (100 years). */
const century = 100 * 365 * 86_400_000;

export const configKeys = [
  {
    path: 'workspace.dir',
    type: 'path',
    default: '',
    shipped: '/var/lib/portolan',
    env: ['SERVICE_WORKSPACE_DIR', 'SERVICE_WORKSPACE'],
    description: 'Root of the workspace; $XDG_DATA_HOME/portolan when not set.',
  },
  {
    path: 'workspace.enabled',
    type: 'bool',
    default: true,
    description: 'Keep scans on disk; false keeps them in a temporary directory until the process ends.',
  },
  {
    path: 'workspace.retention.enabled',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'The server deletes finished scans beyond the caps below, every hour and after each scan.',
  },
  {
    path: 'workspace.retention.max_age',
    type: 'duration',
    retention: true,
    default: null,
    shipped: '90d',
    min: 1000,
    max: century,
    description: 'Oldest kept scan; mo is 30 days, y is 365, m is refused.',
  },
  {
    path: 'workspace.retention.max_scans',
    type: 'int',
    default: null,
    shipped: 5000,
    min: 1,
    max: 10_000_000,
    description: 'Most kept scans, of each tenant.',
  },
  {
    path: 'workspace.retention.min_free_space',
    type: 'size',
    default: null,
    shipped: '20GB',
    description:
      'Free disk to keep; the oldest scans give way as long as that can reach it, and below it health is degraded.',
  },
  {
    path: 'workspace.retention.protect',
    type: 'int',
    default: 10,
    min: 0,
    max: 10_000_000,
    description:
      'Newest scans of each tenant that workspace.retention.min_free_space never takes; nor does it take one that ended less than an hour ago.',
  },
  {
    path: 'workspace.scans.compress',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Compress results.jsonl with gzip when a scan has ended.',
  },
  {
    path: 'workspace.scans.keep_artifacts',
    type: 'bool',
    default: true,
    description: 'Keep banners and files of a scan under its artifacts folder.',
  },
  {
    path: 'workspace.result_store.url',
    type: 'string',
    pattern:
      /^(?:file:\/\/\/[^\s?#]+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*\/?)$/,
    form: 'file:///directory or s3://bucket/prefix',
    default: null,
    description:
      'Where finished scans are kept beside the workspace, for all servers of a database: a shared directory (file:///mnt/results) or a bucket of an S3-compatible service.',
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
    description: 'Region that requests are signed for.',
  },
  {
    path: 'workspace.result_store.s3.access_key',
    type: 'string',
    default: null,
    description: 'Id of the key that requests are signed with.',
  },
  {
    path: 'workspace.result_store.s3.secret_key',
    type: 'string',
    default: null,
    secret: true,
    description: 'The key itself.',
  },
  {
    path: 'server.bind',
    type: 'endpoint',
    default: '127.0.0.1:8080',
    shipped: '0.0.0.0:8080',
    description: 'Listen address; port 0 takes any free port.',
  },
  {
    path: 'server.workers',
    type: 'int',
    default: 4,
    min: 1,
    max: 1024,
    description:
      'Scans that run at the same time, within workers.min and workers.max; a map here is read as workers.*.',
  },
  { path: 'server.api.enabled', type: 'bool', default: true, description: 'Serve the REST API.' },
  {
    path: 'server.api.auth',
    type: 'bool',
    default: null,
    shipped: true,
    description: 'Demand tokens; when not set: false while bound to loopback, true otherwise.',
  },
  {
    path: 'server.api.rate_limit',
    type: 'int',
    default: null,
    shipped: 100,
    min: 0,
    max: 1_000_000_000,
    description:
      'API requests per minute of one token, or of one client address without; unlimited when 0 or not set.',
  },
  {
    path: 'server.ui.enabled',
    type: 'bool',
    default: true,
    description: 'Serve the Web UI; this build has none of its own, only the files of server.ui.static_dir.',
  },
  {
    path: 'server.ui.path',
    type: 'string',
    pattern: /^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/,
    form: 'a URL path such as /ui',
    default: '/ui',
    description: 'Where the Web UI lies; must not equal or hold /api, /health, /metrics.',
  },
  {
    path: 'server.ui.static_dir',
    type: 'path',
    default: '',
    description:
      'Folder whose files are served as the UI, to everybody; links that lead out of it are not followed, and without it there is no UI.',
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
    description: 'PEM file with the certificate and its chain; read again at a reload.',
  },
  {
    path: 'server.tls.key_file',
    type: 'path',
    default: '',
    description: 'PEM file with the private key, readable by the service only.',
  },
  {
    path: 'server.cors.enabled',
    type: 'bool',
    default: false,
    description: 'Let web pages of the origins below call the API.',
  },
  {
    path: 'server.cors.origins',
    type: 'string[]',
    pattern: originPattern,
    form: 'an exact origin such as https://console.example.net, in lower case and without a path',
    default: [],
    description: 'Exact origins; there is no wildcard.',
  },
  {
    path: 'server.allowed_hosts',
    type: 'string[]',
    pattern: hostPattern,
    form: 'a host name or address in lower case, without a port',
    default: [],
    description:
      'Host names under which pages for browsers are served (the bound address and localhost when empty), and the API too where no tokens are demanded.',
  },
  {
    path: 'server.public_url',
    type: 'url',
    pattern: publicUrlPattern,
    form: 'a URL such as https://scanner.example.net/portolan, without a slash at its end, a query or a user name',
    default: null,
    description:
      'Where clients reach this server, for example behind a reverse proxy: used in links of messages, Location, Link and the OpenAPI description. Its host counts as allowed, and its origin as the own one.',
  },
  {
    path: 'server.streams.per_token',
    type: 'int',
    default: 20,
    min: 1,
    max: 100_000,
    description:
      'Open event streams of one token (of one client address where no tokens are demanded), REST and gRPC together; more are answered with 429.',
  },
  {
    path: 'server.streams.total',
    type: 'int',
    default: 100,
    min: 1,
    max: 100_000,
    description: 'Open event streams of all clients together; more are answered with 429.',
  },
  {
    path: 'server.trusted_proxies',
    type: 'cidr[]',
    default: [],
    description: 'Reverse proxies whose X-Forwarded-For tells the address of the client.',
  },
  {
    path: 'server.metrics.auth',
    type: 'bool',
    default: false,
    description: '/metrics needs a token with metrics:read, also where the API needs none.',
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
    description: 'Serve every client on a non-loopback bind although tokens are not demanded.',
  },
  {
    path: 'server.shutdown_timeout',
    type: 'duration',
    default: '30s',
    min: 100,
    max: 3_600_000,
    description: 'Longest drain time on SIGTERM.',
  },
  {
    path: 'queue.max_jobs',
    type: 'int',
    default: 1000,
    min: 1,
    max: 10_000_000,
    description: 'Waiting scans and due jobs, of each tenant, before a submission is answered with 503.',
  },
  {
    path: 'queue.retention',
    type: 'duration',
    months: true,
    default: '7d',
    min: 1000,
    max: century,
    description:
      'How long the record of a job that is over is kept; its scans stay. A failed scan counts as long in the figures of the health endpoint.',
  },
  {
    path: 'queue.url',
    type: 'string',
    default: null,
    secret: true,
    pattern: /^postgres(?:ql)?:\/\/\S+$/,
    form: 'a URL such as postgres://user@host/database',
    description:
      'PostgreSQL database for the store and the queue, so that workers on other hosts take part; a file of the workspace when not set.',
  },
  {
    path: 'queue.timezone',
    type: 'zone',
    default: 'UTC',
    description: 'IANA time zone of cron schedules.',
  },
  {
    path: 'workers.min',
    type: 'int',
    default: 1,
    shipped: 2,
    min: 0,
    max: 1024,
    description: 'Least number of workers.',
  },
  {
    path: 'workers.max',
    type: 'int',
    default: 10,
    min: 1,
    max: 1024,
    description: 'Most workers; server.workers when that is more and this is not set.',
  },
  {
    path: 'workers.auto_scale',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Move the number of workers between the bounds with the queue.',
  },
  {
    path: 'workers.lease',
    type: 'duration',
    default: '30s',
    min: 1000,
    max: 3_600_000,
    description: 'How long a worker owns a scan without a heartbeat.',
  },
  {
    path: 'workers.heartbeat',
    type: 'duration',
    default: '10s',
    min: 100,
    max: 3_600_000,
    description: 'Time between two renewals of a lease.',
  },
  {
    path: 'workers.pools',
    type: 'map',
    pattern: poolPattern,
    form: poolForm,
    members: {
      max: { type: 'int', min: 1, max: 1024, description: 'most scans of the pool at a time' },
      tags: { type: 'string[]', default: [], description: 'labels of the pool; nothing acts on them' },
    },
    default: null,
    description: 'Pools of workers beside default; when not set, a pool is made when it is first named.',
  },
  {
    path: 'workers.shard_size',
    type: 'int',
    default: 4096,
    min: 1,
    max: 1_000_000_000,
    description: 'Addresses of one shard of a distributed scan; fewer where many ports are asked.',
  },
  {
    path: 'workers.max_attempts',
    type: 'int',
    default: 3,
    min: 1,
    max: 1000,
    description: 'Tries of one shard before it counts as failed.',
  },
  {
    path: 'logging.level',
    type: 'enum',
    values: ['trace', 'debug', 'info', 'warn', 'error'],
    default: 'info',
    env: ['SERVICE_LOG_LEVEL'],
    description: 'Least severity that is logged.',
  },
  {
    path: 'logging.format',
    type: 'enum',
    values: ['json', 'text'],
    default: 'text',
    shipped: 'json',
    env: ['SERVICE_LOG_FORMAT'],
    description: 'Form of a log line.',
  },
  {
    path: 'logging.output',
    type: 'enum',
    values: ['stderr', 'stdout', 'file'],
    default: 'stderr',
    shipped: 'file',
    description: 'Where the log goes; stdout and file only in the server.',
  },
  {
    path: 'logging.file.enabled',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'Write the log of the server to a file too.',
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
    description: 'Size at which the log file is rotated.',
  },
  {
    path: 'logging.file.max_backups',
    type: 'int',
    default: 10,
    min: 1,
    max: 10_000,
    description: 'Rotated files that are kept.',
  },
  {
    path: 'logging.file.max_age',
    type: 'duration',
    retention: true,
    default: '30d',
    min: 1000,
    max: century,
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
    path: 'logging.audit.events',
    type: 'string[]',
    values: auditEvents,
    default: auditEvents,
    description: 'Events that are recorded.',
  },
  {
    path: 'scanner.default_profile',
    type: 'string',
    default: 'standard',
    env: ['SERVICE_PROFILE'],
    description: 'Profile of a scan that names none.',
  },
  {
    path: 'scanner.rate',
    type: 'int',
    default: 1000,
    min: 1,
    max: highestRate,
    env: ['SERVICE_RATE'],
    description: 'Packets per second of one scan.',
  },
  {
    path: 'scanner.concurrency',
    type: 'int',
    default: 100,
    min: 1,
    max: 65_535,
    env: ['SERVICE_CONCURRENCY'],
    description: 'Open connections of one scan.',
  },
  {
    path: 'scanner.timeout',
    type: 'duration',
    default: '3s',
    min: 1,
    max: 600_000,
    env: ['SERVICE_TIMEOUT'],
    description: 'How long one probe waits for an answer.',
  },
  {
    path: 'scanner.retries',
    type: 'int',
    default: 1,
    min: 0,
    max: 10,
    description: 'Further tries of a probe that got no answer.',
  },
  {
    path: 'scanner.max_addresses',
    type: 'int',
    default: 65_536,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: 'Most addresses of one scan; 0 = no cap.',
  },
  {
    path: 'scanner.max_rate',
    type: 'int',
    default: 100_000,
    min: 1,
    max: highestRate,
    description: 'Packets per second of all scans of a server together, and the most that one may ask for.',
  },
  {
    path: 'scanner.max_resumes',
    type: 'int',
    default: 3,
    min: 0,
    max: 1000,
    description: 'Resumes in a row without new progress before a scan counts as interrupted.',
  },
  {
    path: 'scanner.interface',
    type: 'string',
    default: null,
    pattern: /^[^\s/]{1,15}$/,
    form: 'the name of a network interface',
    inert: true,
    description: 'Interface that raw packets leave by; as the routes say when not set.',
  },
  {
    path: 'scanner.source_ip',
    type: 'address',
    default: null,
    inert: true,
    description: 'Source address of raw packets; as the routes say when not set.',
  },
  {
    path: 'scanner.blocklist',
    type: 'target[]',
    default: [],
    description: 'Targets that are never scanned.',
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
        description: 'days on which the hours begin',
      },
      hours: {
        type: 'string',
        pattern: windowHoursPattern,
        form: 'hours such as 22:00-06:00',
        required: true,
        description: 'from and to by the clock of the zone, over midnight too; 24:00 ends a day',
      },
      zone: { type: 'zone', description: 'IANA time zone; queue.timezone when not set' },
    },
    default: [],
    description:
      'Hours in which the scans of a server may send; always when empty. Outside, running ones are paused and go on by themselves.',
  },
  {
    path: 'scanner.freeze',
    type: 'entries',
    members: {
      from: {
        type: 'string',
        pattern: freezeTimePattern,
        form: freezeTimeForm,
        required: true,
        description: 'first day, or time',
      },
      to: {
        type: 'string',
        pattern: freezeTimePattern,
        form: freezeTimeForm,
        required: true,
        description: 'last day, or time',
      },
      zone: { type: 'zone', description: 'IANA time zone; queue.timezone when not set' },
      reason: { type: 'string', description: 'told to whoever asks why a scan waits' },
    },
    default: [],
    description: 'Days or times in which the scans of a server send nothing, stronger than scanner.windows.',
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
    description: 'Networks that may be scanned; empty = every unicast address.',
  },
  {
    path: 'scanner.scope.deny',
    type: 'cidr[]',
    default: metadataServices,
    shipped: metadataServices,
    description:
      'Networks that are never scanned; stronger than allow. A list of your own replaces the default, the metadata services of clouds.',
  },
  {
    path: 'scanner.scope.protect_self',
    type: 'bool',
    default: false,
    shipped: true,
    description: "Keep every scan away from the server's own listeners.",
  },
  {
    path: 'scanner.dns.servers',
    type: 'resolver[]',
    default: [],
    description: "Name servers; the system's own when empty.",
  },
  {
    path: 'scanner.dns.timeout',
    type: 'duration',
    default: '5s',
    min: 1,
    max: 600_000,
    description: 'Longest resolution of one name.',
  },
  {
    path: 'engine.fail_fast',
    type: 'bool',
    default: false,
    description: 'The first error of a node stops the scan.',
  },
  {
    path: 'engine.stall_timeout',
    type: 'duration',
    default: '10m',
    min: 0,
    max: century,
    description: 'A node without any progress for this long fails; 0 = never.',
  },
  {
    path: 'engine.global_timeout',
    type: 'duration',
    default: '0',
    min: 0,
    max: century,
    description: 'Longest scan; 0 = no limit.',
  },
  {
    path: 'engine.max_parallel_nodes',
    type: 'int',
    default: 32,
    min: 1,
    max: 1024,
    description: 'Nodes of one scan that run at the same time.',
  },
  {
    path: 'engine.stream_buffer',
    type: 'int',
    default: 1024,
    min: 1,
    max: 1_048_576,
    description: 'Items of a stream before its producer waits.',
  },
  {
    path: 'fingerprint.cache.auto_sync',
    type: 'bool',
    default: false,
    shipped: true,
    description: 'A server refreshes the fingerprints from fingerprint.cache.url; does nothing without it.',
  },
  {
    path: 'fingerprint.cache.ttl',
    type: 'duration',
    months: true,
    default: '7d',
    min: 60_000,
    max: century,
    description: 'Age of the fingerprints before they are refreshed.',
  },
  {
    path: 'fingerprint.cache.url',
    type: 'url',
    default: null,
    description:
      'Where further fingerprint rules come from; `#sha256=<64 hex digits>` behind it pins the file.',
  },
  {
    path: 'fingerprint.rules',
    type: 'string[]',
    default: [],
    description: 'Files with further fingerprint rules, used in every scan.',
  },
  {
    path: 'vulndb.dir',
    type: 'path',
    default: '',
    description: 'Vulnerability data; cache/vulndb in the workspace when not set.',
  },
  {
    path: 'vulndb.auto_sync',
    type: 'bool',
    default: false,
    description:
      'A server refreshes the vulnerability data by itself; without it only `vulndb sync` contacts anybody.',
  },
  {
    path: 'vulndb.ttl',
    type: 'duration',
    months: true,
    default: '24h',
    min: 1000,
    max: century,
    description: 'Age of the vulnerability data before it is refreshed, and health is degraded.',
  },
  {
    path: 'vulndb.nvd_url',
    type: 'url',
    default: 'https://services.nvd.nist.gov/rest/json/cves/2.0',
    description: 'NVD API 2.0; contacted only by sync.',
  },
  {
    path: 'vulndb.kev_url',
    type: 'url',
    default: 'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    description: 'Known exploited vulnerabilities; contacted only by sync.',
  },
  {
    path: 'vulndb.epss_url',
    type: 'url',
    default: 'https://epss.cyentia.com/epss_scores-current.csv.gz',
    description: 'Exploit prediction scores; contacted only by sync.',
  },
  {
    path: 'vulndb.nvd_api_key',
    type: 'string',
    default: null,
    secret: true,
    description: 'Key for a higher request rate at NVD.',
  },
  {
    path: 'notifications.default_channels',
    type: 'string[]',
    pattern: /^(?:slack|email|webhook):\/\/\P{Cc}{1,254}$/u,
    form: 'slack://name, email://address or webhook://name',
    default: [],
    description: 'Used when a scan names no channel.',
  },
  {
    path: 'notifications.slack.webhook_url',
    type: 'url',
    default: null,
    shipped: '${SLACK_WEBHOOK_URL}',
    secret: true,
    description: 'Incoming webhook of Slack.',
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
    type: 'int',
    default: 587,
    min: 1,
    max: 65_535,
    description: 'Its port: 465 is TLS, others use STARTTLS when it is offered.',
  },
  {
    path: 'notifications.email.from',
    type: 'string',
    default: null,
    shipped: 'scanner@example.com',
    description: 'Sender; without it no mail is sent.',
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
    description: 'Name for the mail server.',
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
      'Encryption towards the mail server: auto uses what it offers, required insists, none sends in the clear.',
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
        description: 'the name behind webhook://',
      },
      url: { type: 'url', required: true, secret: true, description: 'where the message is sent' },
      secret: { type: 'string', secret: true, description: 'key of the signature' },
      events: {
        type: 'string[]',
        values: notificationEvents,
        default: [],
        description: 'all when empty',
      },
      headers: { type: 'text{}', secret: true, default: {}, description: 'further headers' },
    },
    default: [],
    description: 'Receivers of JSON messages.',
  },
  {
    path: 'alerts.file',
    type: 'path',
    default: '',
    env: ['SERVICE_ALERTS'],
    inert: true,
    description:
      'Alert rules; alerts.yaml beside the configuration file when not set. Where a file is found, health is degraded.',
  },
  {
    path: 'alerts.interval',
    type: 'duration',
    default: '30s',
    min: 1000,
    max: 86_400_000,
    inert: true,
    description: 'Time between two looks at the alert rules.',
  },
  {
    path: 'multi_tenant.enabled',
    type: 'bool',
    default: false,
    description: 'Keep tenants apart: every request names one in X-Tenant-ID.',
  },
  {
    path: 'multi_tenant.default_tenant',
    type: 'string',
    pattern: tenantPattern,
    form: tenantForm,
    default: null,
    description: 'Tenant of requests that name none; without it they are refused.',
  },
  {
    path: 'multi_tenant.tenants',
    type: 'string[]',
    pattern: tenantPattern,
    form: tenantForm,
    default: [],
    description: 'The tenants that exist.',
  },
  {
    path: 'license.enforce',
    type: 'bool',
    default: false,
    description: 'Demand a licence for enterprise features; without, every feature works.',
  },
  {
    path: 'license.file',
    type: 'path',
    default: '',
    env: ['SERVICE_LICENSE_FILE'],
    description: 'The licence; config/license.key in the workspace when not set.',
  },
  {
    path: 'license.public_key',
    type: 'string',
    lines: true,
    default: null,
    description: 'Ed25519 public key that licences are checked with: PEM text or a file.',
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
        description: 'what the plugin is called',
      },
      type: { type: 'enum', values: ['grpc'], default: 'grpc', description: 'kind' },
      endpoint: { type: 'endpoint', required: true, description: 'where it listens' },
      timeout: {
        type: 'duration',
        default: '30s',
        min: 1,
        max: 86_400_000,
        description: 'longest call',
      },
      batch_size: {
        type: 'int',
        default: 0,
        min: 0,
        max: 1_000_000,
        description: 'hosts in one call; 0 = all',
      },
      tls: {
        type: 'group',
        description: 'certificates (PEM files)',
        members: {
          ca_file: { type: 'path', default: '', description: 'authorities of its certificate' },
          cert_file: { type: 'path', default: '', description: 'own certificate' },
          key_file: { type: 'path', default: '', description: 'its key' },
        },
      },
    },
    default: [],
    env: ['SERVICE_PLUGINS'],
    inert: true,
    description: 'Plugins that are reached over gRPC; plugins itself may be this list.',
  },
  {
    path: 'plugins.require_signature',
    type: 'bool',
    default: false,
    inert: true,
    description: 'Load only plugins signed by a trusted publisher.',
  },
  {
    path: 'plugins.trusted_publishers',
    type: 'entries',
    unique: 'fingerprint',
    members: {
      fingerprint: {
        type: 'string',
        required: true,
        pattern: fingerprintPattern,
        form: fingerprintForm,
        description: 'SHA-256 of the public key',
      },
      name: { type: 'string', description: 'whose it is' },
    },
    default: [],
    inert: true,
    description: 'Publishers whose signatures count.',
  },
  {
    path: 'plugins.revoked_publishers',
    type: 'string[]',
    pattern: fingerprintPattern,
    form: fingerprintForm,
    default: [],
    inert: true,
    description: 'Fingerprints of publishers that are trusted no more.',
  },
  {
    path: 'plugins.dir',
    type: 'path',
    default: '',
    inert: true,
    description: 'Installed plugins; $XDG_DATA_HOME/portolan/plugins when not set.',
  },
  {
    path: 'plugins.manifest_url',
    type: 'url',
    default: null,
    inert: true,
    description: 'Catalogue of plugins.',
  },
  {
    path: 'plugins.limits.memory',
    type: 'size',
    default: '512MB',
    inert: true,
    description: 'Memory of one plugin host; of WebAssembly 64 MB.',
  },
  {
    path: 'plugins.limits.timeout',
    type: 'duration',
    default: '5m',
    min: 100,
    max: 86_400_000,
    inert: true,
    description: 'Longest run of a plugin.',
  },
  {
    path: 'plugins.limits.output',
    type: 'size',
    default: '64MB',
    inert: true,
    description: 'Most output of a plugin.',
  },
  {
    path: 'modules',
    type: 'options',
    default: {},
    description:
      'modules.<module_type>.<option>: what an option of a module is where neither the graph nor the scan says it.',
  },
] as const satisfies readonly ConfigKey[];

type Key = (typeof configKeys)[number];

/** What a module option can be given. */
export type OptionValue = string | number | boolean | (string | number | boolean)[];

type Typed<F> = F extends { type: 'enum'; values: readonly (infer V)[] }
  ? V
  : F extends { type: 'bool' }
    ? boolean
    : F extends { type: 'int' | 'duration' | 'size' }
      ? number
      : F extends { type: 'text{}' }
        ? Record<string, string>
        : F extends { type: `${string}[]` }
          ? string[]
          : F extends { type: 'group'; members: infer M }
            ? ConfigEntry<M>
            : string;

/** One entry: every member has a value, null when it has neither one nor a default. */
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

/** Environment names of a key, the strongest first. */
export function environmentNames(key: ConfigKey): string[] {
  const byRule = `SERVICE_${key.path.toUpperCase().replaceAll('.', '__')}`;
  if (key.type === 'options') return [`${byRule}__<MODULE_TYPE>__<OPTION>`];
  return [...new Set([...(key.env ?? []), byRule])];
}

/** Keys, and sections that end with a dot, that a running server takes over at a reload. */
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
];

/** Whether a running server takes a new value over at a reload. */
export function isReloadable(path: string): boolean {
  return reloadable.some((known) => (known.endsWith('.') ? path.startsWith(known) : path === known));
}
