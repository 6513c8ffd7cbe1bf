import { scanLogFields } from '../../domain/scan-origin.ts';
import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { ServerLog } from '../logging/log.ts';

/** Maximum number of damaged records kept for the health check; the log has all. */
const maxDamagedRecords = 1000;

/** Damaged or missing records found on reading: one log line each, and a health check. */
export class DamagedRecords {
  readonly #log: ServerLog;
  readonly #scans = new Set<string>();

  constructor(log: ServerLog) {
    this.#log = log;
  }

  observer({ scans }: Pick<Store, 'scans'>): RecordObserver {
    return {
      isListed: async (scanId) => (await scans.get(scanId)) !== null,
      observed: (scan_id, warning) => {
        if (warning === null) this.#scans.delete(scan_id);
        else if (!this.#scans.has(scan_id)) {
          if (this.#scans.size < maxDamagedRecords) this.#scans.add(scan_id);
          void this.#report(scans, scan_id, warning.message);
        }
      },
    };
  }

  async #report(scans: Store['scans'], scanId: string, reason: string): Promise<void> {
    const fields = await scans.logFieldsOf(scanId).catch(() => scanLogFields(scanId, null));
    this.#log.warn({ ...fields, reason }, 'scan record damaged');
  }

  /** Ids of the scans with damaged records that the store lists. */
  async listedIn({ scans }: Pick<Store, 'scans'>): Promise<string[]> {
    const listed: string[] = [];
    for (const scanId of this.#scans) if ((await scans.get(scanId)) !== null) listed.push(scanId);
    return listed;
  }
}
