import type { ScanRequest, ScanWarning, StageRecord } from '../domain/scan.ts';
import type { ScanOutcome } from './scan-messages.ts';

interface StatusInput {
  request: ScanRequest;
  startedAt: string;
  warnings: ScanWarning[];
  /** How the scan ended, and after how many seconds; null while it runs. */
  end: { outcome: ScanOutcome; seconds: number } | null;
}

/** Content of `status.json`: how the scan stands, for people and for a server that has to pick it up. */
export function scanStatus({ request, startedAt, warnings, end }: StatusInput): object {
  const outcome = end?.outcome;
  const stages = outcome?.stages ?? [];
  return {
    scan_id: request.scan_id,
    state: outcome?.status ?? 'running',
    created_at: request.created_at,
    started_at: startedAt,
    completed_at: outcome?.completed_at ?? null,
    duration_seconds: end?.seconds ?? null,
    stages: Object.fromEntries(stages.map((stage) => [stage.instance_id, stageStatus(stage)])),
    results: outcome?.results ?? null,
    errors: outcome?.error ? [outcome.error] : [],
    warnings,
    notifications: [],
  };
}

function stageStatus({ status, started_at, completed_at, items_in, items_out }: StageRecord) {
  const ended = started_at !== null && completed_at !== null;
  const duration = ended ? (Date.parse(completed_at) - Date.parse(started_at)) / 1000 : null;
  return { status, duration, counters: { items_in, items_out } };
}
