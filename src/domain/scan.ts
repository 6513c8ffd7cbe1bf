import type { SeverityCounts } from './finding.ts';
import type { PortCoverage } from './host.ts';

/** Stored states of a scan. `queued` exists only in the answer of the submission. */
export const scanStatuses = ['pending', 'running', 'completed', 'failed'] as const;
export type ScanStatus = (typeof scanStatuses)[number];

export function isFinal(status: ScanStatus): boolean {
  return status === 'completed' || status === 'failed';
}

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
  /** Port grammar text: ports that are never tried. */
  exclude_ports?: string | undefined;
  /** In place of the discovery of the graph. */
  discover_profile?: DiscoveryProfile | undefined;
  /** Duration text; of discovery probes. */
  discovery_timeout?: string | undefined;
  /** Further tries of a discovery probe. */
  discovery_retries?: number | undefined;
  /** False: open ports are asked for their banners, and nothing is concluded from them. */
  fingerprint?: boolean | undefined;
  /** Different services that are kept for one port. */
  max_protocols?: number | undefined;
  /** File with further signatures; of the command line only. */
  fingerprint_rules?: string | undefined;
  /** By module type, in place of what the graph says of it; of profiles only. */
  discovery_probes?: Record<string, DiscoveryProbe> | undefined;
  /** Duration text; in place of `timeout` for what talks to services. Of profiles only. */
  probe_timeout?: string | undefined;
}

/** One way to find live hosts: whether it is used, and options of its module. */
export interface DiscoveryProbe {
  enabled: boolean;
  config: Record<string, unknown>;
}

export const discoveryProfiles = ['fast', 'standard', 'deep', 'tcp'] as const;
export type DiscoveryProfile = (typeof discoveryProfiles)[number];

/** A validated submission with every default decided (`request.json`). */
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
  /** Packets per second. */
  rate: number;
  /** Name of an installed graph, instead of the profile's. */
  dag: string | null;
  /** Text of the file of `dag` as it was when the scan was accepted; absent for builtin graphs and other files. */
  graph?: string | undefined;
  pool: string;
  options: ScanOptions;
  /** Who asked: token id, `cli`, or null. */
  user: string | null;
}

export interface ScanWarning {
  code: string;
  message: string;
  node?: string | undefined;
  target?: string | undefined;
}

export interface StageRecord {
  instance_id: string;
  module_type: string;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'skipped';
  started_at: string | null;
  completed_at: string | null;
  items_in: number;
  items_out: number;
  error: string | null;
  /** How packets left this machine and why so, where a module has more than one way; absent elsewhere. */
  method?: string | undefined;
  /** Of a scanner that counts every pair that it planned. */
  coverage?: PortCoverage | undefined;
}

export interface ScanProgress {
  /** 0..100 */
  percent: number;
  phase: string;
  hosts_done: number;
  hosts_total: number;
  paused: boolean;
  /** Packets per second now. */
  rate: number;
  eta_seconds: number | null;
  resumes: number;
  shards: { total: number; done: number; running: number };
}

export interface ScanCounts {
  live_hosts: number;
  open_ports: number;
  vulnerabilities: number;
}

/** How the message to one channel stands. */
export interface NotificationState {
  /** `<channel_type>://<channel_name>` */
  channel: string;
  status: 'pending' | 'delivered' | 'skipped' | 'failed';
  /** Tries so far. */
  attempts: number;
  /** Why it is skipped or failed, or why the last try did. */
  error: string | null;
}

/** The detail of a scan, as stored and as the API shows it. */
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
  progress: ScanProgress;
  severity_counts: SeverityCounts;
  error: { code: FailureCode; message: string } | null;
  warnings: ScanWarning[];
  notifications: NotificationState[];
  stages: StageRecord[];
}

/** How the channels of a submission stand before anything was sent. */
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
