import type { ExportFormat, ExportOptions } from '../../actions/results/export-scan.ts';
import { checkReportWishes, orderReport, type ReportWishes } from '../../actions/results/report-order.ts';
import type { Scan } from '../../domain/scan.ts';
import { isReportFormat } from '../../report/render-report.ts';
import type { ScanRecord } from '../../workspace/record/scan-record.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { RouteContext } from '../context.ts';

/** Who asks for an export, and how the record of a scan is held until the response ends. */
interface ExportClient {
  space: TenantContext;
  recordOf(scan: Scan): Promise<ScanRecord>;
}

/**
 * Checks an export that a client asks for. Reports are rendered in threads.
 * @throws PortolanError before anything of the response is sent
 */
export async function orderExport(
  { config, reports }: Pick<RouteContext, 'config' | 'reports'>,
  { space, recordOf }: ExportClient,
  scan: Scan,
  format: ExportFormat,
  wishes: ReportWishes,
): Promise<Omit<ExportOptions, 'signal'>> {
  checkReportWishes(format, wishes);
  if (!isReportFormat(format)) return {};
  const { store, workspace, installed: catalogue, observer } = space;
  const comparing = async () => ({ store, config, catalogue, recordOf, observer });
  const { templatesDir } = workspace;
  const order = await orderReport({ templatesDir, comparing }, scan, wishes);
  return { order, renderer: reports };
}
