import { ModuleLifecycle, type ScanModules } from '../engine/lifecycle.ts';
import type { Logger } from '../engine/module.ts';
import { catchUncaughtErrors } from '../engine/uncaught-errors.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { FieldLog } from './field-log.ts';
import { failureFrom } from './finalize/failure.ts';
import {
  type FromChild,
  heartbeatMs,
  logFieldsOf,
  logFieldsVariable,
  type ScanOutcome,
  type ToChild,
} from './messages.ts';
import { OpenResources } from './open-resources.ts';
import type { ModuleCatalog } from './plan/plan-scan.ts';
import { runScan } from './run-scan.ts';
import { ScanLife } from './scan-life.ts';
import { withScanPlugins } from './scan-plugins.ts';

/**
 * Main loop of the process that runs scans for a server, one after another: waits for `start`, reports until the scan
 * has finished, and exits when the server is gone; the next server resumes the scan from its record.
 */
export async function runScanProcess(
  loadCatalogue: () => Promise<ModuleCatalog>,
  output: Logger,
): Promise<void> {
  const log = new FieldLog(output, JSON.parse(process.env[logFieldsVariable] ?? '{}') as object);
  const inbox = new Inbox();
  process.on('disconnect', () => process.exit(0));
  // A terminal sends Ctrl-C to the whole group; only the server may stop its scans.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => process.exit(0));
  const errors = { count: 0 };
  catchUncaughtErrors(log, () => {
    errors.count += 1;
    // Nobody asks a waiting process for its state again.
    if (inbox.waits) process.exit(1);
  });

  const lifecycle = new ModuleLifecycle();
  const installed = await loadCatalogue().catch((error: unknown) => {
    log.error('scan process cannot start', { error: String(error) });
    process.exit(1);
  });
  let resources: OpenResources | null = null;
  for (let life = await inbox.next(); life !== null; life = await inbox.next()) {
    resources ??= await OpenResources.now();
    log.fields = logFieldsOf(life.start);
    const modules = lifecycle.forScan();
    const endHeartbeats = sendHeartbeats(life.run);
    try {
      await runOne(life, modules, installed, log);
    } catch (error) {
      await giveUp(life.run, error, log);
    }
    endHeartbeats();
    log.fields = {};
    if (!life.start.reuse) break;
    const failed = errors.count > 0 ? 'an uncaught error' : null;
    const [abandoned] = modules.abandoned;
    const residue = failed ?? (abandoned ? `module ${abandoned} runs on` : await resources.residue());
    send({ type: 'idle', run: life.run, state: { residue, memory: process.memoryUsage.rss() } });
  }
  await lifecycle.cleanUp(log);
  process.exit(0);
}

async function runOne(
  life: ScanLife,
  modules: ScanModules,
  installed: ModuleCatalog,
  log: Logger,
): Promise<void> {
  const { start, control, run } = life;
  const catalogue = await withScanPlugins(installed, start.request, start.plugins, start.config);
  log.debug('scan process started', { pid: process.pid, resumes: start.resumes });
  const workspace = (await openWorkspace(start.workspaceDir)).forTenant(start.tenant);
  const outcome: ScanOutcome = await runScan({
    request: start.request,
    config: start.config,
    catalogue,
    folder: workspace.scan(start.request.scan_id),
    templatesDir: workspace.templatesDir,
    modules,
    startedAt: start.startedAt,
    resumes: start.resumes,
    rateHistory: start.rateHistory,
    begunAt: start.begunAt,
    signal: life.signal,
    part: start.part,
    names: start.names,
    evaluated: start.evaluated,
    warnings: start.warnings,
    control,
    log,
    onLive: (live) => send({ type: 'live', live, run }),
    onSealed: (rows) => send({ type: 'sealed', rows, run }),
    onEvaluated: (data) => send({ type: 'evaluated', data, run }),
    onTraffic: (traffic) => send({ type: 'traffic', traffic, run }),
  });
  life.end();
  await sendLast({ type: 'finished', outcome, run });
}

/** Until the returned function is called. */
function sendHeartbeats(run: number): () => void {
  const timer = setInterval(() => send({ type: 'heartbeat', run }), heartbeatMs);
  return () => clearInterval(timer);
}

/**
 * The scan had an error before it could end by itself, such as no inode left for its record. Any other error than these may
 * pass: the server resumes the scan as after a crash.
 */
async function giveUp(run: number, error: unknown, log: Logger): Promise<never> {
  const failure = failureFrom(error);
  log.error('scan process failed', { error: failure.message });
  if (failure.code === 'pipeline_failed') process.exit(1);
  await sendLast({ type: 'failed', failure, run });
  // By its own exit the process could overtake the message.
  return await new Promise(() => undefined);
}

/** Receives the messages of the server: starts wait here, commands go to the scan that they are for. */
class Inbox {
  #life: ScanLife | null = null;
  #next = Promise.withResolvers<ScanLife | null>();
  /** Whether the process waits for a scan. */
  waits = false;

  constructor() {
    process.on('message', (message: ToChild) => this.#take(message));
    send({ type: 'ready' });
  }

  /** The next scan; null when there is none. */
  async next(): Promise<ScanLife | null> {
    this.waits = true;
    const life = await this.#next.promise;
    this.waits = false;
    if (life !== null) this.#next = Promise.withResolvers();
    return life;
  }

  #take(message: ToChild): void {
    if (message.type === 'end') return this.#next.resolve(null);
    if (message.type === 'start') {
      this.#life = new ScanLife(message);
      return this.#next.resolve(this.#life);
    }
    const { run } = message;
    if (run === this.#life?.run) this.#life.apply(message);
    send({ type: 'ack', run });
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
