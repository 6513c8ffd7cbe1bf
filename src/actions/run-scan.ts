import { performance } from 'node:perf_hooks';
import type { Config } from '../config/schema.ts';
import type { SummaryRow } from '../domain/result.ts';
import type { ScanProgress, ScanRequest, ScanWarning, StageRecord } from '../domain/scan.ts';
import type { Logger, ResultSource } from '../engine/module.ts';
import type { Plan } from '../engine/plan.ts';
import { type EarlierRun, type GraphRun, runGraph } from '../engine/run.ts';
import { catalogueVersion } from '../knowledge/catalogue.ts';
import type { NetworkGate } from '../net/gate.ts';
import { RateLimiter } from '../net/rate.ts';
import { NameResolver } from '../net/resolve.ts';
import { createGate } from '../net/scoped-gate.ts';
import { removeCheckpoint } from '../workspace/checkpoint.ts';
import { mergedRows, recordSummary } from '../workspace/record-reader.ts';
import { openRecord, type RecordWriter } from '../workspace/record-writer.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { keepCheckpoint } from './keep-checkpoint.ts';
import { type Catalogue, planScan } from './plan-scan.ts';
import { type PreparedTargets, prepareTargets } from './prepare-targets.ts';
import { recallResults } from './recall-results.ts';
import { ResultRecorder } from './record-results.ts';
import { failureFrom, type ScanFailure, ScanStop } from './scan-failure.ts';
import type { LiveScan, ScanOutcome } from './scan-messages.ts';
import { ProgressMeter } from './scan-progress.ts';
import { scanStatus } from './scan-status.ts';
import { countRows } from './stream-results.ts';

/** At most two reports a second reach the outside. */
const liveIntervalMs = 500;

export interface RunScanInput {
  request: ScanRequest;
  config: Config;
  catalogue: Catalogue;
  folder: ScanFolder;
  /** When the scan was first started, ISO 8601 UTC. */
  startedAt: string;
  /** How often the scan was started before. */
  resumes: number;
  /** Aborted with a ScanAbort to end the scan as failed. */
  signal: AbortSignal;
  log: Logger;
  onLive?: (live: LiveScan) => void;
  /** Called with the number of rows that are durable. */
  onSealed?: (rows: number) => void;
}

type Counted = Awaited<ReturnType<typeof countRows>>;

/**
 * Runs one scan to its end: resolves names, applies the scope, executes the graph and leaves a finished record.
 * What was found stays, whatever happens. Never rejects for what a target or a module does.
 */
export async function runScan(input: RunScanInput): Promise<ScanOutcome> {
  const run = new ScanRun(input);
  return run.execute();
}

class ScanRun {
  readonly #input: RunScanInput;
  readonly #resumedAt = performance.now();
  /** Seconds from the first start of the scan to this run of it. */
  readonly #earlierSeconds: number;
  readonly #warnings: ScanWarning[] = [];
  readonly #stop: ScanStop;
  #record!: RecordWriter;
  #recorder!: ResultRecorder;
  #prepared: PreparedTargets | null = null;
  #gate: NetworkGate | null = null;
  #meter: ProgressMeter | null = null;
  #graph: GraphRun | null = null;
  /** What an interrupted run left behind. */
  #earlier: EarlierRun | null = null;

  constructor(input: RunScanInput) {
    this.#input = input;
    this.#earlierSeconds = Math.max(0, Date.now() - Date.parse(input.startedAt)) / 1000;
    this.#stop = new ScanStop(
      input.signal,
      input.request.options,
      input.config.engine.global_timeout,
      this.#earlierSeconds * 1000,
    );
  }

  async execute(): Promise<ScanOutcome> {
    const { folder, onSealed } = this.#input;
    this.#record = await openRecord(folder, onSealed ? { onSealed } : {});
    try {
      if (this.#record.finished) return await this.#finishedBefore();
      await this.#writeStatus(null);
      const failure = await this.#gather();
      return await this.#finish(failure);
    } finally {
      this.#stop.release();
      await this.#record.close();
    }
  }

  /** The record was finished by a run that died before anybody heard of it. */
  async #finishedBefore(): Promise<ScanOutcome> {
    const summary = await recordSummary(this.#input.folder);
    if (summary?.status === 'completed') return this.#outcome(null, 'completed');
    return this.#outcome(
      { code: 'interrupted', message: 'an earlier run of the scan ended it as failed' },
      'failed',
    );
  }

  /** Runs everything up to the reporters' end. @returns why the scan failed, or null */
  async #gather(): Promise<ScanFailure | null> {
    const { request, config, catalogue } = this.#input;
    try {
      const plan = await planScan(request, config, catalogue);
      const { servers, timeout } = config.scanner.dns;
      const resolver = new NameResolver({ servers, timeoutMs: timeout });
      this.#prepared = await prepareTargets(request, config, (name) =>
        resolver.resolve(name, this.#stop.signal),
      );
      // Nobody's hosts are bothered for results that cannot be kept.
      this.#recorder = new ResultRecorder(this.#record, this.#prepared.hostnames, (error) =>
        this.#stop.abort(error),
      );
      await this.#recall();
      this.#noteTargets(this.#prepared);
      if (this.#prepared.addresses.size === 0n) {
        return {
          code: 'no_targets',
          message: 'nothing is left to scan after exclusions, scope and name resolution',
        };
      }
      await this.#runGraph(plan, this.#prepared);
      return this.#failureOf(plan);
    } catch (error) {
      return failureFrom(this.#stop.signal.aborted ? this.#stop.signal.reason : error);
    }
  }

  async #recall(): Promise<void> {
    const { folder } = this.#input;
    this.#earlier = await recallResults(folder);
    if (!this.#earlier) return;
    for await (const row of mergedRows(folder)) await this.#recorder.recall(row);
  }

  #noteTargets(prepared: PreparedTargets): void {
    this.#warnings.push(...prepared.warnings);
    for (const { target, code, message } of prepared.errors) {
      this.#recorder.writeError(target, code, message, null);
    }
  }

  async #runGraph(plan: Plan, prepared: PreparedTargets): Promise<void> {
    const { request, config, log, resumes } = this.#input;
    const gate = createGate({
      addresses: prepared.addresses,
      scope: prepared.scope,
      rate: new RateLimiter({ rate: request.rate }),
    });
    this.#gate = gate;
    this.#meter = new ProgressMeter(plan, clampCount(prepared.addresses.size), resumes);
    this.#noteUnavailable(plan);
    this.#graph = runGraph(plan, {
      scanId: request.scan_id,
      targets: prepared.targets,
      net: gate,
      log,
      results: this.#results(),
      signal: this.#stop.signal,
      streamBuffer: config.engine.stream_buffer,
      maxParallelNodes: config.engine.max_parallel_nodes,
      failFast: request.options.fail_fast ?? config.engine.fail_fast,
      stallTimeoutMs: config.engine.stall_timeout,
      tap: (key, item) => this.#recorder.take(key, item),
      beforeReporters: () => {
        this.#noteUnsent(gate);
        return this.#sealAll();
      },
      onWarning: (warning) => this.#warnings.push(warning),
      onProgress: (id, done, total) => this.#meter?.report(id, done, total),
      earlier: this.#earlier,
    });
    const live = setInterval(() => this.#reportLive(), liveIntervalMs);
    const stopCheckpoints = keepCheckpoint(this.#input.folder, this.#graph, () => this.#sealAll(), log);
    try {
      await this.#graph.finished;
    } finally {
      clearInterval(live);
      await stopCheckpoints();
    }
  }

  /** Nobody may take a trouble of this machine for silence of the targets. */
  #noteUnsent({ unsent }: NetworkGate): void {
    for (const [reason, count] of unsent) {
      const message = `${count} packets could not leave this machine (${reason}): what they were for was not tried`;
      this.#warnings.push({ code: 'packets_not_sent', message });
    }
  }

  #noteUnavailable(plan: Plan): void {
    if (plan.nodes.some((node) => node.definition.type === 'evaluation')) return;
    const { vuln, options } = this.#input.request;
    const note = (code: string, consequence: string) =>
      this.#warnings.push({
        code,
        message: `the graph ${plan.name} has no evaluation module, so ${consequence}`,
      });
    if (vuln) note('vuln_unavailable', 'no vulnerabilities are looked for');
    if (options.compliance?.length) note('compliance_unavailable', 'compliance is not judged');
  }

  async #sealAll(): Promise<void> {
    await this.#recorder.flush();
    await this.#record.seal();
  }

  #failureOf(plan: Plan): ScanFailure | null {
    if (this.#stop.signal.aborted) return failureFrom(this.#stop.signal.reason);
    if (this.#recorder.failure) return failureFrom(this.#recorder.failure);
    const working = (this.#graph?.stages ?? []).filter((stage) => typeOf(plan, stage) !== 'reporter');
    const failed = working.filter((stage) => stage.status === 'failed');
    const failFast = this.#input.request.options.fail_fast ?? this.#input.config.engine.fail_fast;
    if (failed.length > 0 && (failFast || !working.some((stage) => stage.status === 'completed'))) {
      return { code: 'pipeline_failed', message: failed[0]?.error ?? 'no stage gave results' };
    }
    return null;
  }

  /** Seals the record with its summary, on disk before anybody hears of the end. */
  async #finish(failure: ScanFailure | null): Promise<ScanOutcome> {
    try {
      if (this.#recorder) await this.#sealAll();
      const counted = await this.#countRecord();
      await this.#record.finish(this.#summary(failure, counted));
      await removeCheckpoint(this.#input.folder);
      return await this.#outcome(failure, failure ? 'failed' : 'completed', counted);
    } catch (error) {
      return await this.#outcome(failure ?? failureFrom(error), 'failed');
    }
  }

  async #outcome(
    error: ScanFailure | null,
    status: ScanOutcome['status'],
    counted?: Counted,
  ): Promise<ScanOutcome> {
    const counts = counted ?? (await this.#countRecord());
    const stages = this.#graph?.stages ?? [];
    const outcome: ScanOutcome = {
      status,
      error,
      completed_at: new Date().toISOString(),
      ...counts,
      progress: this.#finalProgress(status === 'completed'),
      warnings: this.#warnings,
      stages,
    };
    await this.#writeStatus(outcome);
    return outcome;
  }

  async #writeStatus(outcome: ScanOutcome | null): Promise<void> {
    const { folder, request, startedAt, log } = this.#input;
    const end = outcome && { outcome, seconds: this.#seconds() };
    try {
      await folder.writeStatus(scanStatus({ request, startedAt, warnings: this.#warnings, end }));
    } catch (error) {
      log.error('status.json could not be written', { scan: request.scan_id, error: String(error) });
    }
  }

  #reportLive(): void {
    const { onLive } = this.#input;
    if (!onLive || !this.#graph || !this.#meter) return;
    onLive({
      results: { ...this.#recorder.counts },
      severity_counts: { ...this.#recorder.severityCounts },
      progress: this.#meter.measure(this.#graph.stages, this.#gate?.packetsSent ?? 0, this.#recorder.counts),
      warnings: [...this.#warnings],
      stages: this.#graph.stages.map((stage) => ({ ...stage })),
    });
  }

  #results(): ResultSource {
    const { request, folder } = this.#input;
    return {
      scanId: request.scan_id,
      targets: request.targets,
      rows: () => mergedRows(folder),
      summary: async () => this.#summary(null, await this.#countRecord()),
      warnings: () => this.#warnings,
      reportsDir: folder.reportsDir,
    };
  }

  #countRecord(): Promise<Counted> {
    return countRows(mergedRows(this.#input.folder));
  }

  #summary(failure: ScanFailure | null, counted: Counted): SummaryRow {
    return {
      type: 'summary',
      timestamp: new Date().toISOString(),
      host: null,
      scan_id: this.#input.request.scan_id,
      status: failure ? 'failed' : 'completed',
      partial: failure !== null,
      ...counted.results,
      addresses_scanned: this.#finalProgress(failure === null).hosts_done,
      excluded: clampCount(this.#prepared?.excluded ?? 0n),
      severity_counts: counted.severity_counts,
      duration_seconds: this.#seconds(),
      catalogue_version: catalogueVersion,
    };
  }

  #finalProgress(completed: boolean): ScanProgress {
    const meter = this.#meter ?? new ProgressMeter({ name: '', nodes: [] }, 0, this.#input.resumes);
    return meter.final(completed, this.#graph?.stages ?? []);
  }

  #seconds(): number {
    const seconds = this.#earlierSeconds + (performance.now() - this.#resumedAt) / 1000;
    return Math.round(seconds * 10) / 10;
  }
}

function typeOf(plan: Plan, stage: StageRecord): string | undefined {
  return plan.nodes.find((node) => node.instanceId === stage.instance_id)?.definition.type;
}

function clampCount(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
