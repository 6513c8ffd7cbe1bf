import { ModuleLifecycle } from '../engine/lifecycle.ts';
import type { Logger } from '../engine/module.ts';
import { catchUncaughtErrors } from '../engine/uncaught-errors.ts';
import { machineNow } from '../net/machine-clock.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { ScanControl } from './control.ts';
import { ScanAbort } from './finalize/failure.ts';
import type { FromChild, ProcessCommand, ToChild } from './messages.ts';
import type { ModuleCatalog } from './plan/plan-scan.ts';
import { runScan } from './run-scan.ts';
import { withScanPlugins } from './scan-plugins.ts';

/**
 * Main loop of the process that runs one scan for a server: waits for `start`, reports until the scan has finished,
 * and exits when the server is gone; the next server resumes the scan from its record.
 */
export async function runScanProcess(
  loadCatalogue: () => Promise<ModuleCatalog>,
  log: Logger,
): Promise<void> {
  const life = new ScanLife();
  process.on('disconnect', () => process.exit(0));
  // A terminal sends Ctrl-C to the whole group; only the server may stop its scans.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => process.exit(0));
  catchUncaughtErrors(log);

  const installed = await loadCatalogue();
  const { start, control } = await life.begun;
  const catalogue = await withScanPlugins(installed, start.request, start.plugins, start.config);
  log.debug('scan process started', { pid: process.pid, resumes: start.resumes });
  const workspace = (await openWorkspace(start.workspaceDir)).forTenant(start.tenant);
  const lifecycle = new ModuleLifecycle();
  const outcome = await runScan({
    request: start.request,
    config: start.config,
    catalogue,
    folder: workspace.scan(start.request.scan_id),
    templatesDir: workspace.templatesDir,
    modules: lifecycle.forScan(),
    startedAt: start.startedAt,
    resumes: start.resumes,
    rateHistory: start.rateHistory,
    begunAt: start.begunAt,
    signal: life.signal,
    part: start.part,
    names: start.names,
    evaluated: start.evaluated,
    control,
    log,
    onLive: (live) => send({ type: 'live', live }),
    onSealed: (rows) => send({ type: 'sealed', rows }),
    onEvaluated: (data) => send({ type: 'evaluated', data }),
    onTraffic: (traffic) => send({ type: 'traffic', traffic }),
  });
  await sendLast({ type: 'finished', outcome });
  await lifecycle.cleanUp(log);
  process.exit(0);
}

type Start = Extract<ToChild, { type: 'start' }>;

/** State of the scan as requested by the server. */
class ScanLife {
  readonly #abort = new AbortController();
  readonly #begun = Promise.withResolvers<{ start: Start; control: ScanControl }>();
  #control: ScanControl | null = null;
  #lease: LeaseWatch | null = null;
  /** Paused by the server, whatever the lease says. */
  #paused = false;

  constructor() {
    process.on('message', (message: ToChild) => this.#take(message));
    send({ type: 'ready' });
  }

  get begun(): Promise<{ start: Start; control: ScanControl }> {
    return this.#begun.promise;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  #take(message: ToChild): void {
    if (message.type === 'start') return this.#start(message);
    this.#apply(message);
    send({ type: 'ack' });
  }

  #apply(command: ProcessCommand): void {
    switch (command.type) {
      case 'cancel':
        return this.#abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
      case 'pause':
        this.#paused = true;
        return this.#control?.hold.hold();
      case 'resume':
        this.#paused = false;
        return this.#goOn();
      case 'rate':
        return this.#control?.setLimit(command.rate);
      case 'scope':
        return this.#control?.narrow(command.rules);
      case 'lease':
        return this.#renewLease(command.until);
    }
  }

  #renewLease(until: number): void {
    if (this.#lease) return this.#lease.renew(until);
    this.#lease = new LeaseWatch(
      until,
      () => this.#control?.hold.hold(),
      () => this.#goOn(),
    );
  }

  /** A canceled scan stays silent, and so does one that another worker may own by now. */
  #goOn(): void {
    if (!this.signal.aborted && !this.#paused && !this.#lease?.over) this.#control?.hold.release();
  }

  #start(start: Start): void {
    const { request, config, listeners, pausedMs, commands } = start;
    const mostRate = config.scanner.max_rate;
    const control = new ScanControl({ rate: request.rate, mostRate, listeners, pausedMs });
    // Emptied first: the budget of this second may have been used by others.
    control.setLimit(0);
    this.#control = control;
    for (const command of commands) this.#apply(command);
    this.#begun.resolve({ start, control });
  }
}

/**
 * Tracks the lease of the parent process, which may be stopped or cut off. Its message may have waited while this
 * process was stopped itself: only the expiry time counts.
 */
class LeaseWatch {
  readonly #onEnd: () => void;
  readonly #onRenewal: () => void;
  #timer: NodeJS.Timeout | undefined;
  over = false;

  constructor(until: number, onEnd: () => void, onRenewal: () => void) {
    this.#onEnd = onEnd;
    this.#onRenewal = onRenewal;
    this.#arm(until - machineNow());
  }

  renew(until: number): void {
    const left = until - machineNow();
    if (left <= 0) return;
    clearTimeout(this.#timer);
    this.#arm(left);
    if (!this.over) return;
    this.over = false;
    this.#onRenewal();
  }

  #arm(left: number): void {
    this.#timer = setTimeout(
      () => {
        this.over = true;
        this.#onEnd();
      },
      Math.max(0, left),
    );
  }
}

/** The server may die in the middle of a message: `disconnect` then ends this process. */
function send(message: FromChild): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function sendLast(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) return resolve();
    process.send?.(message, undefined, undefined, () => resolve());
  });
}
