import type { CompareContext } from '../../../actions/results/compare-scans.ts';
import type { ReportOrder } from '../../../actions/results/export-report.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { defaultPriority, type RateHistory, type Scan, type ScanRequest } from '../../../domain/scan.ts';
import type { ScanModules } from '../../../engine/lifecycle.ts';
import { ScanAbort } from '../../../scan-run/finalize/failure.ts';
import type { ScanOutcome } from '../../../scan-run/messages.ts';
import type { ModuleCatalog } from '../../../scan-run/plan/plan-scan.ts';
import { openResults } from '../../../scan-run/results/open-results.ts';
import { runScan } from '../../../scan-run/run-scan.ts';
import { recordIn } from '../../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../../workspace/scan-folder.ts';
import { damageNote } from '../../results/damage-warning.ts';
import { isLiveFormat } from '../../results/live/live-lines.ts';
import type { LiveOutput } from '../../results/live/live-output.ts';
import { renderResult } from '../../results/local-result.ts';
import { resultStyle } from '../../results/result-style.ts';
import { usage } from '../../terminal/failure.ts';
import { onInterrupt } from '../../terminal/interrupt.ts';
import { createLog } from '../../terminal/log.ts';
import { note, writeResult } from '../../terminal/output.ts';
import { storedRecord } from '../../workspace/local-record.ts';
import { endedText, stoppingText } from '../live/interrupt-texts.ts';
import { openVerbose } from '../live/open-verbose.ts';
import { exitCodeOf, noteOutcome, openView, type ScanView } from '../live/scan-view.ts';
import { openLiveResult } from '../live-result.ts';
import { noteResult, tableOptionsOf } from '../result-notes.ts';
import { reportWishes, type ScanCommand } from '../submission.ts';
import type { LocalScanStore } from './local-store.ts';
import { ScanBook } from './scan-book.ts';

/** An interrupted scan that goes on. */
export interface EarlierStart {
  /** When it was first started, ISO 8601 UTC. */
  startedAt: string;
  /** Earlier starts. */
  resumes: number;
  rateHistory: RateHistory | null;
}

/** One scan in this process: runs it, prints its result and sends its notifications. */
export class LocalScan {
  readonly #order: ScanCommand;
  readonly #settings: LoadedConfig;
  readonly #catalogue: ModuleCatalog;
  readonly #modules: ScanModules;
  readonly #request: ScanRequest;
  readonly #place: LocalScanStore;
  readonly #earlier: EarlierStart | null;
  readonly #view: ScanView;
  readonly #abort = new AbortController();
  /** Null if the result is written at the end. */
  readonly #live: LiveOutput | null;
  /** The reader of the result has left: nobody is told of the end. */
  #unread = false;

  constructor(
    order: ScanCommand,
    settings: LoadedConfig,
    { catalogue, modules }: { catalogue: ModuleCatalog; modules: ScanModules },
    request: ScanRequest,
    place: LocalScanStore,
    earlier: EarlierStart | null = null,
  ) {
    this.#earlier = earlier;
    this.#order = order;
    this.#settings = settings;
    this.#catalogue = catalogue;
    this.#modules = modules;
    this.#request = request;
    this.#place = place;
    const isOnTerminal = process.stdout.isTTY && order.output.file === null;
    this.#view = openView(order.flags, { showsPorts: !(isOnTerminal && isLiveFormat(order.output.format)) });
    this.#live = openLiveResult(order, this.#view, () => {
      this.#unread = true;
      this.#abort.abort(new ScanAbort('canceled', 'the reader of the results has left'));
    });
  }

  async run(): Promise<number> {
    const folder = this.#place.workspace.scan(this.#request.scan_id);
    if (this.#earlier === null) await folder.create(this.#request);
    const book = await this.#openBook();
    const outcome = await this.#execute(folder, book);
    const scan = scanOf(this.#request, outcome, book.startedAt);
    try {
      await book.finish(outcome, await folder.sizeBytes());
    } catch (error) {
      // Print the result even if the store is unavailable.
      await this.#writeResult(folder, scan, null);
      throw error;
    }
    if (!this.#unread)
      noteOutcome(outcome, this.#order.flags.quiet ?? false, {
        hasNotes: this.#view.hasNotes,
        isText: this.#order.output.format === 'text',
      });
    try {
      await this.#writeResult(folder, scan, await this.#orderReport(scan));
      const changed = await this.#compare();
      return exitCodeOf(outcome) || changed;
    } finally {
      await this.#notify(scan);
    }
  }

  /** Store of the scan; pending notifications belong to the store as a whole. */
  async #openBook(): Promise<ScanBook> {
    const { store } = this.#place;
    if (store === null) return new ScanBook(null, this.#request);
    const rows = this.#request.notifications.length > 0 ? await store.whole() : store.rows;
    if (this.#earlier) return new ScanBook(rows, this.#request, this.#earlier.startedAt);
    return await ScanBook.open(rows, this.#request, store.executor);
  }

  async #notify(scan: Scan): Promise<void> {
    const { notifications } = this.#request;
    if (notifications.length === 0) return;
    const { notifyFromHere } = await import('./local-notifications.ts');
    const tell = this.#order.flags.quiet ? () => undefined : note;
    const { store, workspace } = this.#place;
    const place = { workspace, store: store && (await store.whole()) };
    const { config } = this.#settings;
    await notifyFromHere(place, { config, catalogue: this.#catalogue }, scan, notifications, tell);
  }

  /** @returns the exit code of `--fail-on-change` */
  async #compare(): Promise<number> {
    const { output, flags } = this.#order;
    const { compareWith, failOnChange = false } = flags;
    if (compareWith === undefined || this.#place.store === null) return 0;
    const { compareScans } = await import('../../../actions/results/compare-scans.ts');
    const { exitCodeOfChanges, viewOfChanges, writeDiff } = await import('../../results/compared-with.ts');
    const { renderDiff } = await import('../scan-diff.ts');
    const comparison = await compareScans(await this.#comparing(), this.#request.scan_id, compareWith);
    const view = viewOfChanges(output, flags);
    await writeDiff(output, (format) => renderDiff(comparison, format, view));
    return await exitCodeOfChanges(comparison, failOnChange);
  }

  async #comparing(): Promise<CompareContext> {
    const { store, workspace } = this.#place;
    if (store === null) throw usage('--compare-with needs the workspace: omit --no-workspace');
    const whole = await store.whole();
    const recordOf = ({ scan_id }: Scan) => storedRecord({ store: whole, workspace }, scan_id);
    return { store: whole, config: this.#settings.config, catalogue: this.#catalogue, recordOf };
  }

  /** Null without wishes. */
  async #orderReport(scan: Scan): Promise<ReportOrder | null> {
    const wishes = await reportWishes(this.#order);
    if (Object.keys(wishes).length === 0) return null;
    const { orderReport } = await import('../../../actions/results/report-order.ts');
    const { templatesDir } = this.#place.workspace;
    const context = { templatesDir, comparing: () => this.#comparing() };
    return await orderReport(context, scan, wishes);
  }

  async #execute(folder: ScanFolder, book: ScanBook): Promise<ScanOutcome> {
    const release = onInterrupt(
      () => {
        this.#view.stop(stoppingText);
        this.#abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
      },
      endedText(this.#place.store === null ? null : this.#request.scan_id),
    );
    const verbose = await openVerbose(this.#order.flags, this.#view);
    verbose?.start(this.#request, this.#request.ports);
    try {
      const outcome = await runScan({
        request: this.#request,
        config: this.#settings.config,
        catalogue: this.#catalogue,
        folder,
        templatesDir: this.#place.workspace.templatesDir,
        modules: this.#modules,
        startedAt: book.startedAt,
        resumes: this.#earlier?.resumes ?? 0,
        rateHistory: this.#earlier?.rateHistory ?? null,
        signal: this.#abort.signal,
        log: logFor(this.#settings, (line) => this.#view.note(line)),
        onRow: (row) => {
          this.#view.row(row);
          this.#live?.row(row);
          verbose?.row(row);
        },
        ...(verbose && { onTraffic: (traffic) => verbose.traffic(traffic) }),
        onLive: (live) => {
          this.#view.update(live);
          this.#view.warn(live.warnings);
          verbose?.update(live);
          this.#live?.stages(live.stages);
          book.live(live);
        },
      });
      // The last reports of a scan may be half a second old.
      verbose?.update(outcome);
      return outcome;
    } finally {
      verbose?.end();
      this.#live?.stop();
      this.#view.end();
      // A scan that was stopped can still be ended while its result is printed.
      if (!this.#abort.signal.aborted) release();
    }
  }

  /** What was not written while the scan ran. */
  async #writeRest(live: LiveOutput, folder: ScanFolder, scan: Scan): Promise<void> {
    const results = await openResults(scan, recordIn(folder), damageNote(null));
    try {
      if (results.damage) note(`warning: ${results.damage.message}`);
      await writeResult(null, live.rest(results.rowsWithDamage(), results.summary));
    } finally {
      await results.close();
    }
    await this.#writeCopies(folder, scan);
    if (!this.#unread) this.#noteResult(scan);
  }

  #noteResult(scan: Scan): void {
    noteResult(scan, this.#order, this.#place.store !== null, this.#settings.config.cli.hints);
  }

  /** The same result in the other files. */
  async #writeCopies(folder: ScanFolder, scan: Scan): Promise<void> {
    const { copies, flags } = this.#order;
    const table = tableOptionsOf(flags);
    for (const { file, format } of copies) {
      const [record, style] = [recordIn(folder), resultStyle(file, flags)];
      await writeResult(
        file,
        renderResult(format, record, scan, style, damageNote(null), null, table, flags.open),
      );
    }
  }

  async #writeResult(folder: ScanFolder, scan: Scan, report: ReportOrder | null): Promise<void> {
    const { file, format } = this.#order.output;
    if (this.#live) return await this.#writeRest(this.#live, folder, scan);
    const style = resultStyle(file, this.#order.flags);
    const table = tableOptionsOf(this.#order.flags);
    await writeResult(
      file,
      renderResult(
        format,
        recordIn(folder),
        scan,
        style,
        damageNote(null),
        report,
        table,
        this.#order.flags.open,
      ),
    );
    await this.#writeCopies(folder, scan);
    this.#noteResult(scan);
  }
}

/** Prints only warnings unless a log level was requested. */
export function logFor({ config, origins }: LoadedConfig, write: (line: string) => void) {
  const level = origins.get('logging.level') === 'default' ? 'warn' : config.logging.level;
  return createLog(level, config.logging.format, write);
}

function scanOf(request: ScanRequest, outcome: ScanOutcome, startedAt: string): Scan {
  const { scan_id, targets, created_at, profile, vuln, name, tags, pool } = request;
  const { priority = defaultPriority } = request;
  const decided = { scan_id, targets, created_at, profile, vuln, name, tags, pool, priority };
  return { ...decided, ...outcome, started_at: startedAt, notifications: [] };
}
