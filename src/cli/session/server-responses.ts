import type { Dashboard } from '../../actions/dashboard/dashboards.ts';
import type { JobList } from '../../actions/jobs/list-jobs.ts';
import type { NotComparable } from '../../actions/results/compare-scans.ts';
import type { PlannedProbes, ProbePlan } from '../../actions/results/explain-silence.ts';
import type { RecordCounts } from '../../actions/results/match-records.ts';
import type { ScanSilence } from '../../actions/results/scan-silence.ts';
import type { ScanList } from '../../actions/scans/list-scans.ts';
import type { PreviewNode, ScanPreview } from '../../actions/scans/preview-scan.ts';
import type { GarbageReport } from '../../actions/workspace/collect-garbage.ts';
import { type Job, type JobRun, jobStatuses } from '../../domain/job.ts';
import type { ListedScan } from '../../domain/listed-scan.ts';
import type { ResultRow } from '../../domain/result.ts';
import {
  type Scan,
  type ScanCounts,
  type ScanProgress,
  type StageRecord,
  scanStatuses,
} from '../../domain/scan.ts';
import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import {
  anything,
  itemsOf,
  mapOf,
  nullable,
  number,
  objectOf,
  oneOf,
  optional,
  type ShapeOf,
  text,
  time,
  truth,
  unset,
} from './response-shape.ts';
import { rowShape } from './row-shapes.ts';

/** What the command line reads of the responses of a server. */

const message = objectOf<{ code: string; message: string }>({ code: text, message: text });

export const warningShape = objectOf<{ code: string; message: string; node: string; target: string }>({
  code: text,
  message: text,
  node: unset(text),
  target: unset(text),
});

export const progressShape = objectOf<ScanProgress>({
  percent: number,
  phase: text,
  hosts_done: number,
  hosts_total: number,
  paused: truth,
  paused_by: unset(text),
  interrupted: unset(truth),
  rate: unset(number),
  rate_limit: unset(number),
  eta_seconds: unset(number),
  eta_basis: unset(text),
  tried: unset(number),
  not_tried: unset(number),
  unit: unset(text),
  slowest_stage: unset(text),
  finishing: unset(text),
  shards: unset(objectOf({ total: number, done: number, running: number })),
});

export const countsShape = objectOf<ScanCounts>({
  live_hosts: number,
  open_ports: number,
  vulnerabilities: number,
});

export const stageShape = objectOf<StageRecord>({
  instance_id: text,
  module_type: text,
  status: text,
  started_at: unset(time),
  completed_at: unset(time),
  items_in: unset(number),
  items_out: unset(number),
  depends_on: optional(itemsOf(text)),
  items_in_per_second: unset(number),
  items_out_per_second: unset(number),
  done: unset(number),
  total: unset(number),
  error: unset(text),
  method: unset(text),
  coverage: unset(mapOf(number)),
});

const scanFields = {
  scan_id: text,
  status: oneOf(scanStatuses),
  targets: itemsOf(text),
  created_at: time,
  started_at: nullable(time),
  completed_at: nullable(time),
  profile: text,
  vuln: unset(truth),
  name: nullable(text),
  tags: itemsOf(text),
  results: countsShape,
  progress: progressShape,
  severity_counts: unset(mapOf(number)),
};

export const scanShape: ShapeOf<Scan> = objectOf<Scan>({
  ...scanFields,
  error: nullable(message),
  warnings: itemsOf(warningShape),
  stages: itemsOf(stageShape),
});

const listedScanShape = objectOf<ListedScan>({
  ...scanFields,
  targets_total: unset(number),
  error: nullable(objectOf<{ code: string }>({ code: text })),
});

const page = {
  total: number,
  limit: unset(number),
  offset: unset(number),
  next_cursor: unset(text),
};

export const scanListShape: ShapeOf<ScanList> = objectOf<ScanList>({
  ...page,
  scans: itemsOf(listedScanShape),
});

export const acceptedShape = objectOf<{ scan_id: string; status: string; created_at: string }>({
  scan_id: text,
  status: text,
  created_at: time,
});

export const jobShape: ShapeOf<Job> = objectOf<Job>({
  job_id: text,
  params: objectOf<Job['params']>({
    targets: optional(itemsOf(text)),
    targets_total: unset(number),
    profile: unset(text),
  }),
  schedule: nullable(text),
  pool: text,
  priority: unset(number),
  name: nullable(text),
  status: oneOf(jobStatuses),
  last_status: nullable(text),
  progress: number,
  scan_id: nullable(text),
  run_count: number,
  last_run_at: nullable(time),
  next_run_at: nullable(time),
  next_runs: itemsOf(time),
  runs: itemsOf(
    objectOf<JobRun>({
      scan_id: nullable(text),
      status: text,
      started_at: nullable(time),
      completed_at: nullable(time),
    }),
  ),
  created_at: time,
  error: nullable(message),
  warnings: optional(itemsOf(warningShape)),
});

export const jobListShape: ShapeOf<JobList> = objectOf<JobList>({
  ...page,
  total_is_minimum: unset(truth),
  jobs: itemsOf(jobShape),
});

export const seriesShape = objectOf<Pick<Dashboard, 'series'>>({
  series: itemsOf(
    objectOf<Dashboard['series'][number]>({
      scan: objectOf<ListedScan>({ scan_id: text }),
      changes: unset(objectOf<{ new: number }>({ new: unset(number) })),
      pending: unset(truth),
    }),
  ),
});

export interface AuditPage {
  audit: AuditRecord[];
  next_cursor: string | null;
}

export const auditPageShape = objectOf<AuditPage>({
  audit: itemsOf(
    objectOf<AuditRecord>({
      timestamp: time,
      event: text,
      outcome: text,
      actor: objectOf({}),
      tenant: nullable(text),
      request: unset(objectOf({})),
      resource: unset(objectOf({})),
      details: objectOf({}),
    }),
  ),
  next_cursor: nullable(text),
});

export const garbageShape: ShapeOf<GarbageReport> = objectOf<GarbageReport>({
  dry_run: truth,
  deleted_count: number,
  deleted_scans: itemsOf(text),
  freed_bytes: number,
  kept_count: number,
  errors: itemsOf(objectOf<{ scan_id: string; message: string }>({ scan_id: text, message: text })),
  policy: objectOf<GarbageReport['policy']>({
    older_than: nullable(text),
    keep_last: nullable(number),
    retention: unset(objectOf({})),
  }),
});

const recordCounts = objectOf<RecordCounts>({ hosts: number, ports: number, findings: number });

export interface MatchPage {
  records: (ResultRow & { totals?: unknown; matching?: unknown })[];
  next_cursor: string | null;
  matches: RecordCounts;
  warnings: { message: string }[];
}

export const matchPageShape = objectOf<MatchPage>({
  records: itemsOf(rowShape),
  next_cursor: nullable(text),
  matches: recordCounts,
  warnings: itemsOf(warningShape),
});

/** `data` of `GET /api/v1/workspace/info` */
export interface WorkspaceInfo {
  path: string;
  size_bytes: number;
  scan_count: number;
  oldest_scan: string | null;
  newest_scan: string | null;
}

export const workspaceInfoShape = objectOf<WorkspaceInfo>({
  path: text,
  size_bytes: number,
  scan_count: number,
  oldest_scan: nullable(time),
  newest_scan: nullable(time),
});

const probes = itemsOf(
  objectOf<PlannedProbes>({ kind: text, ports: itemsOf(number), times: number, timeout: text }),
);

export const silenceShape = objectOf<Partial<ScanSilence>>({
  silence: unset(
    objectOf<{ state: string; reason: string; errors: string[] }>({
      state: text,
      reason: unset(text),
      errors: optional(itemsOf(text)),
    }),
  ),
  probes: unset(objectOf<ProbePlan>({ discovery: probes, ports: probes })),
});

export const previewShape: ShapeOf<ScanPreview> = objectOf<ScanPreview>({
  graph: text,
  profile: text,
  vuln: truth,
  targets: itemsOf(text),
  addresses: number,
  hostnames: number,
  excluded: number,
  ports: objectOf<ScanPreview['ports']>({ tcp: number, udp: number }),
  rate: (value, place) => (value === 'auto' ? null : number(value, place)),
  packets_estimate: number,
  duration_estimate_seconds: number,
  duration_estimate_basis: unset(text),
  packets_probable: unset(number),
  duration_probable: unset(
    objectOf<ScanPreview['duration_probable']>({ seconds: number, basis: unset(text) }),
  ),
  nodes: itemsOf(
    objectOf<PreviewNode>({
      instance_id: text,
      module_type: text,
      depends_on: itemsOf(text),
      skipped: nullable(text),
    }),
  ),
  warnings: itemsOf(warningShape),
});

const place = { host: text, port: unset(number), protocol: unset(text) };
const portState = {
  state: text,
  service: unset(text),
  product: unset(text),
  version: unset(text),
};
const ports = itemsOf(objectOf<Record<string, unknown>>({ ...place, ...portState }));
const findings = itemsOf(
  objectOf<Record<string, unknown>>({
    ...place,
    vulnerability: objectOf<{ id: string; severity: string; title: string }>({
      id: text,
      severity: text,
      title: text,
    }),
  }),
);

/** The part of a comparison that is read. */
export interface ComparisonResponse extends Record<string, unknown> {
  scan_id: string;
  against: string;
  vulnerabilities: { unchanged_count: number };
}

export const baselineShape = objectOf<{ baseline: { scan_id: string } | null }>({
  baseline: nullable(objectOf<{ scan_id: string }>({ scan_id: text })),
});

export const comparisonShape = objectOf<ComparisonResponse>({
  scan_id: text,
  against: text,
  hosts: objectOf<Record<string, unknown>>({
    added: itemsOf(text),
    removed: itemsOf(text),
    moved: optional(
      itemsOf(
        objectOf<Record<string, unknown>>({
          before: text,
          after: text,
          by: itemsOf(objectOf<{ kind: string }>({ kind: text })),
        }),
      ),
    ),
  }),
  ports: objectOf<Record<string, unknown>>({
    added: ports,
    removed: ports,
    changed: itemsOf(
      objectOf<Record<string, unknown>>({
        ...place,
        before: objectOf<Record<string, unknown>>(portState),
        after: objectOf<Record<string, unknown>>(portState),
      }),
    ),
  }),
  vulnerabilities: objectOf<Record<string, unknown>>({
    new: findings,
    resolved: findings,
    unchanged_count: number,
  }),
  not_comparable: optional(itemsOf(objectOf<NotComparable>({ ...place, reason: text, missing_in: text }))),
});

export const featuresShape = objectOf<{ features: string[] }>({ features: itemsOf(text) });

export const graphNamesShape = objectOf<{ dags: { name: string }[] }>({
  dags: itemsOf(objectOf<{ name: string }>({ name: text })),
});

interface ListedGraph {
  name: string;
  description: string;
  source: string;
  nodes: number;
}

export const listedGraphsShape = objectOf<{ dags: ListedGraph[] }>({
  dags: itemsOf(objectOf<ListedGraph>({ name: text, description: text, source: text, nodes: number })),
});

const healthCheck = objectOf<{ name: string; status: string; message: string }>({
  name: text,
  status: text,
  message: text,
});

/** The displayed part of the health object (contract 8.1). */
export interface ShownHealth {
  status: string;
  uptime: number;
  version: string;
  workers: { active: number; idle: number; total: number };
  queue: { pending: number; running: number; failed: number };
  workspace: { scans: number; size_mb: number; free_space_mb: number };
  windows?: { open: boolean; reason: string | null; until: string | null };
  checks?: { name: string; status: string; message: string }[];
}

export const healthShape = objectOf<ShownHealth>({
  status: text,
  uptime: number,
  version: text,
  workers: objectOf<ShownHealth['workers']>({ active: number, total: number }),
  queue: objectOf<ShownHealth['queue']>({ pending: number, failed: number }),
  workspace: objectOf<ShownHealth['workspace']>({ scans: number, size_mb: number, free_space_mb: number }),
  windows: unset(
    objectOf<NonNullable<ShownHealth['windows']>>({
      open: truth,
      reason: unset(text),
      until: unset(time),
    }),
  ),
  checks: optional(itemsOf(healthCheck)),
});

/** For responses that are not read. */
export const unreadShape: ShapeOf<unknown> = anything;
