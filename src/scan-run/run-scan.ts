import type { SummaryRow } from '../domain/result.ts';
import type { ScanProgress, StageRecord } from '../domain/scan.ts';
import { noTraffic } from '../domain/traffic.ts';
import type { Plan } from '../engine/graph/plan.ts';
import { ModuleLifecycle, type ScanModules } from '../engine/lifecycle.ts';
import type { ResultSource } from '../engine/module.ts';
import { catchUncaughtErrors } from '../engine/uncaught-errors.ts';
import { machineNow } from '../net/machine-clock.ts';
import { NameResolver } from '../net/resolve.ts';
import type { PluginFile } from '../plugins/plugin.ts';
import { readUnsent, removeCheckpoint } from '../workspace/record/checkpoint.ts';
import { recordIn } from '../workspace/record/folder-record.ts';
import { openRecord } from '../workspace/record/record-writer.ts';
import { EvaluationSources } from './catalogs/evaluation-sources.ts';
import { ScanControl } from './control.ts';
import { failureFrom, type ScanFailure, ScanStop } from './finalize/failure.ts';
import { finalizeRecord } from './finalize/finalize-record.ts';
import type { ScanOutcome } from './messages.ts';
import { plannedPlugins } from './plan/plan-plugins.ts';
import { evaluatesVulnerabilities } from './plan/plan-scan.ts';
import { plannedRanges } from './plan/planned-ports.ts';
import { planRun, preparePlugins, restoreEarlier, targetsOfRun } from './prepare-run.ts';
import { type PreparedTargets, withUnresolved } from './prepare-targets.ts';
import { ProgressMeter } from './progress.ts';
import { ResultRecorder } from './results/record-results.ts';
import { type Counted, summaryOf } from './results/scan-summary.ts';
import { countRows } from './results/stream-results.ts';
import type { RunContext, RunScanInput } from './run-context.ts';
import { ScanGraph } from './run-scan-graph.ts';
import { earlierTime, endTime, ScanTime } from './run-time.ts';
import { scanStatus } from './status.ts';

/**
 * Runs one scan to its end: resolves names, applies the scope, executes the graph and leaves a finished record.
 * Results stay, whatever happens. Never rejects because of a target or a module.
 */
export async function runScan(input: RunScanInput): Promise<ScanOutcome> {
  const release = catchUncaughtErrors(input.log);
  const lifecycle = new ModuleLifecycle();
  try {
    return await runWithContext(input, input.modules ?? lifecycle.forScan());
  } finally {
    await lifecycle.cleanUp(input.log);
    release();
  }
}

async function runWithContext(input: RunScanInput, modules: ScanModules): Promise<ScanOutcome> {
  const { request, config, folder, onSealed, onRow, part } = input;
  const time = await timeOf(input);
  const control = input.control ?? new ScanControl({ rate: request.rate, mostRate: config.scanner.max_rate });
  const { hold } = control;
  const limit = config.engine.global_timeout;
  const stop = new ScanStop(input.signal, request.options, limit, time.earlierActiveMs, hold);
  const resolve = resolverOf(input, control, stop);
  const warnings: RunContext['warnings'] = [...(input.warnings ?? [])];
  const evaluation = new EvaluationSources(config, rulesOf(input), warnings);
  const record = await openRecord(folder, {
    ...(onSealed && { onSealed }),
    ...(onRow && { onRow }),
    // The worker stores the rows of a shard, and the folder is of this attempt only.
    isDurable: !part,
  });
  const run = new ScanRun({ input, time, control, stop, record, evaluation, modules, warnings, resolve });
  try {
    return await run.execute();
  } finally {
    stop.release();
    await run.close();
    await modules.end(input.log);
    evaluation.close();
    await record.close();
  }
}

/** Rule files of the plugins that the scan was planned with. */
function rulesOf({ request, catalogue }: RunScanInput): PluginFile[] {
  const planned = new Set(plannedPlugins(request).map(({ file }) => file.sha256));
  const files = (catalogue.plugins ?? []).map(({ file }) => file);
  return files.filter(({ kind, sha256 }) => kind === 'rules' && planned.has(sha256));
}

async function timeOf({ folder, startedAt, control, part, begunAt = machineNow() }: RunScanInput) {
  const earlier = { startedAt, pausedMs: control?.pausedMs ?? 0, isShard: Boolean(part) };
  return new ScanTime(await earlierTime(folder, earlier), begunAt);
}

/** Names that were resolved when the scan began are not resolved again. */
function resolverOf({ config, names = {}, request }: RunScanInput, { hold }: ScanControl, stop: ScanStop) {
  const { servers, timeout } = config.scanner.dns;
  const resolver = new NameResolver({
    servers,
    timeoutMs: timeout,
    door: hold,
    ipv6Only: request.options.ipv6_only ?? false,
  });
  return async (name: string) => {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    return known ? { addresses: known, dropped: 0 } : await resolver.resolve(name, stop.signal);
  };
}

class ScanRun {
  readonly #context: RunContext;
  #recorder: ResultRecorder | null = null;
  #targets: PreparedTargets | null = null;
  #plan: Plan | null = null;
  #graph: ScanGraph | null = null;

  constructor(context: RunContext) {
    this.#context = context;
  }

  async execute(): Promise<ScanOutcome> {
    const { record, control, stop } = this.#context;
    if (record.finished) return await this.#finishedBefore();
    await this.#writeStatus(null);
    const failure = await this.#gather();
    // A scan paused while its reporters ran stays running until it is resumed or ended from outside.
    await control.hold.released(stop.signal);
    return await this.#finish(failure);
  }

  async close(): Promise<void> {
    await this.#graph?.close();
  }

  /** The record was finished by a run that died before it could report. */
  async #finishedBefore(): Promise<ScanOutcome> {
    const summary = await recordIn(this.#context.input.folder).summary();
    await this.#finalizeFiles();
    if (summary?.status === 'completed') return this.#outcome(null, 'completed');
    return this.#outcome(
      { code: 'interrupted', message: 'an earlier run ended the scan as failed' },
      'failed',
    );
  }

  /** Runs everything up to the end of the reporters. @returns why the scan failed, or null */
  async #gather(): Promise<ScanFailure | null> {
    const { record, stop } = this.#context;
    try {
      const plan = await planRun(this.#context);
      this.#plan = plan;
      preparePlugins(this.#context, plan);
      const targets = await targetsOfRun(this.#context);
      this.#targets = targets;
      // Do not probe hosts if the results cannot be stored.
      const recorder = new ResultRecorder(
        record,
        targets.hostnames,
        (error) => stop.abort(error),
        (warning) => this.#context.warnings.push(warning),
      );
      this.#recorder = recorder;
      const earlier = await restoreEarlier(this.#context, plan, recorder);
      this.#recordTargets(targets, recorder);
      if (targets.addresses.size === 0n) return this.#noTargets();
      const results = () => this.#results();
      const earlierUnsent = await readUnsent(this.#context.input.folder);
      const input = { plan, targets, recorder, earlier, earlierUnsent, results };
      this.#graph = new ScanGraph(this.#context, input);
      await this.#graph.run();
      return this.#graph.verdict;
    } catch (error) {
      return failureFrom(stop.signal.aborted ? stop.signal.reason : error);
    }
  }

  #recordTargets({ warnings, errors }: PreparedTargets, recorder: ResultRecorder): void {
    this.#context.warnings.push(...warnings);
    for (const { target, code, message } of errors) recorder.writeError(target, code, message, null);
    this.#context.input.onTraffic?.(withUnresolved(noTraffic(), errors));
  }

  #noTargets(): ScanFailure {
    const message = this.#context.input.part
      ? 'the scope of the worker allows none of the addresses (its own scanner.scope and scanner.blocklist)'
      : 'no targets left after exclusions, scope and name resolution';
    return { code: 'no_targets', message };
  }

  /** What the reporters read. */
  #results(): ResultSource {
    const { request, folder, startedAt } = this.#context.input;
    const { warnings } = this.#context;
    return {
      scanId: request.scan_id,
      targets: request.targets,
      request,
      startedAt,
      rows: () => recordIn(folder).rows(),
      summary: async () => this.#summary(this.#graph?.verdict ?? null, await this.#countRecord()),
      failure: () => this.#graph?.verdict ?? null,
      stages: () => this.#stages.filter(({ status }) => status !== 'pending' && status !== 'running'),
      warnings: () => warnings,
      evaluated: evaluatesVulnerabilities(request.vuln, warnings),
      reportsDir: folder.reportsDir,
      templatesDir: this.#context.input.templatesDir ?? null,
    };
  }

  /** Seals the record with its summary, on disk before the end is reported. */
  async #finish(failure: ScanFailure | null): Promise<ScanOutcome> {
    const { part, folder } = this.#context.input;
    let counted: Counted;
    try {
      counted = await this.#finishRecord(failure);
    } catch (error) {
      // The reports state an end that the record does not have.
      await folder.removeReports().catch(() => undefined);
      return await this.#outcome(failure ?? failureFrom(error), 'failed');
    }
    if (!part) await this.#cleanUp();
    return await this.#outcome(failure, failure ? 'failed' : 'completed', counted);
  }

  async #finishRecord(failure: ScanFailure | null): Promise<Counted> {
    const { input, record, evaluation } = this.#context;
    if (this.#recorder) {
      await this.#recorder.flush();
      await record.seal();
    }
    const counted = await this.#countRecord();
    // The owner of the scan finishes the record of all its shards.
    if (input.part) input.onEvaluated?.(evaluation.data);
    else await record.finish(this.#summary(failure, counted));
    return counted;
  }

  /** From here on, the outcome in the record is final. */
  async #cleanUp(): Promise<void> {
    const { folder, log } = this.#context.input;
    await removeCheckpoint(folder).catch((error: unknown) =>
      log.warn('could not remove the checkpoint', { error: String(error) }),
    );
    await this.#finalizeFiles();
  }

  /** The results are safe; gives them their final form. */
  async #finalizeFiles(): Promise<void> {
    const { folder, config } = this.#context.input;
    this.#context.warnings.push(...(await finalizeRecord(folder, config.workspace.scans)));
  }

  async #outcome(
    error: ScanFailure | null,
    status: ScanOutcome['status'],
    counted?: Counted,
  ): Promise<ScanOutcome> {
    const { results, severity_counts } = counted ?? (await this.#countRecord());
    const outcome: ScanOutcome = {
      status,
      error,
      completed_at: endTime(this.#context.input.startedAt),
      results,
      severity_counts,
      progress: this.#finalProgress(status === 'completed'),
      warnings: this.#context.warnings,
      stages: this.#stages,
    };
    await this.#writeStatus(outcome);
    return outcome;
  }

  async #writeStatus(outcome: ScanOutcome | null): Promise<void> {
    const { input, time, warnings } = this.#context;
    const { folder, request, startedAt, log } = input;
    const end = outcome && { outcome, seconds: time.seconds };
    try {
      await folder.writeStatus(scanStatus({ request, startedAt, warnings, end }));
    } catch (error) {
      log.error('could not write status.json', { error: String(error) });
    }
  }

  #countRecord(): Promise<Counted> {
    return countRows(recordIn(this.#context.input.folder).rows());
  }

  #summary(failure: ScanFailure | null, counted: Counted): SummaryRow {
    return summaryOf(this.#context, {
      failure,
      isPartial: this.#graph?.isPartial ?? false,
      counted,
      hostsDone: this.#finalProgress(failure === null).hosts_done,
      excluded: this.#targets?.excluded ?? 0n,
      stages: this.#stages,
      ports: this.#plan === null ? undefined : plannedRanges(this.#plan),
    });
  }

  get #stages(): StageRecord[] {
    return this.#graph?.stages ?? [];
  }

  #finalProgress(completed: boolean): ScanProgress {
    if (this.#graph) return this.#graph.finalProgress(completed);
    return new ProgressMeter({ name: '', nodes: [] }, 0, this.#context.input.resumes).final(completed, []);
  }
}
