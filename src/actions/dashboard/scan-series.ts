import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { newestOfAll } from '../../store/scans/age-windows.ts';
import type { CompletedRun } from '../../store/scans/completed-runs.ts';
import type { ScanTable } from '../../store/scans/scans.ts';
import { countedRuns, type EvaluatedRun, evaluatedRun, hasEvaluated } from './counted-runs.ts';

/** Series that a dashboard shows. */
const maxSeries = 6;
/** Completed scans that are searched for them, newest first. */
const maxScans = 2000;
/** Scans that one statement reads: a few milliseconds of the event loop. */
const scansAtOnce = 200;
/** Days of the trend. */
const trendDays = 30;
const dayMs = 86_400_000;

/**
 * Completed runs of what is scanned again and again: scans of one name, else of the same targets, ports, profile and
 * evaluation.
 */
export interface ScanSeries {
  key: string;
  /** Name of the scans; null if they have none. */
  name: string | null;
  /** Newest first. */
  runs: CompletedRun[];
  /** What its latest run is compared with. */
  previous: string | null;
  /** Null if none of its runs looked for vulnerabilities. */
  evaluated: EvaluatedRun | null;
}

export interface TrendDay {
  /** UTC. */
  date: string;
  critical: number;
  high: number;
}

/** The series with the newest runs. */
export async function readSeries(
  scans: Pick<ScanTable, 'completedRuns' | 'baselineOf' | 'request'>,
): Promise<ScanSeries[]> {
  const found = new Map<string, ScanSeries>();
  let before = newestOfAll;
  for (let read = 0; read < maxScans; read += scansAtOnce) {
    const part = await scans.completedRuns(before, scansAtOnce);
    for (const scan of part) addRun(found, scan);
    const last = part.at(-1);
    if (!last || part.length < scansAtOnce) break;
    before = { createdAt: last.created_at, id: last.scan_id };
    await setImmediate();
  }
  const series = [...found.values()];
  for (const each of series) {
    each.previous = (await scans.baselineOf(each.runs[0]?.scan_id ?? ''))?.scan_id ?? null;
    each.evaluated = await evaluatedRun(each.runs, scans);
  }
  return series;
}

/** Runs of further series are not collected. */
function addRun(found: Map<string, ScanSeries>, scan: CompletedRun): void {
  const key = keyOf(scan);
  const known = found.get(key);
  if (known) known.runs.push(scan);
  else if (found.size < maxSeries)
    found.set(key, { key, name: scan.name, runs: [scan], previous: null, evaluated: null });
}

function keyOf({ name, profile, targets, plan, vuln }: CompletedRun): string {
  const what = name === null ? ['targets', profile, targets, plan, vuln] : ['name', name];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
}

/**
 * Open critical and high findings at the end of each day, of the run of each series that was the last evaluated one then,
 * without those of whose addresses newer ones had evaluated all. Days before the first run are left out: nothing is known
 * of them.
 */
export function trendOf(series: readonly ScanSeries[], now: number): TrendDay[] {
  const today = Math.floor(now / dayMs);
  return Array.from({ length: trendDays }).flatMap((_, index) => {
    const day = today - trendDays + 1 + index;
    const end = new Date((day + 1) * dayMs).toISOString();
    if (!series.some(({ runs }) => runs.some(({ completed_at }) => completed_at < end))) return [];
    const evaluated = series.flatMap(({ runs, evaluated: newest }) => {
      const run = runs.find((each) => each.completed_at < end && hasEvaluated(each));
      return run && newest ? [{ ...newest, run }] : [];
    });
    const latest = countedRuns(evaluated).map(({ run }) => run);
    const sum = (severity: 'critical' | 'high') =>
      latest.reduce((total, { severity_counts }) => total + severity_counts[severity], 0);
    const date = new Date(day * dayMs).toISOString().slice(0, 10);
    return [{ date, critical: sum('critical'), high: sum('high') }];
  });
}
