import type { ScanProgress, StageRecord } from './scan.ts';

/** Of a scan that has not started. */
export function initialProgress(): ScanProgress {
  return {
    percent: 0,
    phase: 'pending',
    hosts_done: 0,
    hosts_total: 0,
    paused: false,
    paused_by: null,
    paused_at: null,
    interrupted: false,
    rate: 0,
    rate_limit: 0,
    eta_seconds: null,
    eta_basis: null,
    tried: 0,
    not_tried: 0,
    unit: 'hosts',
    slowest_stage: null,
    finishing: null,
    resumes: 0,
    shards: { total: 1, done: 0, running: 0 },
  };
}

/** Stored progress with every field: earlier versions stored fewer. */
export function completeProgress(stored: Partial<ScanProgress>): ScanProgress {
  return { ...initialProgress(), ...stored };
}

/** The same of a stage. */
export function completeStage(stored: StageRecord): StageRecord {
  const { depends_on = [], items_in_per_second = 0, items_out_per_second = 0 } = stored;
  return { ...stored, depends_on, items_in_per_second, items_out_per_second };
}

/** Progress fields while a scan does not send. */
export const notSending = {
  rate: 0,
  eta_seconds: null,
  eta_basis: null,
} as const satisfies Partial<ScanProgress>;

/** Progress fields after the end, whatever it was. */
export const afterEnd = {
  phase: 'done',
  paused: false,
  paused_by: null,
  paused_at: null,
  interrupted: false,
  rate: 0,
  rate_limit: 0,
  eta_basis: null,
  slowest_stage: null,
  finishing: null,
} as const satisfies Partial<ScanProgress>;

/** A scan of a list: its detail has the history of the rate. */
export function withoutHistory<S extends { progress: ScanProgress }>(scan: S): S {
  const { rate_history: history, ...progress } = scan.progress;
  return history === undefined ? scan : { ...scan, progress };
}
