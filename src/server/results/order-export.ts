import type { ExportFormat, ExportOptions } from '../../actions/results/export-scan.ts';
import { checkReportWishes, orderReport, type ReportWishes } from '../../actions/results/report-order.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import { isReportFormat } from '../../report/render-report.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import type { TenantContext } from '../access/tenants.ts';
import type { RouteContext } from '../context.ts';

/** Who asks for an export, and how the folder of a scan is held until the response ends. */
interface ExportClient {
  space: TenantContext;
  folderOf(scan: Scan): Promise<ScanFolder>;
}

/**
 * Checks an export that a client asks for. Reports are rendered in threads.
 * @throws PortolanError before anything of the response is sent
 */
export async function orderExport(
  { config, shards, reports }: Pick<RouteContext, 'config' | 'shards' | 'reports'>,
  { space, folderOf }: ExportClient,
  scan: Scan,
  format: ExportFormat,
  wishes: ReportWishes,
): Promise<Omit<ExportOptions, 'signal'>> {
  checkReportWishes(format, wishes);
  if (!isReportFormat(format)) return {};
  const { store, workspace, installed: catalogue, observer } = space;
  const comparing = async (against: string) => {
    // Do not reveal the location of another tenant's scan.
    await showScan(store, against);
    await shards?.homes.demandHere(against);
    return { store, workspace, config, catalogue, folderOf, observer };
  };
  const { templatesDir } = workspace;
  const order = await orderReport({ templatesDir, comparing }, scan, wishes);
  return { order, renderer: reports };
}
