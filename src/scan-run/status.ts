import {
  firstNotifications,
  type Scan,
  type ScanRequest,
  type ScanWarning,
  type StageRecord,
} from '../domain/scan.ts';
import type { ScanOutcome } from './messages.ts';

interface StatusInput {
  request: ScanRequest;
  startedAt: string;
  warnings: ScanWarning[];
  /** Outcome and duration in seconds; null while it runs. */
  end: { outcome: ScanOutcome; seconds: number } | null;
}

/** Content of `status.json`: the state of the scan, for people and for a server that resumes it. */
export function scanStatus({ request, startedAt, warnings, end }: StatusInput): object {
  const outcome = end?.outcome;
  return statusFile({
    scan_id: request.scan_id,
    status: outcome?.status ?? 'running',
    created_at: request.created_at,
    started_at: startedAt,
    completed_at: outcome?.completed_at ?? null,
    seconds: end?.seconds ?? null,
    stages: outcome?.stages ?? [],
    error: outcome?.error ?? null,
    warnings,
    notifications: firstNotifications(request),
  });
}

/** The same for a stored scan. @param seconds its duration; by default from the wall clock */
export function storedStatus(scan: Scan, seconds?: number): object {
  const { started_at, completed_at } = scan;
  const ran = started_at !== null && completed_at !== null;
  const byWall = () => (ran ? secondsBetween(started_at, completed_at) : null);
  return statusFile({ ...scan, seconds: seconds ?? byWall() });
}

type Status = Pick<
  Scan,
  | 'scan_id'
  | 'status'
  | 'created_at'
  | 'started_at'
  | 'completed_at'
  | 'stages'
  | 'error'
  | 'warnings'
  | 'notifications'
>;

function statusFile({
  scan_id,
  status,
  seconds,
  error,
  stages,
  ...scan
}: Status & { seconds: number | null }): object {
  const { created_at, started_at, completed_at, warnings, notifications } = scan;
  return {
    scan_id,
    state: status,
    created_at,
    started_at,
    completed_at,
    duration_seconds: seconds,
    stages: Object.fromEntries(stages.map((stage) => [stage.instance_id, stageStatus(stage)])),
    errors: [...(error ? [error] : []), ...stages.flatMap(stageError)],
    warnings,
    notifications,
  };
}

function stageStatus({ status, started_at, completed_at, items_in, items_out }: StageRecord) {
  const ended = started_at !== null && completed_at !== null;
  const duration = ended ? secondsBetween(started_at, completed_at) : null;
  return { status, duration, counters: { items_in, items_out } };
}

function stageError({ instance_id, error }: StageRecord) {
  return error === null ? [] : [{ code: 'stage_failed', message: error, node: instance_id }];
}

function secondsBetween(start: string, end: string): number {
  return Math.max(0, Date.parse(end) - Date.parse(start)) / 1000;
}
