import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PortolanError } from '../../domain/errors.ts';
import { commandLineOf } from '../../domain/executor.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { ModuleLifecycle } from '../../engine/lifecycle.ts';
import { isDeadCommandLine } from '../../scan-run/finalize/interrupt-scan.ts';
import { planScan } from '../../scan-run/plan/plan-scan.ts';
import type { Store } from '../../store/open.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { scanIn } from '../session/scan-choice.ts';
import { findServer } from '../session/server-choice.ts';
import { loadModuleCatalog, noteProblems, readConfig } from '../session/session.ts';
import { amountText, countText } from '../terminal/draw/amounts.ts';
import { whenText } from '../terminal/draw/times.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import type { ControlFlags } from './control-flags.ts';
import { LocalScan, logFor } from './local/local-run.ts';
import { openLocalScanStore } from './local/local-store.ts';
import { steerScan } from './scan-control.ts';
import type { ScanCommand } from './submission.ts';

/** `scan resume`: a paused scan of a server; without one an interrupted scan of this workspace, in this process. */
export async function resumeScanCommand(
  text: string,
  flags: ControlFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  if (await findServer(flags, global)) return await steerScan('resume', text, flags, global);
  const settings = await readConfig(global);
  const place = await openLocalScanStore(settings.config);
  try {
    if (place.store === null) throw usage('scan resume needs the workspace: omit --no-workspace');
    const store = await place.store.whole();
    const scan = await interruptedScan(store, await scanIn(store, text));
    const folder = place.workspace.scan(scan.scan_id);
    const request = await folder.request();
    const catalogue = await loadModuleCatalog(wiring, settings.config);
    const lifecycle = new ModuleLifecycle();
    const modules = lifecycle.forScan();
    const log = logFor(settings, note);
    try {
      noteProblems(catalogue);
      const plan = await planScan(request, settings.config, catalogue);
      modules.prepare(plan.nodes, parseTargets(request.targets).addresses);
      await takeOver(store, scan.scan_id, place.store.executor);
      if (!global.quiet) note(resumingText(scan, await interruptedAt(folder, scan), Date.now()));
      const command = commandOf(scan, { ...global, ...flags });
      const earlier = {
        startedAt: scan.started_at ?? scan.created_at,
        resumes: scan.progress.resumes + 1,
        rateHistory: scan.progress.rate_history ?? null,
      };
      return await new LocalScan(command, settings, { catalogue, modules }, request, place, earlier).run();
    } finally {
      await modules.end(log);
      await lifecycle.cleanUp(log);
      await catalogue.release();
    }
  } finally {
    await place.close();
  }
}

/** @throws PortolanError `conflict` for a scan that has ended, or that runs elsewhere */
async function interruptedScan(store: Store, id: string): Promise<Scan> {
  const scan = await store.scans.get(id);
  if (scan === null)
    throw new PortolanError('not_found', `no scan "${id}"; ids are in: portolan workspace list`);
  if (isFinal(scan.status)) throw conflict(`scan ${id} has ended: ${scan.error?.code ?? scan.status}`);
  const executor = await store.scans.executor(id);
  const pid = commandLineOf(executor ?? '');
  if (pid === null) throw conflict(`scan ${id} is of a server, which goes on with it: portolan server start`);
  if (!isDeadCommandLine(executor, store.executor)) throw conflict(`scan ${id} is running in process ${pid}`);
  return scan;
}

async function takeOver(store: Store, id: string, to: string): Promise<void> {
  const from = (await store.scans.executor(id)) ?? '';
  if (!isDeadCommandLine(from, store.executor) || !(await store.scans.takeOver(id, from, to)))
    throw conflict(`scan ${id} is running in another process`);
}

function conflict(message: string): PortolanError {
  return new PortolanError('conflict', message);
}

/** When the last checkpoint was written, milliseconds since 1970. */
async function interruptedAt(folder: ScanFolder, { started_at, created_at }: Scan): Promise<number> {
  const saved = await stat(join(folder.path, 'checkpoint.json')).catch(() => null);
  return saved?.mtimeMs ?? Date.parse(started_at ?? created_at);
}

/** `resuming ID, interrupted 2 min ago: 12,300 of 65,534 addresses tried, 7 hosts, 1 open port` */
export function resumingText({ scan_id, progress, results }: Scan, at: number, now: number): string {
  const { hosts_done, hosts_total } = progress;
  const tried = `${amountText(hosts_done)} of ${countText(hosts_total, 'address', 'addresses')} tried`;
  const found = `${countText(results.live_hosts, 'host')}, ${countText(results.open_ports, 'open port')}`;
  return `resuming ${scan_id}, interrupted ${whenText(at, now)}: ${tried}, ${found}`;
}

/** The scan as a command: what it does stands in its request. */
function commandOf({ targets }: Scan, flags: GlobalFlags & ControlFlags): ScanCommand {
  const format = flags.format === 'json' ? 'json' : 'text';
  return {
    submission: { targets },
    dag: undefined,
    output: { file: null, format },
    copies: [],
    flags: { ...flags, discover: true, fingerprint: true, wait: true },
  };
}
