import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { CompareContext } from '../../actions/results/compare-scans.ts';
import type { ReportOrder } from '../../actions/results/export-report.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { newScanId, type Scan, type ScanRequest } from '../../domain/scan.ts';
import { parseTargets } from '../../domain/targets/target.ts';
import { ModuleLifecycle, type ScanModules } from '../../engine/lifecycle.ts';
import { requireEgress } from '../../scan-run/egress-choice.ts';
import { ScanAbort } from '../../scan-run/finalize/failure.ts';
import type { LiveScan, ScanOutcome } from '../../scan-run/messages.ts';
import { type DecidedRequest, decideRequest } from '../../scan-run/plan/decide-request.ts';
import { checkModuleDefaults } from '../../scan-run/plan/module-defaults.ts';
import { type ModuleCatalog, planScan, readGraphFile } from '../../scan-run/plan/plan-scan.ts';
import type { Submission } from '../../scan-run/plan/submission.ts';
import { runScan } from '../../scan-run/run-scan.ts';
import type { ScanRows } from '../../store/scans/scan-rows.ts';
import { recordIn } from '../../workspace/record/folder-record.ts';
import type { ScanFolder } from '../../workspace/scan-folder.ts';
import { damageNote } from '../results/damage-warning.ts';
import { renderResult } from '../results/local-result.ts';
import { tableStyle } from '../results/result-table.ts';
import { type CommandCatalog, loadModuleCatalog, noteProblems } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { createLog } from '../terminal/log.ts';
import { note, writeResult } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { storedRecord } from '../workspace/local-record.ts';
import { type LocalScanStore, openLocalScanStore } from './local-store.ts';
import { isProfileFile, withProfileFile } from './profile-choice.ts';
import { exitCodeOf, noteOutcome, noteResult, openView, type ScanView } from './scan-view.ts';
import { reportWishes, type ScanCommand, withBaseline } from './submission.ts';

/** Runs a scan in this process. @returns the exit code */
export async function scanHere(
  order: ScanCommand,
  settings: LoadedConfig,
  wiring: CliWiring,
): Promise<number> {
  const {
    catalogue,
    decided: { request },
  } = await decide(order, settings, wiring);
  try {
    return await scanWith(order, settings, catalogue, request);
  } finally {
    await catalogue.release();
  }
}

async function scanWith(
  order: ScanCommand,
  settings: LoadedConfig,
  catalogue: ModuleCatalog,
  request: ScanRequest,
): Promise<number> {
  // Reject an invalid scan before anything is stored or sent.
  const plan = await planScan(request, settings.config, catalogue);
  await checkRules(request);
  const lifecycle = new ModuleLifecycle();
  const modules = lifecycle.forScan();
  const log = logFor(settings, note);
  try {
    // Slow preparation runs while workspace and store are opened.
    modules.prepare(plan.nodes, parseTargets(request.targets).addresses);
    return await inStore(order, settings, (chosen, place) =>
      new LocalScan(chosen, settings, { catalogue, modules }, request, place).run(),
    );
  } finally {
    await modules.end(log);
    await lifecycle.cleanUp(log);
  }
}

async function inStore(
  typed: ScanCommand,
  { config }: LoadedConfig,
  run: (order: ScanCommand, place: LocalScanStore) => Promise<number>,
): Promise<number> {
  const place = await openLocalScanStore(config);
  try {
    const order = await withBaseline(typed, (text) => findBaseline(place, text));
    const { template } = order.flags;
    if (template !== undefined) await checkTemplate(place, template);
    return await run(order, place);
  } finally {
    await place.close();
  }
}

/** Validates the rule file before the scan. @throws PortolanError `usage` */
async function checkRules({ options }: ScanRequest): Promise<void> {
  const file = options.fingerprint_rules;
  if (file === undefined) return;
  const { readSignatureFile } = await import('../../knowledge/rules/signature-file.ts');
  await readSignatureFile(file).catch((error: Error) => {
    throw usage(`--fingerprint-rules: ${error.message}`);
  });
}

/** @throws PortolanError before the scan rather than after it */
async function checkTemplate({ workspace }: LocalScanStore, name: string): Promise<void> {
  const { readTemplate } = await import('../../report/template/read-template.ts');
  await readTemplate(workspace.templatesDir, name);
}

/** @returns its id */
async function findBaseline({ store }: LocalScanStore, text: string): Promise<string> {
  if (store === null) throw usage('--compare-with needs the workspace: omit --no-workspace');
  const { checkBaseline } = await import('../results/compared-with.ts');
  const { showScan } = await import('../../actions/scans/show-scan.ts');
  const { scanIn } = await import('../session/scan-choice.ts');
  const whole = await store.whole();
  const scan = await showScan(whole, await scanIn(whole, text));
  checkBaseline(scan);
  return scan.scan_id;
}

class LocalScan {
  readonly #order: ScanCommand;
  readonly #settings: LoadedConfig;
  readonly #catalogue: ModuleCatalog;
  readonly #modules: ScanModules;
  readonly #request: ScanRequest;
  readonly #place: LocalScanStore;
  readonly #view: ScanView;

  constructor(
    order: ScanCommand,
    settings: LoadedConfig,
    { catalogue, modules }: { catalogue: ModuleCatalog; modules: ScanModules },
    request: ScanRequest,
    place: LocalScanStore,
  ) {
    this.#order = order;
    this.#settings = settings;
    this.#catalogue = catalogue;
    this.#modules = modules;
    this.#request = request;
    this.#place = place;
    this.#view = openView(order.flags);
  }

  async run(): Promise<number> {
    const folder = this.#place.workspace.scan(this.#request.scan_id);
    await folder.create(this.#request);
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
    noteOutcome(outcome, this.#order.flags.quiet ?? false);
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
    const { compareWith, failOnChange = false } = this.#order.flags;
    if (compareWith === undefined || this.#place.store === null) return 0;
    const { compareScans } = await import('../../actions/results/compare-scans.ts');
    const { exitCodeOfChanges, writeDiff } = await import('../results/compared-with.ts');
    const { renderDiff } = await import('./scan-diff.ts');
    const comparison = await compareScans(await this.#comparing(), this.#request.scan_id, compareWith);
    await writeDiff(this.#order.output, (format) => renderDiff(comparison, format));
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
    const { orderReport } = await import('../../actions/results/report-order.ts');
    const { templatesDir } = this.#place.workspace;
    const context = { templatesDir, comparing: () => this.#comparing() };
    return await orderReport(context, scan, wishes);
  }

  async #execute(folder: ScanFolder, book: ScanBook): Promise<ScanOutcome> {
    const abort = new AbortController();
    const release = onInterrupt(() => {
      this.#view.note('canceling, results so far are kept; press Ctrl-C again to quit at once');
      abort.abort(new ScanAbort('canceled', 'the scan was canceled'));
    }, 7);
    try {
      return await runScan({
        request: this.#request,
        config: this.#settings.config,
        catalogue: this.#catalogue,
        folder,
        templatesDir: this.#place.workspace.templatesDir,
        modules: this.#modules,
        startedAt: book.startedAt,
        resumes: 0,
        signal: abort.signal,
        log: logFor(this.#settings, (line) => this.#view.note(line)),
        onLive: (live) => {
          this.#view.update(live);
          book.live(live);
        },
      });
    } finally {
      this.#view.end();
      release();
    }
  }

  async #writeResult(folder: ScanFolder, scan: Scan, report: ReportOrder | null): Promise<void> {
    const { file, format } = this.#order.output;
    const style = tableStyle(file === null ? process.stdout : {}, !this.#order.flags.color);
    await writeResult(file, renderResult(format, recordIn(folder), scan, style, damageNote(null), report));
    if (!this.#order.flags.quiet) noteResult(scan, file, this.#place.store !== null);
  }
}

/** Prints the plan of a scan; sends and stores nothing. @returns the exit code */
export async function dryRun(order: ScanCommand, settings: LoadedConfig, wiring: CliWiring): Promise<number> {
  const { previewScan } = await import('../../actions/scans/preview-scan.ts');
  const { printPreview } = await import('../results/plan-text.ts');
  const { catalogue, decided } = await decide(order, settings, wiring);
  await catalogue.release();
  await checkRules(decided.request);
  const preview = await previewScan(decided, settings.config, catalogue, null);
  printPreview(preview, order.output.format, order.flags);
  return 0;
}

/** The installed modules and profiles, with a profile file, and the request resolved with them. @throws PortolanError */
async function decide(
  order: ScanCommand,
  settings: LoadedConfig,
  wiring: CliWiring,
): Promise<{ catalogue: CommandCatalog; decided: DecidedRequest }> {
  const installed = await loadModuleCatalog(wiring, settings.config, {
    profile: onlyProfile(order, settings.config),
    plugins: order.flags.plugin ?? [],
  });
  try {
    return await decideWith(order, settings, installed);
  } catch (error) {
    await installed.release();
    throw error;
  }
}

async function decideWith(
  order: ScanCommand,
  settings: LoadedConfig,
  installed: CommandCatalog,
): Promise<{ catalogue: CommandCatalog; decided: DecidedRequest }> {
  noteProblems(installed);
  await demandOutput(order, installed);
  checkModuleDefaults(settings, installed.registry);
  const { profile } = order.flags;
  if (profile === undefined || !isProfileFile(profile)) {
    return { catalogue: installed, decided: await requestOf(order, settings.config, installed) };
  }
  const chosen = await withProfileFile(installed, profile);
  const submission = { ...order.submission, profile: chosen.profile };
  const catalogue = { ...installed, ...chosen.catalogue };
  return { catalogue, decided: await requestOf({ ...order, submission }, settings.config, catalogue) };
}

/** @throws PortolanError `license_required` */
async function demandOutput({ output }: ScanCommand, { license }: ModuleCatalog): Promise<void> {
  if (!license) return;
  const { requireFormatLicense } = await import('../../actions/results/export-scan.ts');
  requireFormatLicense(output.format, license);
}

/** The name of the profile if the request needs no other graph, else null. */
function onlyProfile({ dag, flags, submission }: ScanCommand, { scanner }: Config): string | null {
  return (dag ?? submission.dag) === undefined && flags.compareWith === undefined
    ? (flags.profile ?? scanner.default_profile)
    : null;
}

/** @throws PortolanError `invalid_request` with every problem */
async function requestOf(
  order: ScanCommand,
  config: Config,
  { library, registry, plugins = [] }: ModuleCatalog,
): Promise<DecidedRequest> {
  const { dag, flags } = order;
  const submission = { ...order.submission } as Submission;
  const file = dag === undefined || library.get(dag) ? null : resolve(dag);
  if (dag !== undefined) submission.dag = file ?? dag;
  if (flags.fingerprintRules !== undefined) {
    submission.options = { ...submission.options, fingerprint_rules: resolve(flags.fingerprintRules) };
  }
  const choices = {
    profiles: library.profiles(),
    dags: library.list().map(({ name }) => name),
    installed: library,
    plugins,
    ...(file !== null && { graph: await readGraphFile(file, registry) }),
  };
  const createdAt = new Date();
  const origin = { scanId: newScanId(createdAt, randomBytes), createdAt, user: 'cli', graphFiles: true };
  const decided = decideRequest(submission, config, choices, origin);
  requireEgress(decided.request, config);
  return decided;
}

/** Prints only warnings unless a log level was requested. */
function logFor({ config, origins }: LoadedConfig, write: (line: string) => void) {
  const level = origins.get('logging.level') === 'default' ? 'warn' : config.logging.level;
  return createLog(level, config.logging.format, write);
}

/** Updates the row of the scan in the store while it runs. Without a store it does nothing. */
class ScanBook {
  readonly startedAt = new Date().toISOString();
  readonly #rows: ScanRows | null;
  readonly #scanId: string;
  /** Serializes updates, so that an old state never overwrites a new one. */
  #writing: Promise<unknown> = Promise.resolve();
  #latest: LiveScan | null = null;

  constructor(rows: ScanRows | null, { scan_id }: ScanRequest) {
    this.#rows = rows;
    this.#scanId = scan_id;
  }

  /** @param executor the process that runs the scan */
  static async open(rows: ScanRows, request: ScanRequest, executor: string): Promise<ScanBook> {
    const book = new ScanBook(rows, request);
    await rows.transaction(async ({ scans }) => {
      await scans.insert(request, executor);
      await scans.update(request.scan_id, { status: 'running', started_at: book.startedAt });
    });
    return book;
  }

  /** A lost update does no harm: the next one or the end corrects it. */
  live(live: LiveScan): void {
    if (this.#latest === null)
      this.#writing = this.#writing.then(() => this.#writeLatest()).catch(() => undefined);
    this.#latest = live;
  }

  async #writeLatest(): Promise<void> {
    const live = this.#latest;
    this.#latest = null;
    if (live) await this.#rows?.scans.update(this.#scanId, live);
  }

  async finish(outcome: ScanOutcome, sizeBytes: number): Promise<void> {
    await this.#writing;
    await this.#rows?.transaction(async ({ scans }) => {
      await scans.update(this.#scanId, outcome);
      await scans.setSize(this.#scanId, sizeBytes);
    });
  }
}

function scanOf(request: ScanRequest, outcome: ScanOutcome, startedAt: string): Scan {
  const { scan_id, targets, created_at, profile, vuln, name, tags, pool } = request;
  const decided = { scan_id, targets, created_at, profile, vuln, name, tags, pool };
  return { ...decided, ...outcome, started_at: startedAt, notifications: [] };
}
