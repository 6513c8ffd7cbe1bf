import type { Logger } from '../engine/module.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import type { Catalogue } from './plan-scan.ts';
import { runScan } from './run-scan.ts';
import { ScanAbort } from './scan-failure.ts';
import type { FromChild, ToChild } from './scan-messages.ts';

/**
 * The life of the process that runs one scan for a server: waits for `start`, reports until the scan has finished,
 * and ends at once when the server is gone; the next server resumes the scan from its record.
 */
export async function runScanProcess(loadCatalogue: () => Promise<Catalogue>, log: Logger): Promise<void> {
  const abort = new AbortController();
  process.on('disconnect', () => process.exit(0));
  // A terminal sends Ctrl-C to the whole group; only the server decides what becomes of its scans.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => process.exit(0));
  process.on('unhandledRejection', (error) =>
    log.error('an error outside of any task', { error: String(error) }),
  );
  process.on('uncaughtException', (error) =>
    log.error('an error outside of any task', { error: String(error) }),
  );

  const catalogue = await loadCatalogue();
  const start = await firstStart(abort);
  const workspace = await openWorkspace(start.workspaceDir);
  const outcome = await runScan({
    request: start.request,
    config: start.config,
    catalogue,
    folder: workspace.scan(start.request.scan_id),
    startedAt: start.startedAt,
    resumes: start.resumes,
    signal: abort.signal,
    log,
    onLive: (live) => send({ type: 'live', live }),
    onSealed: (rows) => send({ type: 'sealed', rows }),
  });
  await sendLast({ type: 'finished', outcome });
  process.exit(0);
}

function firstStart(abort: AbortController): Promise<Extract<ToChild, { type: 'start' }>> {
  return new Promise((resolve) => {
    process.on('message', (message: ToChild) => {
      if (message.type === 'start') resolve(message);
      else abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
    });
    send({ type: 'ready' });
  });
}

/** The server may be gone in the middle of a message: `disconnect` ends this process then. */
function send(message: FromChild): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function sendLast(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) return resolve();
    process.send?.(message, undefined, undefined, () => resolve());
  });
}
