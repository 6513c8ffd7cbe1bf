import { join } from 'node:path';
import type { SummaryRow } from '../../domain/result.ts';
import { type FailureCode, failureCodes, type Scan, type StageRecord } from '../../domain/scan.ts';
import { afterEnd } from '../../domain/scan-progress.ts';
import { readPlainText } from '../../workspace/plain-file.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { storedStatus } from '../status.ts';
import { finalizeRecord } from './finalize-record.ts';
import { type EndContext, interruptScan, writeEnd } from './interrupt-scan.ts';

/**
 * Stores the end of a scan whose record is finished, but whose process or server died before the store was updated:
 * the record and `status.json` are authoritative.
 */
export async function concludeScan(context: EndContext, scanId: string) {
  const { store, workspace, config } = context;
  const folder = workspace.scan(scanId);
  const summary = await recordIn(folder).summary();
  if (summary === null || summary.status !== 'completed') {
    await interruptScan(context, scanId, await failureOf(folder));
    return;
  }
  const warnings = config ? await finalizeRecord(folder, config.workspace.scans) : [];
  const { live_hosts, open_ports, vulnerabilities, severity_counts, timestamp } = summary;
  const scan = await store.scans.get(scanId);
  const end: Partial<Scan> = {
    status: 'completed',
    completed_at: timestamp,
    results: { live_hosts, open_ports, vulnerabilities },
    severity_counts,
    ...(scan && reportAtEnd(scan, summary)),
    ...(scan && warnings.length > 0 && { warnings: [...scan.warnings, ...warnings] }),
  };
  if (scan)
    await folder
      .writeStatus(storedStatus({ ...scan, ...end }, summary.duration_seconds))
      .catch(() => undefined);
  await writeEnd(context, scanId, { size_bytes: await folder.sizeBytes() }, (inside, files) =>
    inside.scans.update(scanId, end, files),
  );
}

/** What the process would have reported: in a completed scan every stage has ended. */
function reportAtEnd(
  { progress, stages }: Scan,
  { coverage, timestamp }: SummaryRow,
): Pick<Scan, 'progress' | 'stages'> {
  const not_tried = coverage?.not_tried ?? 0;
  const tried = Math.max(0, progress.tried + progress.not_tried - not_tried);
  const { hosts_total, shards } = progress;
  const counts = { percent: 100, eta_seconds: 0, hosts_done: hosts_total, tried, not_tried };
  const divided = { ...shards, done: shards.total, running: 0 };
  return {
    progress: { ...progress, ...afterEnd, ...counts, shards: divided },
    stages: stages.map((stage) => stageAtEnd(stage, timestamp)),
  };
}

function stageAtEnd(stage: StageRecord, completed_at: string): StageRecord {
  if (stage.status !== 'running' && stage.status !== 'pending') return stage;
  const { total } = stage;
  const ended = { ...stage, status: 'completed' as const, completed_at, error: null };
  const idle = { ...ended, items_in_per_second: 0, items_out_per_second: 0 };
  return total === undefined ? idle : { ...idle, done: total };
}

async function failureOf(folder: ScanFolder): Promise<NonNullable<Scan['error']>> {
  const message = 'The server died while the scan finished; the results are complete up to that point.';
  try {
    const { errors } = JSON.parse(await readPlainText(join(folder.path, 'status.json'))) as {
      errors?: { code: FailureCode; message: string }[];
    };
    const error = errors?.[0];
    if (error && Object.hasOwn(failureCodes, error.code)) return error;
  } catch {
    // Without status.json the reason is unknown.
  }
  return { code: 'interrupted', message };
}
