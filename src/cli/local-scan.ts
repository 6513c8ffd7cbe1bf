import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { decideRequest, type Submission } from '../actions/decide-request.ts';
import { type Catalogue, planScan } from '../actions/plan-scan.ts';
import { runScan, ScanAbort } from '../actions/run-scan.ts';
import type { LiveScan, ScanOutcome } from '../actions/scan-messages.ts';
import type { Config } from '../config/schema.ts';
import { newScanId, type Scan, type ScanRequest } from '../domain/scan.ts';
import type { Store } from '../store/open.ts';
import { onInterrupt } from './interrupt.ts';
import { renderResult } from './local-result.ts';
import { createLog } from './log.ts';
import { print, writeResult } from './output.ts';
import { tableStyle } from './result-table.ts';
import type { LocalPlace } from './scan-place.ts';
import { exitCodeOf, noteOutcome, openView, type ScanView } from './scan-view.ts';
import type { ScanOrder } from './scan-work.ts';
import { isSetByUser, loadCatalogue } from './session.ts';
import type { CliWiring } from './wiring.ts';

/** Runs a scan in this process. @returns the exit code */
export async function scanHere(
  order: ScanOrder,
  config: Config,
  place: LocalPlace,
  wiring: CliWiring,
): Promise<number> {
  const catalogue = await loadCatalogue(wiring);
  const request = requestOf(order, config, catalogue);
  // A graph that cannot be planned is refused before anything is stored or sent.
  await planScan(request, config, catalogue);
  const folder = place.workspace.scan(request.scan_id);
  await folder.create(request);
  const book = await ScanBook.open(place.store, request);
  const view = openView(order.flags);
  const abort = new AbortController();
  const release = onInterrupt(() => {
    view.note('canceling; what was found is kept. Press Ctrl-C again to end at once.');
    abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
  }, 7);
  try {
    const outcome = await runScan({
      request,
      config,
      catalogue,
      folder,
      resumes: 0,
      signal: abort.signal,
      log: logFor(order, config, view),
      onLive: (live) => {
        view.update(live);
        book.live(live);
      },
    });
    await book.finish(outcome, await folder.sizeBytes());
    view.end();
    const scan = scanOf(request, outcome, book.startedAt);
    noteOutcome(outcome, order.flags.quiet ?? false);
    const style = tableStyle(order.output.file === null ? process.stdout : {}, !order.flags.color);
    await writeResult(order.output.file, renderResult(order.output.format, folder, scan, style));
    return exitCodeOf(outcome);
  } finally {
    view.end();
    release();
  }
}

/** Plans a scan and prints what it would do; nothing is sent and nothing is kept. @returns the exit code */
export async function dryRun(order: ScanOrder, config: Config, wiring: CliWiring): Promise<number> {
  const { describePlan } = await import('./plan-text.ts');
  const catalogue = await loadCatalogue(wiring);
  const request = requestOf(order, config, catalogue);
  const plan = await planScan(request, config, catalogue);
  const json = order.output.format === 'json' || order.output.format === 'jsonl';
  print(describePlan(request, plan, config, json));
  return 0;
}

/** @throws PortolanError `invalid_request` with every problem */
function requestOf(order: ScanOrder, config: Config, { library }: Catalogue): ScanRequest {
  const { dag } = order;
  const named = dag === undefined || library.get(dag) ? dag : resolve(dag);
  const submission = (named === undefined ? order.submission : { ...order.submission, dag: named }) as Submission;
  const entries = library.list();
  const choices = { profiles: entries.filter(({ kind }) => kind === 'profile'), dags: entries.map(({ name }) => name) };
  const createdAt = new Date();
  const origin = { scanId: newScanId(createdAt, randomBytes), createdAt, user: 'cli', graphFiles: true };
  return decideRequest(submission, config, choices, origin);
}

/** Log lines are for those who ask for them: without a wish only warnings show. */
function logFor(order: ScanOrder, config: Config, view: ScanView) {
  const level = isSetByUser(config, 'logging.level') ? config.logging.level : 'warn';
  return createLog(level, config.logging.format, (line) => view.note(line));
}

/** The scan's row in the store, kept up to date while it runs. Without a store it does nothing. */
class ScanBook {
  readonly startedAt = new Date().toISOString();
  readonly #store: Store | null;
  readonly #scanId: string;
  /** Updates one after another, so that an old state never overwrites a new one. */
  #writing: Promise<unknown> = Promise.resolve();
  #latest: LiveScan | null = null;

  private constructor(store: Store | null, scanId: string) {
    this.#store = store;
    this.#scanId = scanId;
  }

  static async open(store: Store | null, request: ScanRequest): Promise<ScanBook> {
    const book = new ScanBook(store, request.scan_id);
    await store?.scans.insert(request, `cli:${process.pid}`);
    await store?.scans.update(request.scan_id, { status: 'running', started_at: book.startedAt });
    return book;
  }

  /** A lost update is no harm: the next one or the end brings the truth. */
  live(live: LiveScan): void {
    if (this.#latest === null) this.#writing = this.#writing.then(() => this.#writeLatest()).catch(() => undefined);
    this.#latest = live;
  }

  async #writeLatest(): Promise<void> {
    const live = this.#latest;
    this.#latest = null;
    if (live) await this.#store?.scans.update(this.#scanId, live);
  }

  async finish(outcome: ScanOutcome, sizeBytes: number): Promise<void> {
    await this.#writing;
    await this.#store?.scans.update(this.#scanId, outcome);
    await this.#store?.scans.setSize(this.#scanId, sizeBytes);
  }
}

function scanOf(request: ScanRequest, outcome: ScanOutcome, startedAt: string): Scan {
  const { scan_id, targets, created_at, profile, vuln, name, tags, pool } = request;
  return {
    ...{ scan_id, targets, created_at, profile, vuln, name, tags, pool },
    ...outcome,
    started_at: startedAt,
    notifications: [],
  };
}

