import { PortolanError } from '../domain/errors.ts';
import type { ErrorRow, ResultRow, SummaryRow } from '../domain/result.ts';
import { isFinal, type Scan, type ScanWarning } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import { type RecordDamage, RecordView } from '../workspace/record/record-view.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { provisionalSummary } from './provisional-summary.ts';
import { checkpointSeconds } from './run-time.ts';

/** Code of the warning of results that are not what the scan recorded. */
export const recordDamaged = 'record_damaged';

/** Hears how the records that are read are, and knows what is listed. */
export interface RecordObserver {
  isListed(scanId: string): Promise<boolean>;
  /** @param warning null for a whole record */
  observed(scanId: string, warning: ScanWarning | null): void;
}

/** Of readers that nobody watches. */
export function storeObserver({ scans }: Pick<Store, 'scans'>): RecordObserver {
  return { isListed: async (scanId) => (await scans.get(scanId)) !== null, observed: () => undefined };
}

/** The results of a scan for one response, of one piece whatever becomes of its folder. To be closed. */
export class OpenResults {
  /** With the warning of a damaged record. */
  readonly scan: Scan;
  /** Partial when the record is damaged. */
  readonly summary: SummaryRow;
  readonly damage: ScanWarning | null;
  readonly view: RecordView;

  /** @param seconds that an unfinished scan has run; without it by the wall clock */
  constructor(scan: Scan, view: RecordView, damage: ScanWarning | null, seconds?: number) {
    this.scan = damage ? { ...scan, warnings: [...scan.warnings, damage] } : scan;
    // A record may be finished a moment before the scan counts as ended.
    const summary = (isFinal(scan.status) ? view.summary : null) ?? provisionalSummary(scan, seconds);
    this.summary = damage ? { ...summary, partial: true } : summary;
    this.damage = damage;
    this.view = view;
  }

  rows(): AsyncGenerator<ResultRow> {
    return this.view.rows();
  }

  /** The rows behind an error row that names the damage, for forms without a place for warnings. */
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
 * When a large record is verified: before anything is read; while its first pages are read; or by reading its rows,
 * which ends with an error at the first damage.
 */
export type Verification = 'first' | 'behind-page' | 'while-reading';

/**
 * Opens the record of a scan; that of one which is over is verified.
 * @throws PortolanError `not_found` for a scan that is deleted meanwhile
 */
export async function openResults(
  scan: Scan,
  folder: ScanFolder,
  observer: RecordObserver,
  verification: Verification = 'first',
): Promise<OpenResults> {
  const view = await RecordView.open(folder);
  const verify = async () => {
    if (verification === 'behind-page') return await view.verifyBehindPage();
    if (verification === 'first') return await view.verify();
    return await view.verifyWhileReading(() =>
      observer.observed(scan.scan_id, damageOf(scan, view, 'damaged')),
    );
  };
  try {
    const damage = isFinal(scan.status) ? damageOf(scan, view, await verify()) : null;
    if (damage && !(await folder.exists()) && (await isDeleted(scan, folder, observer)))
      throw new PortolanError('not_found', 'There is no such scan.');
    if (isFinal(scan.status)) observer.observed(scan.scan_id, damage);
    return new OpenResults(scan, view, damage, (await checkpointSeconds(folder)) ?? undefined);
  } catch (error) {
    await view.close();
    throw error;
  }
}

/** A deletion renames the folder, takes the scan off the list, then deletes the folder: in this order it is asked for. */
async function isDeleted(scan: Scan, folder: ScanFolder, observer: RecordObserver): Promise<boolean> {
  return (await folder.isRetired()) || !(await observer.isListed(scan.scan_id));
}

function damageOf(scan: Scan, view: RecordView, fault: RecordDamage | null): ScanWarning | null {
  const wasDamaged = view.summary?.damaged === true;
  if (!wasDamaged && (fault === null || isExpected(scan, fault))) return null;
  const what = fault === 'missing' ? 'missing' : 'damaged';
  const message = `The recorded results of the scan are ${what}; check them with "portolan workspace check".`;
  return { code: recordDamaged, message };
}

/** A scan that failed may have ended before it recorded anything, or before its record could be finished. */
function isExpected({ status, results }: Scan, fault: RecordDamage): boolean {
  if (status === 'completed' || fault === 'damaged') return false;
  const counted = results.live_hosts + results.open_ports + results.vulnerabilities;
  return fault === 'unfinished' || counted === 0;
}
