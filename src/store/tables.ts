/**
 * Rows as they lie in the database, alike in every dialect: text ids, times as ISO 8601 UTC text (leases as epoch
 * milliseconds), JSON as text, booleans 0 or 1.
 */
export interface Tables {
  scans: ScanTableRow;
  scan_tags: { scan_id: string; tag: string };
  tokens: TokenTableRow;
  jobs: JobTableRow;
  idempotency_keys: IdempotencyTableRow;
}

export interface ScanTableRow {
  scan_id: string;
  created_at: string;
  status: string;
  /** `server`, or `cli:<pid>` for a scan that a command line runs itself. */
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

export interface JobTableRow {
  scan_id: string;
  pool: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /** Place in the line; the smallest waiting one is claimed first. */
  position: number;
  /** Raised by every claim; a write with an older one is refused. */
  attempt: number;
  /** Epoch milliseconds. */
  lease_until: number | null;
  worker: string | null;
  cancel_requested: number;
  created_at: string;
  finished_at: string | null;
}

export interface IdempotencyTableRow {
  /** Id of the token that the key came with; empty for clients without. */
  owner: string;
  key: string;
  /** SHA-256 of the body, hex. */
  digest: string;
  scan_id: string;
  /** Of the scan and of the key: they come into being together. */
  created_at: string;
}

/** The one place where booleans meet the database. */
export const flag = {
  toRow: (value: boolean): number => (value ? 1 : 0),
  fromRow: (value: number): boolean => value !== 0,
};
