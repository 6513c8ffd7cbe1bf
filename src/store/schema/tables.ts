import type { JobStatus } from '../../domain/job.ts';

/**
 * Rows as they lie in the database, alike in every dialect: text ids, times as ISO 8601 UTC text (leases as epoch
 * milliseconds), JSON as text, booleans 0 or 1.
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
  row_counts: RowCountTableRow;
  alert_states: AlertStateTableRow;
  leases: LeaseTableRow;
  servers: ServerTableRow;
  workers: WorkerTableRow;
}

export interface ScanTableRow {
  scan_id: string;
  created_at: string;
  status: string;
  /** Who runs it, see `domain/executor.ts`. */
  executor: string;
  /** Bytes of the scan's folder. */
  size_bytes: number;
  started_at: string | null;
  completed_at: string | null;
  profile: string;
  vuln: number;
  name: string | null;
  pool: string;
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
  /** What `q` searches: name and targets, one a line. */
  searchable: string;
  request: string;
  /** Whose scan it is; null without tenants. */
  tenant: string | null;
  /** Since when the result store holds all of its files; null while it does not. */
  stored_at: string | null;
  /** Of the request that submitted the scan, and the span that it came from (`traceparent`). */
  request_id: string | null;
  traceparent: string | null;
}

/** What lists show of a scan with very many targets, apart from the long row. */
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

/** A scan that waits, runs or ran, by order of submission. */
export interface ScanQueueTableRow {
  scan_id: string;
  pool: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /** The smallest waiting one is claimed first. */
  position: number;
  /** Raised by every claim; a write with an older one is rejected. */
  attempt: number;
  /** Epoch milliseconds. */
  lease_until: number | null;
  worker: string | null;
  cancel_requested: number;
  /** When a client paused the scan, epoch milliseconds; a paused scan is not claimed. */
  paused_since: number | null;
  /** When a blackout window stopped the scan, the same way. Either time covers both reasons. */
  blackout_since: number | null;
  /** Time it was stopped before, counted from its first claim, milliseconds. */
  paused_ms: number;
  created_at: string;
  finished_at: string | null;
  /** That of the scan. */
  tenant: string | null;
  /** The server whose workspace holds the scan and that alone may run it; null where there is one server only. */
  owner_server: string | null;
}

export interface IdempotencyTableRow {
  /** Id of the token that the key came with, empty for clients without; of a tenant's client `<tenant>/<id>`. */
  owner: string;
  key: string;
  /** SHA-256 of the body, hex. */
  digest: string;
  /** Id of the scan or job that was made. */
  scan_id: string;
  /** Of the scan and of the key: they come into being together. */
  created_at: string;
  /** JSON of the first response where the columns cannot give it again, as that about a job. */
  response: string | null;
}

/** A job as clients know it; each of its runs becomes a scan in `scan_queue`. */
export interface ClientJobTableRow {
  job_id: string;
  created_at: string;
  /** `running` from the moment that a run has become a scan, also while that scan waits. */
  status: JobStatus;
  tenant: string | null;
  type: string;
  pool: string;
  name: string | null;
  schedule: string | null;
  /** IANA time zone that `next_run_at` was worked out in. */
  zone: string;
  /** Null when no further run will come. A job is due when this is past and nothing of it runs. */
  next_run_at: string | null;
  last_run_at: string | null;
  last_status: string | null;
  run_count: number;
  /** Of the newest run; the scan may be gone. */
  scan_id: string | null;
  started_at: string | null;
  completed_at: string | null;
  error: string | null;
  created_by: string | null;
  params: string;
}

export interface JobRunTableRow {
  job_id: string;
  /** The time of the schedule that the run is for. */
  fire_at: string;
  scan_id: string | null;
  status: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface OutboxTableRow {
  /** Of the message; every try carries it, so that a receiver knows a repetition. */
  id: string;
  /** The scan that the message is about; null if it is about none. */
  scan_id: string | null;
  /** `<channel_type>://<channel_name>` */
  channel: string;
  /** Who sends it, see `domain/executor.ts`. */
  owner: string;
  /** Tries so far. */
  attempts: number;
  /** When the next try is due, epoch milliseconds. */
  next_at: number;
  /** That of the scan. */
  tenant: string | null;
  /** Name of the event; null while only the scan says it. */
  event: string | null;
  /** JSON of what the message says; null where the scan says it all. */
  payload: string | null;
}

/** What a scan divides among its shards, see `ShardPlan`. */
export interface ShardPlanTableRow {
  scan_id: string;
  /** When the first worker started a shard, by the clock of the database; before that, when the plan was made. ISO 8601 UTC. */
  started_at: string;
  /** Whether a worker has started a shard. */
  started: number;
  /** JSON. */
  addresses: string;
  /** JSON. */
  hostnames: string;
}

/** A part of a scan that one worker runs; only where workers on other hosts take part. */
export interface ShardTableRow {
  scan_id: string;
  /** 0-based. */
  shard: number;
  /** Shards of the scan. */
  of: number;
  pool: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /** Raised by every claim; a write with an older one is rejected. */
  attempt: number;
  /** Leases that expired because the worker sent no heartbeat. */
  expired_leases: number;
  /** Epoch milliseconds. */
  lease_until: number | null;
  worker: string | null;
  /** SHA-256 of what the worker proves itself with to the server, hex. */
  key_digest: string | null;
  /** Rows that the owner server has. */
  rows: number;
  /** What the owner of the scan wants of the worker. */
  command: 'run' | 'pause' | 'cancel';
  /** The newest command that took effect in the worker. */
  applied_command: 'run' | 'pause' | 'cancel' | null;
  /** Packets per second that the worker may send, and the limit that took effect. */
  rate: number;
  applied_rate: number | null;
  /** JSON of changed scope rules, null while there are none. */
  rules: string | null;
  /** JSON of the newest report, and of how the shard ended. */
  live: string | null;
  outcome: string | null;
  finished_at: string | null;
}

/** Part of a count of rows, see `counting-triggers.ts`. */
interface RowCountTableRow {
  /** The table whose rows are counted. */
  counted: string;
  /** Empty for rows without tenant. */
  tenant: string;
  status: string;
  total: number;
  bytes: number;
}

/** What is remembered of an alert, see `alerts/alert-state.ts`. */
export interface AlertStateTableRow {
  name: string;
  /** SHA-256 of the condition, hex: an edited rule starts anew. */
  condition_digest: string;
  state: 'inactive' | 'pending' | 'firing';
  since: string;
  pending_ms: number;
  quiet_ms: number;
  error: string | null;
}

/** Work that one server of many does at a time. */
export interface LeaseTableRow {
  name: string;
  /** Who does it, see `domain/executor.ts`. */
  holder: string;
  /** By the clock of the database, epoch milliseconds. */
  lease_until: number;
}

/** A server of many on one database. */
export interface ServerTableRow {
  server_id: string;
  /** Where its API is, as it knows itself. */
  url: string;
  version: string;
  /** Epoch milliseconds. */
  last_seen: number;
  /** On the disk of its workspace; null when unknown. */
  free_bytes: number | null;
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
  /** Shards at a time, and those that run now. */
  capacity: number;
  active: number;
  started_at: string;
  /** Epoch milliseconds. */
  last_seen: number;
}

/** The one place where booleans meet the database. */
export const flag = {
  toRow: (value: boolean): number => (value ? 1 : 0),
  fromRow: (value: number): boolean => value !== 0,
};
