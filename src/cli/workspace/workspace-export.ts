import type { CompareContext } from '../../actions/results/compare-scans.ts';
import { exportScan, requireFormatLicense } from '../../actions/results/export-scan.ts';
import { orderReport, type ReportWishes } from '../../actions/results/report-order.ts';
import { showScan } from '../../actions/scans/show-scan.ts';
import type { Scan } from '../../domain/scan.ts';
import { isReportFormat } from '../../report/render-report.ts';
import { damageNote } from '../results/damage-warning.ts';
import { renderResult } from '../results/local-result.ts';
import { fetchArchive, fetchResult } from '../results/remote-result.ts';
import { requireReportFlags } from '../results/report-flags.ts';
import { resultStyle } from '../results/result-style.ts';
import { scanIn, scanOn } from '../session/scan-choice.ts';
import { namedClient } from '../session/server-choice.ts';
import type { ServerFlags } from '../session/server-flags.ts';
import { loadModuleCatalog, type Session, withStore } from '../session/session.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import {
  checkOutputFile,
  chooseFile,
  type FileFormat,
  type Pieces,
  rejectBinary,
  writeResult,
} from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { localRecord, storedRecord } from './local-record.ts';

export interface ExportFlags extends ServerFlags, ReportWishes {
  output?: string;
  format?: string;
  includeArtifacts?: boolean;
}

export async function exportScanCommand(
  id: string,
  flags: ExportFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { file, format } = exportOutput(flags);
  const { template, against, paper, fix } = flags;
  const typed = { template, against, paper, fix };
  requireReportFlags(format, typed);
  rejectBinary(file, format);
  if (file !== null) await checkOutputFile(file);
  const style = resultStyle(file, global);
  const client = await namedClient(flags, global);
  if (client) {
    const { id: scan_id, wishes } = await chosen({ id, wishes: typed }, (text) => scanOn(client, text));
    const fetched =
      format === 'tar.gz'
        ? fetchArchive(client, scan_id)
        : fetchResult(client, { scan_id }, format, style, wishes);
    await writeResult(file, fetched);
    return;
  }
  await withStore(global, async (session) => {
    await demandLicensed(format, session);
    const choice = await chosen({ id, wishes: typed }, (text) => scanIn(session.store, text));
    await writeResult(file, await exportHere(session, wiring, { ...choice, format, style }));
  });
}

/** The ids of the scan and of the one that its report compares it with. */
async function chosen(
  { id, wishes }: Pick<LocalExport, 'id' | 'wishes'>,
  choose: (text: string) => Promise<string>,
): Promise<Pick<LocalExport, 'id' | 'wishes'>> {
  const { against } = wishes;
  return {
    id: await choose(id),
    wishes: against === undefined ? wishes : { ...wishes, against: await choose(against) },
  };
}

interface LocalExport {
  id: string;
  format: FileFormat;
  style: TerminalStyle;
  wishes: ReportWishes;
}

async function exportHere(
  session: Session,
  wiring: CliWiring,
  { id, format, style, wishes }: LocalExport,
): Promise<Pieces> {
  const { store, workspace } = session;
  const scan = await showScan(store, id);
  const record = await localRecord(session, id);
  const observer = damageNote(store);
  if (format === 'tar.gz') return await exportScan(scan, record, format, observer);
  if (!isReportFormat(format)) return renderResult(format, record, scan, style, observer);
  const { templatesDir } = workspace.forTenant(await store.scans.tenantOf(id));
  const comparing = () => comparingHere(session, wiring);
  const order = await orderReport({ templatesDir, comparing }, scan, wishes);
  return renderResult(format, record, scan, style, observer, order);
}

async function comparingHere(session: Session, wiring: CliWiring): Promise<CompareContext> {
  const { config, store } = session;
  const catalogue = await loadModuleCatalog(wiring, config);
  await catalogue.release();
  const recordOf = ({ scan_id }: Scan) => storedRecord(session, scan_id);
  return { store, config, catalogue, recordOf, observer: damageNote(store) };
}

/** @throws PortolanError `license_required` */
async function demandLicensed(format: FileFormat, { config }: Session): Promise<void> {
  if (!config.license.enforce) return;
  const { readLicense } = await import('../../workspace/license/read-license.ts');
  requireFormatLicense(format, await readLicense(config));
}

/** Default format is JSON; the files of a scan are available only as tar.gz. */
function exportOutput({ output, format, includeArtifacts }: ExportFlags): ReturnType<typeof chooseFile> {
  if (!includeArtifacts)
    return chooseFile({ output, format: output === undefined ? (format ?? 'json') : format });
  const file = chooseFile({ output, format: format ?? 'tar.gz' });
  if (file.format === 'tar.gz') return file;
  throw usage(
    `--include-artifacts writes the whole scan as tar.gz and cannot be combined with ${file.format}`,
  );
}
