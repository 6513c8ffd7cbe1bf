import type { JobStatus } from '../../domain/job.ts';

/**
 * Rows as stored, the same in every dialect: text ids, times as ISO 8601 UTC text (leases as epoch milliseconds),
 * JSON as text, booleans 0 or 1.
 */
export interface Tables {
  scans: ScanTableRow;
  scan_tags: { scan_id: string; tag: string };
  scan_listings: ScanListingRow;
  tokens: TokenTableRow;
  scan_queue: ScanQueueTableRow;
  idempotency_keys: IdempotencyTableRow;
  client_jobs: ClientJobTableRow;
  job_runs: JobRunTableRow;
  outbox: OutboxTableRow;
  shard_plans: ShardPlanTableRow;
  shards: ShardTableRow;
  result_blocks: ResultBlockTableRow;
  shard_checkpoints: ShardCheckpointTableRow;
  result_objects: ResultObjectTableRow;
  row_counts: RowCountTableRow;
  scan_removals: ScanRemovalTableRow;
  alert_states: AlertStateTableRow;
  plugin_packages: PluginPackageTableRow;
  leases: LeaseTableRow;
  servers: ServerTableRow;
  workers: WorkerTableRow;
}

export interface ScanTableRow {
  scan_id: string;
  created_at: string;
  status: string;
  /** See `domain/executor.ts`. */
  executor: string;
  /** Size of the scan's folder, bytes. */
  size_bytes: number;
  started_at: string | null;
  completed_at: string | null;
  profile: string;
  vuln: number;
  name: string | null;
  pool: string;
  priority: number;
  live_hosts: number;
  open_ports: number;
  vulnerabilities: number;
  tags: string;
  progress: string;
  severity_counts: string;
  error: string | null;
  notifications: string;
  warnings: string;
  stages: string;
  targets: string;
  /** Text that `q` searches: name and targets, one per line. */
  searchable: string;
  request: string;
  /** Tenant of the scan; null without tenants. */
  tenant: string | null;
  /** Since when the result store has all of its files; null while it does not. */
  stored_at: string | null;
  /** Of the request that submitted the scan, with its span (`traceparent`). */
  request_id: string | null;
  traceparent: string | null;
}

/** Listed targets of a scan with very many, separate from the long row. */
interface ScanListingRow {
  scan_id: string;
  /** JSON array of the first targets. */
  targets: string;
  targets_total: number;
}

export interface TokenTableRow {
  id: string;
  name: string;
  digest: string;
  previous_digest: string | null;
  previous_until: string | null;
  scopes: string;
  tenant: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

/** A scan that waits, runs or ran, in order of submission. */
export interface ScanQueueTableRow {
  scan_id: string;
  pool: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /** As that of the scan. */
  priority: number;
  /** Whether it has at most `maxSmallAddresses`; 0 or 1. */
  small: number;
  /** Among equal priorities, the lowest waiting one is claimed first. */
  position: number;
  /** Raised by every claim; a write with an older one is rejected. */
  attempt: number;
  /** Epoch milliseconds. */
  lease_until: number | null;
  worker: string | null;
  cancel_requested: number;
  /** When a client paused the scan, epoch milliseconds; a paused scan is not claimed. */
  paused_since: number | null;
  /**
   * When a blackout window stopped the scan, epoch milliseconds. If one stop ends before the other, the earlier time
   * stays.
   */
  blackout_since: number | null;
  /** ID of the token that paused the scan; null if none did, or it is unknown. */
  paused_by: string | null;
  /** When a client paused the scan, ISO 8601 UTC; null while it is not paused. */
  paused_at: string | null;
  /** Completed time of pauses since its first claim, milliseconds. */
  paused_ms: number;
  created_at: string;
  finished_at: string | null;
  /** Of the scan. */
  tenant: string | null;
  /** The server whose workspace holds the scan and that alone may run it; null with a single server. */
  owner_server: string | null;
}

export interface IdempotencyTableRow {
  /** Id of the token that sent the key, empty without one; `<tenant>/<id>` for a tenant's client. */
  owner: string;
  key: string;
  /** SHA-256 of the body, hex. */
  digest: string;
  /** Id of the created scan or job. */
  scan_id: string;
  /** Creation time of both the scan and the key. */
  created_at: string;
  /** JSON of the first response where the columns cannot reproduce it, as for a job. */
  response: string | null;
}

/** A client's job; each of its runs becomes a scan in `scan_queue`. */
export interface ClientJobTableRow {
  job_id: string;
  created_at: string;
  /** `running` once a run has become a scan, even while that scan waits. */
  status: JobStatus;
  tenant: string | null;
  type: string;
  pool: string;
  priority: number;
  name: string | null;
  schedule: string | null;
  /** IANA time zone used to compute `next_run_at`. */
  zone: string;
  /** Null if no further run will come. A job is due when this has passed and none of its runs is active. */
  next_run_at: string | null;
  last_run_at: string | null;
  last_status: string | null;
  run_count: number;
  /** Of the newest run; the scan may have been deleted. */
  scan_id: string | null;
  started_at: string | null;
  completed_at: string | null;
  error: string | null;
  created_by: string | null;
  params: string;
}

export interface JobRunTableRow {
  job_id: string;
  /** Scheduled time of the run. */
  fire_at: string;
  scan_id: string | null;
  status: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface OutboxTableRow {
  /** Message id, the same in every attempt: a receiver can detect duplicates. */
  id: string;
  /** Scan that the message is about; null without one. */
  scan_id: string | null;
  /** `<channel_type>://<channel_name>` */
  channel: string;
  /** Sender, see `domain/executor.ts`. */
  owner: string;
  /** Attempts so far. */
  attempts: number;
  /** When the next attempt is due, epoch milliseconds. */
  next_at: number;
  /** Of the scan. */
  tenant: string | null;
  /** Name of the event; null until it is derived from the scan. */
  event: string | null;
  /** JSON of the message; null until it is derived from the scan. */
  payload: string | null;
}

/** How a scan is divided into shards, see `ShardPlan`. */
export interface ShardPlanTableRow {
  scan_id: string;
  /**
   * When the first worker started a shard, by the database clock; before that, when the plan was created. ISO 8601
   * UTC.
   */
  started_at: string;
  /** Whether a worker has started a shard. */
  started: number;
  /** JSON. */
  addresses: string;
  /** JSON. */
  hostnames: string;
  /**
   * Number of blocks of the scan; null when an earlier version divided it, whose rows are on the disk of its owner.
   */
  blocks: number | null;
}

/** Rows of a shard of an unfinished scan. */
export interface ResultBlockTableRow {
  scan_id: string;
  /** 1-based, in the order in which the blocks of the scan were stored, without gaps. */
  number: number;
  shard: number;
  /** Number of rows. */
  rows: number;
  /** JSON Lines, compressed, see `block-bytes.ts`. */
  bytes: Buffer;
}

/** Part of a file of a finished scan, where the database is the result store. */
interface ResultObjectTableRow {
  /** Path in the result store. */
  name: string;
  /** 0-based. */
  part: number;
  /** Number of parts of the file, as of the row of part 0. */
  parts: number;
  bytes: Buffer;
}

/** The newest checkpoint of a shard, as the scan process wrote it. */
interface ShardCheckpointTableRow {
  scan_id: string;
  shard: number;
  bytes: Buffer;
}

/** Part of a scan that one worker runs; only with workers on other hosts. */
export interface ShardTableRow {
  scan_id: string;
  /** 0-based. */
  shard: number;
  /** Number of shards of the scan. */
  of: number;
  pool: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /** Raised by every claim; a write with an older one is rejected. */
  attempt: number;
  /** Of earlier versions, which counted here how many workers were lost. */
  expired_leases: number;
  /** Queue and id of the job by which it is claimed, and how many claims of it failed; null in rows of earlier versions. */
  job_line: string | null;
  job_id: string | null;
  job_retry: number | null;
  /** Epoch milliseconds of the claim; null before the first one. */
  claimed_at: number | null;
  /** Whether its worker shall give it back for another scan. */
  give_back: number;
  /** Epoch milliseconds. */
  lease_until: number | null;
  worker: string | null;
  /** Of workers of earlier versions, which sent rows to the owner of the scan. */
  key_digest: string | null;
  /** Rows that are stored. */
  rows: number;
  /** Command of the owner server to the worker. */
  command: 'run' | 'pause' | 'cancel';
  /** Newest command that the worker has applied. */
  applied_command: 'run' | 'pause' | 'cancel' | null;
  /** Assigned rate of the worker, and the rate that it has applied, packets per second. */
  rate: number;
  applied_rate: number | null;
  /** JSON of changed scope rules; null without any. */
  rules: string | null;
  /** JSON of the newest report, and of the outcome of the shard. */
  live: string | null;
  outcome: string | null;
  finished_at: string | null;
}

/** A partial row count, see `counting-triggers.ts`. */
interface RowCountTableRow {
  /** The table whose rows are counted. */
  counted: string;
  /** Empty for rows without tenant. */
  tenant: string;
  status: string;
  total: number;
  bytes: number;
}

/** A deleted scan, see `removal-log.ts`. */
interface ScanRemovalTableRow {
  scan_id: string;
  tenant: string | null;
  /** Epoch milliseconds. */
  removed_at: number;
}

/** State of an alert, see `alerts/alert-state.ts`. */
export interface AlertStateTableRow {
  name: string;
  /** SHA-256 of the condition, hex: editing a rule resets its state. */
  condition_digest: string;
  state: 'inactive' | 'pending' | 'firing';
  since: string;
  pending_ms: number;
  quiet_ms: number;
  error: string | null;
}

/** A package of a plugin, or a bare file of one. */
export interface PluginPackageTableRow {
  name: string;
  version: string;
  /** Of the bytes, hex. */
  sha256: string;
  /** `kept` and `removed` ones are left for scans that were planned with them. */
  state: 'installed' | 'kept' | 'removed';
  /** When the state last changed. */
  installed_at: string;
  source: string;
  /** Of a bare file; null for a package. */
  file_name: string | null;
  /** Text of the signature file. */
  signature: string | null;
  bytes: Uint8Array;
}

/** Lease on work that only one server may do at a time. */
export interface LeaseTableRow {
  name: string;
  /** See `domain/executor.ts`. */
  holder: string;
  /** By the database clock, epoch milliseconds. */
  lease_until: number;
}

/** One of several servers on one database. */
export interface ServerTableRow {
  server_id: string;
  /** Its API, as it advertises it. */
  url: string;
  version: string;
  /** Epoch milliseconds. */
  last_seen: number;
  /** On the disk of its workspace; null if unknown. */
  free_bytes: number | null;
  /** JSON of the tags of its pools; null for none. */
  pool_tags: string | null;
  /** JSON of the settings by which a worker completes its scans, see `server/shards/scan-settings.ts`; null of earlier versions. */
  settings: string | null;
}

/** A process that runs shards. */
export interface WorkerTableRow {
  worker_id: string;
  host: string;
  /** JSON array. */
  pools: string;
  /** JSON array. */
  tags: string;
  version: string;
  /** Maximum concurrent shards, and the running ones. */
  capacity: number;
  active: number;
  started_at: string;
  /** Epoch milliseconds. */
  last_seen: number;
}

/** The only conversion between booleans and the database. */
export const flag = {
  toRow: (value: boolean): number => (value ? 1 : 0),
  fromRow: (value: number): boolean => value !== 0,
};
