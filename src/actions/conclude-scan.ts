import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FailureCode, failureCodes, type Scan } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import { recordSummary } from '../workspace/record-reader.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { interruptScan } from './interrupt-scan.ts';

/**
 * Stores the end of a scan whose record is finished, but whose process or server died before the store knew: what the
 * record and `status.json` say is what happened.
 */
export async function concludeScan(
  { store, workspace }: { store: Store; workspace: Workspace },
  scanId: string,
) {
  const folder = workspace.scan(scanId);
  const summary = await recordSummary(folder);
  if (summary === null || summary.status !== 'completed') {
    await interruptScan({ store, workspace }, scanId, await failureOf(folder));
    return;
  }
  const { live_hosts, open_ports, vulnerabilities, severity_counts, timestamp } = summary;
  const scan = await store.scans.get(scanId);
  const progress = scan && {
    progress: { ...scan.progress, percent: 100, phase: 'done', rate: 0, eta_seconds: 0 },
  };
  await store.scans.update(scanId, {
    status: 'completed',
    completed_at: timestamp,
    results: { live_hosts, open_ports, vulnerabilities },
    severity_counts,
    ...progress,
  });
  await store.scans.setSize(scanId, await folder.sizeBytes());
}

async function failureOf(folder: ScanFolder): Promise<NonNullable<Scan['error']>> {
  const message = 'The scan ended while its server died; its results are complete up to then.';
  try {
    const { errors } = JSON.parse(await readFile(join(folder.path, 'status.json'), 'utf8')) as {
      errors?: { code: FailureCode; message: string }[];
    };
    const error = errors?.[0];
    if (error && Object.hasOwn(failureCodes, error.code)) return error;
  } catch {
    // Without status.json the reason is not known.
  }
  return { code: 'interrupted', message };
}
