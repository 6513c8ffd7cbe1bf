import { PortolanError } from '../../domain/errors.ts';
import type { ErrorRow, ResultRow, SummaryRow } from '../../domain/result.ts';
import { isFinal, type Scan, type ScanWarning } from '../../domain/scan.ts';
import type { Store } from '../../store/open.ts';
import type { RecordDamage, RecordView, RowRecord } from '../../workspace/record/scan-record.ts';
import { checkpointSeconds } from '../run-time.ts';
import { provisionalSummary } from './provisional-summary.ts';

/** Code of the warning about damaged results. */
export const recordDamaged = 'record_damaged';

/** Tracks the damage of records as they are read, and knows which scans are listed. */
export interface RecordObserver {
  isListed(scanId: string): Promise<boolean>;
  /** @param warning null for an intact record */
  observed(scanId: string, warning: ScanWarning | null): void;
}

/** For readers without an observer. */
export function storeObserver({ scans }: Pick<Store, 'scans'>): RecordObserver {
  return { isListed: async (scanId) => (await scans.get(scanId)) !== null, observed: () => undefined };
}

/** The results of a scan for one response, consistent even if its folder changes. Must be closed. */
export class OpenResults {
  /** Includes the warning about a damaged record. */
  readonly scan: Scan;
  /** Partial if the record is damaged. */
  readonly summary: SummaryRow;
  readonly damage: ScanWarning | null;
  readonly view: RecordView;
  #narrow: (rows: AsyncGenerator<ResultRow>) => AsyncGenerator<ResultRow> = (rows) => rows;

  /** @param seconds duration of an unfinished scan so far; by default from the wall clock */
  constructor(scan: Scan, view: RecordView, damage: ScanWarning | null, seconds?: number) {
    this.scan = damage ? { ...scan, warnings: [...scan.warnings, damage] } : scan;
    // A record may be finished a moment before the scan counts as ended.
    const summary = (isFinal(scan.status) ? view.summary : null) ?? provisionalSummary(scan, seconds);
    this.summary = damage ? { ...summary, partial: true } : summary;
    this.damage = damage;
    this.view = view;
  }

  rows(): AsyncGenerator<ResultRow> {
    return this.#narrow(this.view.rows());
  }

  /** From now on `rows` are these. */
  narrow(choose: (rows: AsyncGenerator<ResultRow>) => AsyncGenerator<ResultRow>): void {
    this.#narrow = choose;
  }

  /** The rows after an error row about the damage, for formats without warnings. */
  async *rowsWithDamage(): AsyncGenerator<ResultRow> {
    if (this.damage) yield damageRow(this.damage, this.summary.timestamp);
    yield* this.rows();
  }

  close(): Promise<void> {
    return this.view.close();
  }
}

function damageRow({ code, message }: ScanWarning, timestamp: string): ErrorRow {
  return { type: 'error', timestamp, host: null, target: null, code, message, node: null };
}

/**
 * When a large record is verified: before the first read; during the first pages; or while its rows are read, which
 * then fail at the first damage.
 */
export type Verification = 'first' | 'behind-page' | 'while-reading';

/**
 * Opens the record of a scan; verifies it if the scan has ended.
 * @throws PortolanError `not_found` if the scan was deleted meanwhile
 */
export async function openResults(
  scan: Scan,
  record: RowRecord,
  observer: RecordObserver,
  verification: Verification = 'first',
): Promise<OpenResults> {
  const view = await record.open();
  const verify = async () => {
    if (verification === 'behind-page') return await view.verifyBehindPage();
    if (verification === 'first') return await view.verify();
    return await view.verifyWhileReading(() =>
      observer.observed(scan.scan_id, damageOf(scan, view, 'damaged')),
    );
  };
  try {
    const damage = isFinal(scan.status) ? damageOf(scan, view, await verify()) : null;
    if (damage && !(await record.exists()) && (await isDeleted(scan, record, observer)))
      throw new PortolanError('not_found', 'There is no such scan.');
    if (isFinal(scan.status)) observer.observed(scan.scan_id, damage);
    const isSummarized = isFinal(scan.status) && view.summary !== null;
    const seconds = isSummarized ? null : await checkpointSeconds(record);
    return new OpenResults(scan, view, damage, seconds ?? undefined);
  } catch (error) {
    await view.close();
    throw error;
  }
}

/** A deletion renames the record, unlists the scan, then deletes the folder: check in this order. */
async function isDeleted(scan: Scan, record: RowRecord, observer: RecordObserver): Promise<boolean> {
  return (await record.isRetired()) || !(await observer.isListed(scan.scan_id));
}

function damageOf(scan: Scan, view: RecordView, fault: RecordDamage | null): ScanWarning | null {
  const wasDamaged = view.summary?.damaged === true;
  if (!wasDamaged && (fault === null || isExpected(scan, fault))) return null;
  const what = fault === 'missing' ? 'missing' : 'damaged';
  const message = `The recorded results of the scan are ${what}; check them with "portolan workspace check".`;
  return { code: recordDamaged, message };
}

/** A failed scan may have ended before it recorded anything, or before its record was finished. */
function isExpected({ status, results }: Scan, fault: RecordDamage): boolean {
  if (status === 'completed' || fault === 'damaged') return false;
  const counted = results.live_hosts + results.open_ports + results.vulnerabilities;
  return fault === 'unfinished' || counted === 0;
}
