/**
 * The one table of configuration keys. The type `Config`, the environment names, the checks and the texts of
 * `config show` all come from it. Durations are written as text (`30s`) and read as milliseconds, sizes (`20GB`) as
 * bytes.
 */
export interface ConfigKey {
  path: string;
  type: ConfigKeyType;
  /** As written in a file; `null` = not set. */
  default: string | number | boolean | null | readonly string[];
  description: string;
  /** The value in the example file where it is another one than the default. */
  shipped?: string | number | boolean | readonly string[];
  /** Never shown. */
  secret?: true;
  /** A duration of retention: also `mo` and `y`, and no `m`. */
  retention?: true;
  /** Environment names beside the one that follows from the path, the strongest first. */
  env?: readonly string[];
  /** Accepted texts of an `enum`. */
  values?: readonly string[];
  /** Inclusive bounds of an `int`, or of a `duration` in milliseconds. */
  min?: number;
  max?: number;
}

/**
 * `endpoint` = `host:port`; `cidr[]` = addresses and networks; `target[]` = the target grammar;
 * `resolver[]` = IP addresses, each with an optional port.
 */
export type ConfigKeyType =
  | 'bool'
  | 'int'
  | 'string'
  | 'enum'
  | 'duration'
  | 'size'
  | 'path'
  | 'endpoint'
  | 'cidr[]'
  | 'target[]'
  | 'resolver[]';

/** Highest packet rate that `scanner.max_rate` accepts, packets per second. */
export const highestRate = 10_000_000;
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
    description: 'Most kept scans.',
  },
  {
    path: 'workspace.retention.min_free_space',
    type: 'size',
    default: null,
    shipped: '20GB',
    description: 'Free disk to keep; the oldest scans give way, and below it health is degraded.',
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
    description: 'Scans that run at the same time; a map here is read as workers.*.',
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
    path: 'server.tls.enabled',
    type: 'bool',
    default: false,
    description: 'Serve HTTPS; this build cannot, so true is refused instead of being served in clear text.',
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
    description: 'Waiting scans before a submission is answered with 503.',
  },
  {
    path: 'queue.retention',
    type: 'duration',
    default: '7d',
    min: 1000,
    max: century,
    description: 'How long a failed queue entry counts in the figures of the health endpoint.',
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
    values: ['stderr', 'stdout'],
    default: 'stderr',
    description: 'Where the log goes; stdout only in the server.',
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
    description: 'Packets per second that one scan may ask for at most.',
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
    path: 'scanner.blocklist',
    type: 'target[]',
    default: [],
    description: 'Targets that are never scanned.',
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
    default: [],
    shipped: ['169.254.169.254/32'],
    description: 'Networks that are never touched; stronger than allow.',
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
] as const satisfies readonly ConfigKey[];

type Key = (typeof configKeys)[number];

type Value<K extends Key> =
  | (K extends { values: readonly (infer V)[] }
      ? V
      : K['type'] extends 'bool'
        ? boolean
        : K['type'] extends 'int' | 'duration' | 'size'
          ? number
          : K['type'] extends `${string}[]`
            ? string[]
            : string)
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
  return [...new Set([...(key.env ?? []), byRule])];
}
