import { type FieldProblem, invalidRequest } from '../../domain/errors.ts';
import type { Scan } from '../../domain/scan.ts';
import type { ReportChanges } from '../../report/model/changes.ts';
import type { ReportFormat } from '../../report/render-report.ts';
import type { Paper } from '../../report/report-facts.ts';
import { readTemplate } from '../../report/template/read-template.ts';
import { showScan } from '../scans/show-scan.ts';
import { type CompareContext, compareScans, requireFinished } from './compare-scans.ts';
import type { ReportOrder } from './export-report.ts';

/** Options of an export as a client names them. */
export interface ReportWishes {
  /** Name of a template of the workspace. */
  template?: string | undefined;
  /** ID of an earlier scan. */
  against?: string | undefined;
  paper?: Paper | undefined;
  /** Number of one fix. */
  fix?: number | undefined;
}

export interface OrderContext {
  /** Folder of the templates. */
  templatesDir: string;
  /** Called for an earlier scan. */
  comparing(): Promise<CompareContext>;
}

/** The formats with an option. */
const formatsWith: Record<keyof ReportWishes, readonly ReportFormat[]> = {
  template: ['html', 'pdf', 'markdown'],
  against: ['html', 'pdf', 'markdown'],
  paper: ['html', 'pdf'],
  fix: ['markdown'],
};

/** The options that a format does not have, with the reason. */
export function wrongWishes(format: string, wishes: ReportWishes): FieldProblem[] {
  return Object.entries(formatsWith)
    .filter(([field, formats]) => {
      return wishes[field as keyof ReportWishes] !== undefined && !formats.some((name) => name === format);
    })
    .map(([field, formats]) => ({ field, reason: `is only for ${formats.join(', ')}` }));
}

/** @throws PortolanError `invalid_request`, naming every option that the format does not have */
export function checkReportWishes(format: string, wishes: ReportWishes): void {
  const problems = wrongWishes(format, wishes);
  if (problems.length === 0) return;
  throw invalidRequest(problems.map(({ field, reason }) => `${field} ${reason}`).join('; '), problems);
}

/**
 * Finds what a client wants to see of a report.
 * @throws PortolanError `invalid_request`; `not_found` for an unknown earlier scan, `conflict` unless both have finished
 */
export async function orderReport(
  context: OrderContext,
  scan: Scan,
  wishes: ReportWishes,
): Promise<ReportOrder> {
  const { template, against, paper = 'a4', fix = null } = wishes;
  const comparison = against === undefined ? null : await prepareComparison(context, scan, against);
  return {
    template: template === undefined ? null : await readTemplate(context.templatesDir, template),
    paper,
    fix,
    changes: async (signal) => (comparison === null ? null : await comparison(signal)),
  };
}

type Compare = (signal: AbortSignal) => Promise<ReportChanges>;

async function prepareComparison(order: OrderContext, scan: Scan, against: string): Promise<Compare> {
  const context = await order.comparing();
  requireFinished(scan);
  const baseline = requireFinished(await showScan(context.store, against));
  return async (signal) => {
    const comparison = await compareScans(context, scan.scan_id, against, signal);
    const { reportChanges } = await import('./report-changes.ts');
    return await reportChanges(comparison, baseline);
  };
}
