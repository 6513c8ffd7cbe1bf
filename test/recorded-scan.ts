import type { ScanRequest } from '../src/domain/scan.ts';
import type { SyntheticScan } from '../src/report/fixtures/synthetic-scan.ts';
import { storedStatus } from '../src/scan-run/status.ts';
import { openStore, type Store } from '../src/store/open.ts';
import { openRecord } from '../src/workspace/record/record-writer.ts';
import { openWorkspace, type Workspace } from '../src/workspace/workspace.ts';

interface Storage {
  store: Store;
  workspace: Pick<Workspace, 'scan'>;
}

/** Leaves a scan in store and workspace as if it had run here. */
export async function recordScan(
  { store, workspace }: Storage,
  { facts, rows }: SyntheticScan,
): Promise<void> {
  const request = facts.request as ScanRequest;
  const folder = workspace.scan(request.scan_id);
  await folder.create(request);
  const record = await openRecord(folder);
  for await (const row of rows()) await record.append(row);
  const { scan_id, timestamp, partial, summary } = facts;
  const status = facts.failure === null ? 'completed' : 'failed';
  await record.finish({ type: 'summary', timestamp, host: null, scan_id, status, partial, ...summary });
  const { live_hosts, open_ports, vulnerabilities, severity_counts } = summary;
  await store.scans.insert(request);
  await store.scans.update(scan_id, { status: 'running', started_at: facts.startedAt });
  await store.scans.update(scan_id, {
    status,
    completed_at: facts.completedAt,
    results: { live_hosts, open_ports, vulnerabilities },
    severity_counts,
    warnings: facts.warnings,
    stages: facts.stages,
    error: facts.failure && { code: 'canceled', message: facts.failure.message },
  });
  const scan = await store.scans.get(scan_id);
  if (scan) await folder.writeStatus(storedStatus(scan, summary.duration_seconds));
}

/** The same for a workspace that no server uses. */
export async function recordScans(dir: string, scans: Iterable<SyntheticScan>): Promise<void> {
  const workspace = await openWorkspace(dir);
  const store = await openStore(workspace.storeFile);
  try {
    for (const scan of scans) await recordScan({ store, workspace }, scan);
  } finally {
    await store.close();
  }
}
