import { isFinal } from '../../domain/scan.ts';
import { provisionalSummary } from '../../scan-run/results/provisional-summary.ts';
import { storedStatus } from '../../scan-run/status.ts';
import type { Store } from '../../store/open.ts';
import type { DatedScan } from '../../store/scans/scan-ages.ts';
import { leftoversOf, removeDrafts } from '../../workspace/leftovers.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import { repairRecord } from '../../workspace/record/record-check.ts';
import { resolveBoth } from '../../workspace/record/record-compress.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { Workspace } from '../../workspace/workspace.ts';

export interface PurgeReport {
  scans: number;
  /** Scans with a corrected size. */
  resized: number;
  /** Scans whose folder had leftovers of a crash. */
  swept: number;
  /** Scans that could not be checked. */
  failed: number;
}

/**
 * Recounts the size of every scan and removes leftovers of crashes from the folders of finished ones. Never touches
 * results. For the background: it waits before each scan, and no request waits for it.
 * @param wait resolves when the next scan may be checked
 */
export async function purgeLeftovers(
  { store, workspace }: { store: Store; workspace: Workspace },
  wait: () => Promise<void>,
  signal: AbortSignal,
): Promise<PurgeReport> {
  const report: PurgeReport = { scans: 0, resized: 0, swept: 0, failed: 0 };
  for await (const scan of store.scanAges.newestFirst()) {
    await wait();
    if (signal.aborted) break;
    try {
      await purgeScan(store, workspace, scan, report);
      report.scans++;
    } catch {
      // A damaged entry is for `workspace check`; continue with the others.
      report.failed++;
    }
  }
  return report;
}

async function purgeScan(
  store: Store,
  workspace: Workspace,
  scan: DatedScan,
  report: PurgeReport,
): Promise<void> {
  const folder = workspace.forTenant(scan.tenant).scan(scan.scan_id);
  if (isFinal(scan.status)) {
    const leftovers = await leftoversOf(folder);
    await removeDrafts(folder, leftovers);
    await resolveBoth(folder);
    if (leftovers.length > 0) report.swept++;
    if (scan.status === 'failed') await makeUpForFullDisk(store, folder, scan.scan_id);
  }
  const bytes = await folder.sizeBytes();
  if (bytes === scan.size_bytes || !(await folder.exists())) return;
  await store.scans.setSize(scan.scan_id, bytes);
  report.resized++;
}

/** Writes what a full disk prevented: the end of the record, and `status.json`. */
async function makeUpForFullDisk(store: Store, folder: ScanFolder, scanId: string): Promise<void> {
  const ended = (await recordIn(folder).summary()) !== null;
  if (ended && (await folder.storedState()) === 'failed') return;
  const scan = await store.scans.get(scanId);
  if (scan?.error?.code !== 'insufficient_storage' || !(await folder.exists())) return;
  if (!ended) await repairRecord(folder, 'torn', provisionalSummary(scan));
  await folder.writeStatus(storedStatus(scan));
}
