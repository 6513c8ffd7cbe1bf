import type { SeverityCounts } from './finding.ts';
import type { PortCoverage } from './host.ts';
import type { PacketRate } from './packet-rate.ts';
import type { PluginPin } from './plugin-pin.ts';

/** Stored states of a scan. `queued` exists only in the response to the submission. */
export const scanStatuses = ['pending', 'running', 'completed', 'failed'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

export function isFinal(status: ScanStatus): boolean {
  return status === 'completed' || status === 'failed';
}

/** Of waiting scans the ones with the highest priority start first. */
export const maxPriority = 9;
export const defaultPriority = 5;

/** A scan of at most so many addresses is small: it does not wait for the end of larger ones. */
export const maxSmallAddresses = 16;

/** Why a scan ended as `failed`. */
export const failureCodes = {
  canceled: 'Canceled.',
  timeout: 'Ran longer than options.max_duration or engine.global_timeout.',
  interrupted:
    'The process died more than scanner.max_resumes times in a row without progress, or the command line that ran the scan died.',
  no_targets: 'No targets left after exclusions, scope and name resolution.',
  insufficient_storage: 'The disk filled up while results were stored.',
  permission: 'A required privilege is missing and fallback is not allowed.',
  pipeline_failed: 'No stage produced results, or fail_fast was set.',
  worker_lost: 'A shard used up workers.max_attempts.',
} as const;
export type FailureCode = keyof typeof failureCodes;

export interface ScanOptions {
  scan_type?: 'syn' | 'connect' | 'udp' | 'auto' | undefined;
  discover?: boolean | undefined;
  concurrency?: number | undefined;
  /** Duration text, e.g. `3s`. */
  timeout?: string | undefined;
  retries?: number | undefined;
  max_duration?: string | undefined;
  min_severity?: string | undefined;
  compliance?: string[] | undefined;
  intrusive?: boolean | undefined;
  fail_fast?: boolean | undefined;
  /** Port grammar text: ports to exclude. */
  exclude_ports?: string | undefined;
  /** Replaces the discovery of the graph. */
  discover_profile?: DiscoveryProfile | undefined;
  /** Duration text; of discovery probes. */
  discovery_timeout?: string | undefined;
  /** Retries of a discovery probe. */
  discovery_retries?: number | undefined;
  /** False: only ports; no connection to a service, no banners, no products. */
  fingerprint?: boolean | undefined;
  /** Name of the interface that packets leave through. */
  interface?: string | undefined;
  /** Source address of packets and connections. */
  source_ip?: string | undefined;
  /** Source port of raw TCP packets and UDP probes. */
  source_port?: number | undefined;
  /** Names of plugins that do not run in this scan. */
  disable_plugins?: string[] | undefined;
  /** Maximum number of services per port. */
  max_protocols?: number | undefined;
  /** File with additional signatures; command line only. */
  fingerprint_rules?: string | undefined;
  /** Names resolve to IPv6 addresses only; command line only. */
  ipv6_only?: boolean | undefined;
  /** By module type, overrides the graph; profiles only. */
  discovery_probes?: Record<string, DiscoveryProbe> | undefined;
  /** Duration text; overrides `timeout` for service probes. Profiles only. */
  probe_timeout?: string | undefined;
}

/** One discovery method: whether it is enabled, and options of its module. */
export interface DiscoveryProbe {
  enabled: boolean;
  config: Record<string, unknown>;
}

export const discoveryProfiles = ['fast', 'standard', 'deep', 'tcp'] as const;
export type DiscoveryProfile = (typeof discoveryProfiles)[number];

/** A validated submission with all defaults applied (`request.json`). */
export interface ScanRequest {
  scan_id: string;
  created_at: string;
  targets: string[];
  exclude: string[];
  profile: string;
  vuln: boolean;
  notifications: string[];
  name: string | null;
  tags: string[];
  /** Port grammar text, or null for the profile's own ports. */
  ports: string | null;
  rate: PacketRate;
  /** Name of an installed graph, instead of the profile's. */
  dag: string | null;
  /** Content of the file of `dag` when the scan was accepted; absent for builtin graphs and other files. */
  graph?: string | undefined;
  /** Absent if the graph needs none. */
  plugins?: PluginPin[] | undefined;
  pool: string;
  /** 0 to `maxPriority`; absent in older requests. */
  priority?: number | undefined;
  options: ScanOptions;
  /** Who submitted it: token ID, `cli`, or null. */
  user: string | null;
  /** What the submission had and nobody knows: `unknown field: x`; absent if nothing. */
  ignored?: readonly string[] | undefined;
}

export interface ScanWarning {
  code: string;
  message: string;
  node?: string | undefined;
  target?: string | undefined;
}

/** Codes of warnings about what was planned and not tried, for another reason than the request. */
const untriedCodes: ReadonlySet<string> = new Set([
  'packets_not_sent',
  'not_tried',
  'link_down',
  'node_failed',
  'worker_lost',
  'shard_failed',
]);

/** Whether a completed scan is partial: something of it was not tried. */
export function leavesUntried(warnings: readonly Pick<ScanWarning, 'code'>[]): boolean {
  return warnings.some(({ code }) => untriedCodes.has(code));
}

export interface StageRecord {
  instance_id: string;
  module_type: string;
  /** Of the module; absent in older scans. */
  version?: string | undefined;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'skipped';
  started_at: string | null;
  completed_at: string | null;
  items_in: number;
  items_out: number;
  /** Instances that it waits for in the graph; absent in older scans, as are the rates. */
  depends_on?: string[] | undefined;
  /** Items per second, mean of the last 5 s; 0 while it does not run. */
  items_in_per_second?: number | undefined;
  items_out_per_second?: number | undefined;
  /** Work done and its total, in ports of a stage that looks for open ports; absent while the total is unknown. */
  done?: number | undefined;
  total?: number | undefined;
  error: string | null;
  /** How packets were sent and why, if a module has more than one way; absent otherwise. */
  method?: string | undefined;
  /** Only with a scanner that counts every planned pair. */
  coverage?: PortCoverage | undefined;
}

export interface ScanProgress {
  /** 0..100; 100 only at the end. */
  percent: number;
  phase: string;
  hosts_done: number;
  hosts_total: number;
  paused: boolean;
  /** ID of the token that paused the scan, and since when, ISO 8601 UTC; null if it is not paused, or unknown. */
  paused_by: string | null;
  paused_at: string | null;
  /** Running, but no process runs it now. */
  interrupted: boolean;
  /** Packets per second now, and the limit; 0 while no process runs the scan. */
  rate: number;
  rate_limit: number;
  eta_seconds: number | null;
  /** What `eta_seconds` was computed from; null without one. */
  eta_basis: string | null;
  /** Work that was tried, and work that is known and was not, in `unit`. */
  tried: number;
  not_tried: number;
  unit: ProgressUnit;
  /** The running stage that the others wait for; null while none runs. */
  slowest_stage: string | null;
  /** What remains once no packets are left to send; null before. */
  finishing: string | null;
  resumes: number;
  shards: { total: number; done: number; running: number };
  /** Packets per second so far; only in the detail of a scan. */
  rate_history?: RateHistory | undefined;
}

export type ProgressUnit = 'ports' | 'hosts';

/** Means of successive intervals of equal length. */
export interface RateHistory {
  interval_seconds: number;
  /** Start of the first interval, ISO 8601 UTC. */
  from: string;
  values: number[];
}

export interface ScanCounts {
  live_hosts: number;
  open_ports: number;
  vulnerabilities: number;
}

/** Delivery state of the message to one channel. */
export interface NotificationState {
  /** `<channel_type>://<channel_name>` */
  channel: string;
  status: 'pending' | 'delivered' | 'skipped' | 'failed';
  /** Attempts so far. */
  attempts: number;
  /** Why it was skipped or failed, or why the last attempt failed. */
  error: string | null;
}

/** The details of a scan, as stored and as returned by the API. */
export interface Scan {
  scan_id: string;
  status: ScanStatus;
  targets: string[];
  started_at: string | null;
  completed_at: string | null;
  results: ScanCounts;
  created_at: string;
  profile: string;
  vuln: boolean;
  name: string | null;
  tags: string[];
  pool: string;
  priority: number;
  progress: ScanProgress;
  severity_counts: SeverityCounts;
  /** `by`: ID of the token that canceled it, if one did. */
  error: { code: FailureCode; message: string; by?: string | undefined } | null;
  warnings: ScanWarning[];
  notifications: NotificationState[];
  stages: StageRecord[];
}

/** Initial state of the channels of a submission. */
export function firstNotifications({
  notifications,
}: Pick<ScanRequest, 'notifications'>): Scan['notifications'] {
  return notifications.map((channel) => ({ channel, status: 'pending', attempts: 0, error: null }));
}

export const scanIdPattern = /^\d{8}-\d{6}-[a-z0-9]{4,12}$/;

/** `YYYYMMDD-HHMMSS-xxxxxx`: UTC time of submission and 24 random bits. */
export function newScanId(now: Date, randomBytes: (size: number) => Uint8Array): string {
  const [day, time] = now.toISOString().split('T') as [string, string];
  const suffix = Buffer.from(randomBytes(3)).toString('hex');
  return `${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${suffix}`;
}
