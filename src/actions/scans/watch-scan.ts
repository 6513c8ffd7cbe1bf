import { PortolanError } from '../../domain/errors.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import { withoutHistory } from '../../domain/scan-progress.ts';
import { openResults, type RecordObserver, recordDamaged } from '../../scan-run/results/open-results.ts';
import { parseRow } from '../../workspace/record/row-line.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { passingWarnings } from './window-warning.ts';

export type ScanEventName = 'status' | 'progress' | 'host' | 'port' | 'finding' | 'warning' | 'end';

/** One event of a scan. `data` is JSON text on one line; `id` is the row number of the record. */
export interface ScanEvent {
  event: ScanEventName;
  id?: number;
  data: string;
}

/** Consecutive events. Readers at the same place of a record get the same object. */
export type EventRun = readonly ScanEvent[];

export interface ScanSource {
  scanId: string;
  /** The current scan; null once it is deleted. */
  scan(): Promise<Scan | null>;
  /** Resolves at a possible change, after a while, or on abort. */
  changed(signal: AbortSignal): Promise<void>;
  /** Number of the last sealed row; 0 without any. */
  lastRow(): Promise<number>;
  /** Every sealed row after a number, as stored. */
  rowsAfter(row: number): AsyncIterable<EventRun>;
  /** State of the record of a finished scan. */
  damageOf(scan: Scan): Promise<EventDamage>;
}

/** Where a reader of a scan begins: after a row of its record, 0 = at its start; `end` = only what is new. */
export type RecordPosition = number | 'end';

/** Why the events of a scan are incomplete; null if they are not. */
export type EventDamage = ScanWarning | 'deleted' | null;

/** Minimum interval between two `progress` events, milliseconds. */
const progressMs = 500;

const eventsOfRows: Record<string, ScanEventName> = {
  host: 'host',
  port: 'port',
  vulnerability: 'finding',
  error: 'warning',
};

/**
 * Events of a scan, from a row of its record on, until its `end`. Rows come from disk at the speed of the reader, so
 * none is lost; a slow reader gets only the newest `progress`.
 * @param from with `end`, the first `status` names the last row before
 * @param report of earlier parts of the same stream
 */
export async function* watchScan(
  source: ScanSource,
  from: RecordPosition,
  signal: AbortSignal,
  report = new EventReport(),
): AsyncGenerator<EventRun> {
  let row = from === 'end' ? await source.lastRow() : from;
  let id = from === 'end' ? { id: row } : {};
  while (!signal.aborted) {
    // Read the state before the rows: if it is final, every row is on disk.
    const scan = await source.scan();
    if (scan === null) return;
    for (const event of report.statusOf(scan)) yield [{ ...event, ...id }];
    id = {};
    for await (const run of source.rowsAfter(row)) {
      row = run.at(-1)?.id ?? row;
      yield run;
      if (signal.aborted) return;
    }
    for (const event of report.warningsOf(scan)) yield [event];
    if (isFinal(scan.status)) {
      const damage = await source.damageOf(scan);
      if (damage === 'deleted') return;
      if (damage) yield [{ event: 'warning', data: JSON.stringify(damage) }];
      yield [report.end(scan, damage !== null)];
      return;
    }
    for (const event of report.progressOf(scan)) yield [event];
    await source.changed(signal);
  }
}

/** Verifies the record of a finished scan for its event stream. */
export async function eventDamage(
  scan: Scan,
  record: ScanRecord,
  observer: RecordObserver,
): Promise<EventDamage> {
  const results = await openResults(scan, record, observer).catch((error: unknown) => {
    if (error instanceof PortolanError && error.code === 'not_found') return null;
    throw error;
  });
  if (results === null) return 'deleted';
  try {
    if (results.damage || (await results.view.hasWholeSequence())) return results.damage;
    return { code: recordDamaged, message: sequenceLost };
  } finally {
    await results.close();
  }
}

const sequenceLost =
  'Events are missing: the order of the results was lost. The results themselves are complete.';

/** The event of a row; undefined for other rows, and for placeholders of a damaged record. */
export function eventOfRow(line: string): ScanEventName | undefined {
  if (line.includes('\n')) return undefined;
  const type = /^\{"type":"(\w+)".*\}$/.exec(line)?.[1] ?? parseRow(line)?.type ?? '';
  return eventsOfRows[type];
}

/** Reports changes since the last query. */
export class EventReport {
  #status = '';
  #progress = '';
  #progressAt = Number.NEGATIVE_INFINITY;
  #warnings = 0;
  #passing: ReadonlySet<string> = new Set();

  *statusOf({ scan_id, status, started_at, completed_at, progress, error }: Scan): Generator<ScanEvent> {
    const { paused } = progress;
    const seen = `${status} ${paused}`;
    if (seen === this.#status) return;
    this.#status = seen;
    const data = { scan_id, status, paused, started_at, completed_at, error };
    yield { event: 'status', data: JSON.stringify(data) };
  }

  /** All of them stay except those about a wait. */
  *warningsOf({ warnings }: Scan): Generator<ScanEvent> {
    const staying = warnings.filter(({ code }) => !passingWarnings.has(code));
    for (const warning of staying.slice(this.#warnings))
      yield { event: 'warning', data: JSON.stringify(warning) };
    this.#warnings = Math.max(this.#warnings, staying.length);
    const passing = warnings
      .filter(({ code }) => passingWarnings.has(code))
      .map((one) => JSON.stringify(one));
    for (const data of passing) if (!this.#passing.has(data)) yield { event: 'warning', data };
    this.#passing = new Set(passing);
  }

  *progressOf(scan: Scan): Generator<ScanEvent> {
    const now = performance.now();
    const { progress, results, severity_counts, stages } = withoutHistory(scan);
    const data = JSON.stringify({ progress, results, severity_counts, stages });
    if (data === this.#progress || now - this.#progressAt < progressMs) return;
    this.#progress = data;
    this.#progressAt = now;
    yield { event: 'progress', data };
  }

  end(scan: Scan, damaged: boolean): ScanEvent {
    const { scan_id, status, completed_at, results, severity_counts, error } = scan;
    const data = {
      scan_id,
      status,
      partial: damaged || status !== 'completed',
      completed_at,
      results,
      severity_counts,
      error,
    };
    return { event: 'end', data: JSON.stringify(data) };
  }
}
