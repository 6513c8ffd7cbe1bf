import { noFindings } from '../../domain/finding.ts';
import {
  defaultPriority,
  firstNotifications,
  type Scan,
  type ScanRequest,
  type ScanStatus,
  type StageRecord,
} from '../../domain/scan.ts';
import { completeProgress, completeStage, initialProgress } from '../../domain/scan-progress.ts';
import { flag, type ScanTableRow } from '../schema/tables.ts';

/** Allowed previous states of each state. States only move forward; the two final ones stay. */
export const statesBefore: Record<ScanStatus, ScanStatus[]> = {
  pending: ['pending'],
  running: ['pending', 'running'],
  completed: ['pending', 'running'],
  failed: ['pending', 'running'],
};

/** Columns that are not fields of a scan. */
type OriginColumns = 'request_id' | 'traceparent';
type OwnColumns =
  | OriginColumns
  | 'executor'
  | 'size_bytes'
  | 'searchable'
  | 'request'
  | 'tenant'
  | 'stored_at';

/** Row of a new scan. @param tenant null without tenants */
export function newScanRow(
  scan: Scan,
  request: ScanRequest,
  executor: string,
  tenant: string | null,
): Omit<ScanTableRow, OriginColumns> {
  return {
    ...(toRow(scan) as Omit<ScanTableRow, OwnColumns>),
    executor,
    size_bytes: 0,
    searchable: searchableText(scan),
    request: JSON.stringify(request),
    tenant,
    stored_at: null,
  };
}

/** A scan that has not started. */
export function pendingScan(request: ScanRequest): Scan {
  return {
    scan_id: request.scan_id,
    status: 'pending',
    targets: request.targets,
    started_at: null,
    completed_at: null,
    results: { live_hosts: 0, open_ports: 0, vulnerabilities: 0 },
    created_at: request.created_at,
    profile: request.profile,
    vuln: request.vuln,
    name: request.name,
    tags: request.tags,
    pool: request.pool,
    priority: request.priority ?? defaultPriority,
    progress: initialProgress(),
    severity_counts: noFindings(),
    error: null,
    warnings: [],
    notifications: firstNotifications(request),
    stages: [],
  };
}

/** Columns of the fields that `scan` has. */
export function toRow(scan: Partial<Scan>): Partial<ScanTableRow> {
  const {
    results,
    vuln,
    targets,
    tags,
    progress,
    severity_counts,
    error,
    warnings,
    notifications,
    stages,
    ...plain
  } = scan;
  return {
    ...plain,
    ...results,
    ...(vuln !== undefined && { vuln: flag.toRow(vuln) }),
    ...(error !== undefined && { error: error && JSON.stringify(error) }),
    ...jsonColumns({ targets, tags, progress, severity_counts, warnings, notifications, stages }),
  };
}

function jsonColumns(fields: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Text that `q` searches. */
export function searchableText(scan: Pick<Scan, 'name' | 'targets'>): string {
  return [scan.name ?? '', ...scan.targets].join('\n');
}

export const scanColumns = [
  'scan_id',
  'created_at',
  'status',
  'started_at',
  'completed_at',
  'profile',
  'vuln',
  'name',
  'pool',
  'priority',
  'live_hosts',
  'open_ports',
  'vulnerabilities',
  'tags',
  'progress',
  'severity_counts',
  'error',
  'notifications',
  'warnings',
  'stages',
  'targets',
] as const satisfies (keyof ScanTableRow)[];

export type StoredScan = Pick<ScanTableRow, (typeof scanColumns)[number]>;

export function scanFromRow(row: StoredScan): Scan {
  return {
    scan_id: row.scan_id,
    status: row.status as ScanStatus,
    targets: JSON.parse(row.targets),
    started_at: row.started_at,
    completed_at: row.completed_at,
    results: {
      live_hosts: Number(row.live_hosts),
      open_ports: Number(row.open_ports),
      vulnerabilities: Number(row.vulnerabilities),
    },
    created_at: row.created_at,
    profile: row.profile,
    vuln: flag.fromRow(row.vuln),
    name: row.name,
    tags: JSON.parse(row.tags),
    pool: row.pool,
    priority: row.priority,
    progress: completeProgress(JSON.parse(row.progress)),
    severity_counts: JSON.parse(row.severity_counts),
    error: row.error === null ? null : JSON.parse(row.error),
    warnings: JSON.parse(row.warnings),
    notifications: JSON.parse(row.notifications),
    stages: (JSON.parse(row.stages) as StageRecord[]).map(completeStage),
  };
}
