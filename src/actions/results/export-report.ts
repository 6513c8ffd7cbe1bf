import type { ResultRow } from '../../domain/result.ts';
import type { ScanRequest } from '../../domain/scan.ts';
import type { ReportChanges } from '../../report/model/changes.ts';
import { type ReportFormat, renderReport } from '../../report/render-report.ts';
import type { Paper, ReportFacts } from '../../report/report-facts.ts';
import type { ReportTemplate } from '../../report/template/report-template.ts';
import type { ReportJob } from '../../report/thread/report-job.ts';
import { evaluatesVulnerabilities } from '../../scan-run/plan/plan-scan.ts';
import type { OpenResults } from '../../scan-run/results/open-results.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import { resultHead } from '../../workspace/render/result-head.ts';
import { storedRequest } from './stored-request.ts';

/** What a client wants to see of a report, checked. */
export interface ReportOrder {
  template: ReportTemplate | null;
  paper: Paper;
  /** Number of one fix, for a ticket about it alone. */
  fix: number | null;
  /** Compares with the earlier scan, if one is named. */
  changes(signal: AbortSignal): Promise<ReportChanges | null>;
}

/** Without any wish. */
const plainOrder: ReportOrder = { template: null, paper: 'a4', fix: null, changes: async () => null };

export interface ReportExport {
  format: ReportFormat;
  order?: ReportOrder | undefined;
  /** Renders in another thread; absent = in this one. */
  renderer?: ReportRenderer | undefined;
}

/** Renders reports in threads, see `ReportThreads`. */
export interface ReportRenderer {
  render(job: ReportJob, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** A report about verified results, streamed. */
export async function exportReport(
  results: OpenResults,
  record: ScanRecord,
  rows: () => AsyncIterable<ResultRow>,
  { format, order = plainOrder, renderer }: ReportExport,
  signal: AbortSignal,
): Promise<AsyncIterable<string | Uint8Array>> {
  const { template, paper, fix } = order;
  const changes = await order.changes(signal);
  const facts = factsOf(results, await storedRequest(record));
  const options = { template, paper, changes, madeAt: new Date().toISOString() };
  if (!renderer) return renderReport(format, { facts, options, rows }, fix);
  const { exists: recorded, fault } = results.view;
  return await renderer.render(
    { format, fix, record: record.place, recorded, fault, facts, options },
    signal,
  );
}

function factsOf({ scan, summary }: OpenResults, request: ScanRequest | null): ReportFacts {
  return {
    ...resultHead(summary, scan),
    title: scan.name,
    failure: scan.error,
    canceledBy: scan.error?.by === undefined ? null : `token ${scan.error.by}`,
    evaluated: evaluatesVulnerabilities(scan.vuln, scan.warnings),
    startedAt: scan.started_at,
    completedAt: scan.completed_at,
    request,
    stages: scan.stages,
  };
}
