import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { PortCoverage } from '../domain/host.ts';
import type { PortRow, SummaryRow } from '../domain/result.ts';
import type { ScanProgress, ScanRequest, ScanWarning, StageRecord } from '../domain/scan.ts';
import type { EvaluationData, ShardPart } from '../domain/shard.ts';
import type { Target } from '../domain/target.ts';
import type { Logger, ResultSource } from '../engine/module.ts';
import type { SavedState } from '../engine/node.ts';
import type { Plan } from '../engine/plan.ts';
import { type EarlierRun, type GraphRun, runGraph } from '../engine/run.ts';
import { catchUncaughtErrors } from '../engine/uncaught-errors.ts';
import type { ScanGate } from '../net/gate/gate.ts';
import { createGate } from '../net/gate/scoped-gate.ts';
import { localListeners } from '../net/local-listeners.ts';
import { machineNow } from '../net/machine-clock.ts';
import { rawObstacle } from '../net/packets/rights.ts';
import { NameResolver, type Resolution } from '../net/resolve.ts';
import { removeCheckpoint } from '../workspace/record/checkpoint.ts';
import { mergedRows, recordSummary } from '../workspace/record/record-reader.ts';
import { openRecord, type RecordWriter } from '../workspace/record/record-writer.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import { ScanControl, type ScopeRules } from './control.ts';
import { failureFrom, type ScanFailure, ScanStop } from './failure.ts';
import { finalizeRecord } from './finalize-record.ts';
import type { LiveScan, ScanOutcome } from './messages.ts';
import { evaluatesVulnerabilities, type ModuleCatalog, planScan, unavailable } from './plan/plan-scan.ts';
import { narrowing, type PreparedTargets, prepareTargets } from './prepare-targets.ts';
import { ProgressMeter } from './progress.ts';
import { ResultRecorder } from './record-results.ts';
import { restoreResults } from './restore-results.ts';
import { earlierTime, endTime, ScanTime } from './run-time.ts';
import { saveCheckpoint } from './save-checkpoint.ts';
import { ScanFingerprints } from './scan-fingerprints.ts';
import { ScanVulnerabilities } from './scan-vulnerabilities.ts';
import { scanStatus } from './status.ts';
import { countRows } from './stream-results.ts';

/** At most two reports per second leave the process. */
const liveIntervalMs = 500;

export interface RunScanInput {
  request: ScanRequest;
  config: Config;
  catalogue: ModuleCatalog;
  folder: ScanFolder;
  /** When the scan was first started, ISO 8601 UTC. */
  startedAt: string;
  /** Number of earlier starts of the scan. */
  resumes: number;
  /** When this run started, `machineNow()`; absent = now. */
  begunAt?: number;
  /** Set for a shard; absent or null for the whole scan. */
  part?: ShardPart | null;
  /** Addresses of names resolved at the start of the scan. */
  names?: Readonly<Record<string, string[]>>;
  /** Data the shards were evaluated with, if all were; absent or null = evaluate here. */
  evaluated?: readonly EvaluationData[] | null;
  /** Aborted with a ScanAbort to end the scan as failed. */
  signal: AbortSignal;
  /** Controls while it runs; absent = none. */
  control?: ScanControl;
  log: Logger;
  onLive?: (live: LiveScan) => void;
  /** Called with the number of durable rows. */
  onSealed?: (rows: number) => void;
  /** Called at the end of a shard. */
  onEvaluated?: (data: EvaluationData) => void;
  /** Called with the packets of this run so far, as often as `onLive` and once at the end. */
  onPackets?: (sent: number) => void;
}

/** Types and names of modules that need the whole scan. */
const ofWholeScans = ['reporter', 'compliance_evaluator'];

function isOfWholeScans({ type, name }: { type: string; name: string }): boolean {
  return ofWholeScans.includes(type) || ofWholeScans.includes(name);
}

type Counted = Awaited<ReturnType<typeof countRows>>;

/**
 *
 * Runs one scan to its end: resolves names, applies the scope, executes the graph and leaves a finished record.
 * Results stay, whatever happens. Never rejects because of a target or a module.
 */
export async function runScan(input: RunScanInput): Promise<ScanOutcome> {
  const release = catchUncaughtErrors(input.log);
  try {
    return await new ScanRun(input, await timeOf(input)).execute();
  } finally {
    release();
  }
}

async function timeOf({ folder, startedAt, control, part, begunAt = machineNow() }: RunScanInput) {
  const earlier = { startedAt, pausedMs: control?.pausedMs ?? 0, isShard: Boolean(part) };
  return new ScanTime(await earlierTime(folder, earlier), begunAt);
}

/** Coverage summed over all scanners. */
function coverageOf(stages: readonly StageRecord[]): Pick<SummaryRow, 'coverage'> {
  const counted = stages.flatMap(({ coverage }) => coverage ?? []);
  if (counted.length === 0) return {};
  const sum = (name: keyof PortCoverage) => counted.reduce((total, counts) => total + counts[name], 0);
  const [open, closed, filtered, not_tried] = [sum('open'), sum('closed'), sum('filtered'), sum('not_tried')];
  return { coverage: { planned: open + closed + filtered + not_tried, open, closed, filtered, not_tried } };
}

/** Explicitly requested raw packets have no fallback. @throws PortolanError `permission` */
function demandRights({ options }: ScanRequest): void {
  const obstacle = options.scan_type === 'syn' ? rawObstacle() : null;
  if (obstacle !== null) throw new PortolanError('permission', `scan_type syn: ${obstacle}`);
}

class ScanRun {
  readonly #input: RunScanInput;
  readonly #time: ScanTime;
  readonly #warnings: ScanWarning[] = [];
  readonly #control: ScanControl;
  readonly #stop: ScanStop;
  readonly #resolver: NameResolver;
  readonly #fingerprints: ScanFingerprints;
  readonly #vulnerabilities: ScanVulnerabilities;
  #record!: RecordWriter;
  #recorder!: ResultRecorder;
  #prepared: PreparedTargets | null = null;
  #gate: ScanGate | null = null;
  /** Pending close of the gate. */
  #closing: Promise<void> | null = null;
  #meter: ProgressMeter | null = null;
  #graph: GraphRun | null = null;
  /** Why the scan failed; decided once, before the reporters run, so that reports and record agree. */
  #verdict: ScanFailure | null = null;
  /** State of an interrupted run. */
  #earlier: EarlierRun | null = null;

  constructor(input: RunScanInput, time: ScanTime) {
    this.#input = input;
    this.#time = time;
    this.#control = input.control ?? new ScanControl({ rate: input.request.rate });
    const { hold } = this.#control;
    this.#stop = new ScanStop(
      input.signal,
      input.request.options,
      input.config.engine.global_timeout,
      time.earlierActiveMs,
      hold,
    );
    const { servers, timeout } = input.config.scanner.dns;
    this.#resolver = new NameResolver({ servers, timeoutMs: timeout, door: hold });
    this.#fingerprints = new ScanFingerprints(input.config, (message) =>
      this.#warnings.push({ code: 'fingerprint_rules_refused', message }),
    );
    this.#vulnerabilities = new ScanVulnerabilities(input.config, (message) =>
      this.#warnings.push({ code: 'vulndb_unusable', message }),
    );
  }

  async execute(): Promise<ScanOutcome> {
    const { folder, onSealed } = this.#input;
    this.#record = await openRecord(folder, onSealed ? { onSealed } : {});
    try {
      if (this.#record.finished) return await this.#finishedBefore();
      await this.#writeStatus(null);
      const failure = await this.#gather();
      // A scan paused while its reporters ran stays running until it is resumed or ended from outside.
      await this.#control.hold.released(this.#stop.signal);
      return await this.#finish(failure);
    } finally {
      this.#reportPackets();
      this.#stop.release();
      await (this.#closing ?? this.#gate?.close());
      this.#vulnerabilities.close();
      await this.#record.close();
    }
  }

  /** The record was finished by a run that died before it could report. */
  async #finishedBefore(): Promise<ScanOutcome> {
    const summary = await recordSummary(this.#input.folder);
    await this.#settle();
    if (summary?.status === 'completed') return this.#outcome(null, 'completed');
    return this.#outcome(
      { code: 'interrupted', message: 'an earlier run ended the scan as failed' },
      'failed',
    );
  }

  /** Runs everything up to the end of the reporters. @returns why the scan failed, or null */
  async #gather(): Promise<ScanFailure | null> {
    const { request, config, catalogue, part } = this.#input;
    try {
      demandRights(request);
      const plan = await planScan(request, config, catalogue, part ? ofWholeScans : []);
      const prepared = await prepareTargets(request, config, (name) => this.#resolve(name), part);
      this.#prepared = part ? ofPart(prepared, part) : prepared;
      // Do not probe hosts if the results cannot be stored.
      this.#recorder = new ResultRecorder(this.#record, this.#prepared.hostnames, (error) =>
        this.#stop.abort(error),
      );
      await this.#recall(plan);
      this.#noteTargets(this.#prepared);
      if (this.#prepared.addresses.size === 0n) {
        const message = part
          ? 'the scope of the worker allows none of the addresses (its own scanner.scope and scanner.blocklist)'
          : 'no targets left after exclusions, scope and name resolution';
        return { code: 'no_targets', message };
      }
      await this.#runGraph(plan, this.#prepared);
      return this.#verdict;
    } catch (error) {
      return failureFrom(this.#stop.signal.aborted ? this.#stop.signal.reason : error);
    }
  }

  #resolve(name: string): Promise<Resolution> {
    const { names = {} } = this.#input;
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known) return Promise.resolve({ addresses: known, dropped: 0 });
    return this.#resolver.resolve(name, this.#stop.signal);
  }

  async #recall(plan: Plan): Promise<void> {
    const { folder } = this.#input;
    this.#earlier = await restoreResults(folder);
    if (!this.#earlier) return;
    if (await this.#isEvaluated()) this.#earlier = withoutEvaluation(this.#earlier, plan);
    for await (const row of mergedRows(folder)) await this.#recorder.recall(row);
  }

  /** Whether the workers of all shards had the same data as this server. */
  async #isEvaluated(): Promise<boolean> {
    const { evaluated } = this.#input;
    if (!evaluated) return false;
    if (evaluated.some(({ rules }) => rules !== null)) await this.#fingerprints.of('');
    if (evaluated.some(({ vulnerabilities }) => vulnerabilities !== null))
      await this.#vulnerabilities.source();
    const own = this.#evaluationData();
    return evaluated.every(
      ({ rules, vulnerabilities }) =>
        (rules === null || rules === own.rules) &&
        (vulnerabilities === null || vulnerabilities === own.vulnerabilities),
    );
  }

  #evaluationData(): EvaluationData {
    const { used, version } = this.#fingerprints;
    return { rules: used ? version : null, vulnerabilities: this.#vulnerabilities.version };
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
      rate: this.#control.rate,
      hold: this.#control.hold,
      signal: this.#stop.signal,
      isOwn: localListeners(config.scanner.scope.protect_self ? this.#control.listeners : []),
    });
    this.#gate = gate;
    // A scan that cannot apply the rules must not continue.
    await this.#control.onNarrow((rules) =>
      this.#narrow(gate, rules).catch((error: unknown) => this.#stop.abort(error)),
    );
    this.#meter = new ProgressMeter(plan, clampCount(prepared.addresses.size), resumes, this.#control.hold);
    this.#warnings.push(...unavailable(plan, request));
    this.#graph = runGraph(plan, {
      scanId: request.scan_id,
      targets: prepared.targets,
      net: gate,
      log,
      results: this.#results(),
      fingerprints: (rulesFile) => this.#fingerprints.of(rulesFile),
      vulnerabilities: () => this.#vulnerabilities.source(),
      signal: this.#stop.signal,
      streamBuffer: config.engine.stream_buffer,
      maxParallelNodes: config.engine.max_parallel_nodes,
      failFast: request.options.fail_fast ?? config.engine.fail_fast,
      stallTimeoutMs: config.engine.stall_timeout,
      hold: this.#control.hold,
      tap: (key, item) => this.#recorder.take(key, item),
      beforeReporters: async () => {
        this.#noteUnsent(gate);
        this.#noteSpared(gate);
        await this.#sealAll();
        // A paused scan can still be canceled: its verdict waits.
        await this.#control.hold.released(this.#stop.signal);
        this.#verdict = this.#failureOf(plan);
        if (this.#verdict && !this.#input.part) await this.#markCut(plan);
      },
      onWarning: (warning) => this.#warnings.push(warning),
      onProgress: (id, done, total) => this.#meter?.report(id, done, total),
      earlier: this.#earlier,
    });
    const live = setInterval(() => this.#reportLive(), liveIntervalMs);
    const time = () => this.#time.save(this.#control.hold.heldMs);
    const stopCheckpoints = saveCheckpoint(this.#input.folder, this.#graph, () => this.#sealAll(), time, log);
    try {
      await this.#graph.finished;
    } finally {
      clearInterval(live);
      this.#closing = gate.close();
      await stopCheckpoints();
    }
  }

  /** Marks open ports whose probes were cut off by the end of the scan. */
  async #markCut(plan: Plan): Promise<void> {
    const probed = plan.nodes.some(
      ({ definition, skipped }) => !skipped && definition.provides.includes('banners'),
    );
    if (!probed) return;
    for await (const row of mergedRows(this.#input.folder)) {
      if (row.type === 'port' && isUnprobed(row))
        await this.#record.append({ ...row, unidentified_reason: 'cut' });
    }
    await this.#record.seal();
  }

  /** Warns about unsent packets: a local problem must not look like silence of the targets. */
  #noteUnsent({ unsent }: ScanGate): void {
    for (const [reason, count] of unsent) {
      const message = `could not send ${count} packets (${reason}): their targets were not probed`;
      this.#warnings.push({ code: 'packets_not_sent', message });
    }
  }

  #noteSpared({ spared }: ScanGate): void {
    if (spared === 0) return;
    const message =
      `${spared} attempts would have reached this server itself and were not made; ` +
      'to authorize them, set scanner.scope.protect_self: false';
    this.#warnings.push({ code: 'own_listener_skipped', message });
  }

  /** Rules that arrive while the scan runs can only remove addresses. */
  async #narrow(gate: ScanGate, rules: ScopeRules): Promise<void> {
    const { permitted, named } = narrowing(rules, (name) => this.#resolve(name));
    const taken = gate.narrow(permitted) + gate.narrow(await named);
    if (taken === 0n) return;
    const message = `scanner.scope or scanner.blocklist excluded ${taken} addresses while the scan ran`;
    this.#warnings.push({ code: 'scope_narrowed', message });
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
      return { code: 'pipeline_failed', message: failed[0]?.error ?? 'no stage produced results' };
    }
    return null;
  }

  /** Seals the record with its summary, on disk before the end is reported. */
  async #finish(failure: ScanFailure | null): Promise<ScanOutcome> {
    const { part, folder, onEvaluated, log } = this.#input;
    let counted: Counted;
    try {
      if (this.#recorder) await this.#sealAll();
      counted = await this.#countRecord();
      // The owner of the scan finishes the record of all its shards.
      if (part) onEvaluated?.(this.#evaluationData());
      else await this.#record.finish(this.#summary(failure, counted));
    } catch (error) {
      // The reports state an end that the record does not have.
      await folder.removeReports().catch(() => undefined);
      return await this.#outcome(failure ?? failureFrom(error), 'failed');
    }
    if (!part) {
      // From here on, the outcome in the record is final.
      await removeCheckpoint(folder).catch((error: unknown) =>
        log.warn('could not remove the checkpoint', { error: String(error) }),
      );
      await this.#settle();
    }
    return await this.#outcome(failure, failure ? 'failed' : 'completed', counted);
  }

  /** The results are safe; gives them their final form. */
  async #settle(): Promise<void> {
    const { folder, config } = this.#input;
    this.#warnings.push(...(await finalizeRecord(folder, config.workspace.scans)));
  }

  async #outcome(
    error: ScanFailure | null,
    status: ScanOutcome['status'],
    counted?: Counted,
  ): Promise<ScanOutcome> {
    const { results, severity_counts } = counted ?? (await this.#countRecord());
    const stages = this.#graph?.stages ?? [];
    const outcome: ScanOutcome = {
      status,
      error,
      completed_at: endTime(this.#input.startedAt),
      results,
      severity_counts,
      progress: this.#finalProgress(status === 'completed'),
      warnings: this.#warnings,
      stages,
    };
    await this.#writeStatus(outcome);
    return outcome;
  }

  async #writeStatus(outcome: ScanOutcome | null): Promise<void> {
    const { folder, request, startedAt, log } = this.#input;
    const end = outcome && { outcome, seconds: this.#time.seconds };
    try {
      await folder.writeStatus(scanStatus({ request, startedAt, warnings: this.#warnings, end }));
    } catch (error) {
      log.error('could not write status.json', { scan: request.scan_id, error: String(error) });
    }
  }

  #reportPackets(): void {
    if (this.#gate) this.#input.onPackets?.(this.#gate.packetsSent);
  }

  #reportLive(): void {
    this.#reportPackets();
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
      summary: async () => this.#summary(this.#verdict, await this.#countRecord()),
      failure: () => this.#verdict?.message ?? null,
      warnings: () => this.#warnings,
      evaluated: evaluatesVulnerabilities(request.vuln, this.#warnings),
      reportsDir: folder.reportsDir,
    };
  }

  #countRecord(): Promise<Counted> {
    return countRows(mergedRows(this.#input.folder));
  }

  #summary(failure: ScanFailure | null, counted: Counted): SummaryRow {
    return {
      type: 'summary',
      timestamp: endTime(this.#input.startedAt),
      host: null,
      scan_id: this.#input.request.scan_id,
      status: failure ? 'failed' : 'completed',
      partial: failure !== null,
      ...counted.results,
      unidentified: counted.unidentified,
      addresses_scanned: this.#finalProgress(failure === null).hosts_done,
      excluded: clampCount(this.#prepared?.excluded ?? 0n),
      severity_counts: counted.severity_counts,
      duration_seconds: this.#time.seconds,
      catalogue_version: this.#catalogueVersion(),
      ...coverageOf(this.#graph?.stages ?? []),
    };
  }

  /** Version of the data this scan used: the rules, and the imported vulnerability data if used. */
  #catalogueVersion(): string {
    const { generation } = this.#vulnerabilities;
    return this.#fingerprints.version + (generation === null ? '' : `+vulndb@${generation}`);
  }

  #finalProgress(completed: boolean): ScanProgress {
    const meter = this.#meter ?? new ProgressMeter({ name: '', nodes: [] }, 0, this.#input.resumes);
    return meter.final(completed, this.#graph?.stages ?? []);
  }
}

/** The owner of the scan has applied its rules: what is removed here, this machine does not permit. */
function ofPart(whole: PreparedTargets, part: ShardPart): PreparedTargets {
  const prepared = withNames(whole, part.hostnames);
  if (prepared.excluded === 0n) return prepared;
  const message =
    'a worker skipped addresses that its own scanner.scope or scanner.blocklist forbids; they are not covered';
  const others = prepared.warnings.filter(({ code }) => code !== 'out_of_scope');
  return { ...prepared, warnings: [...others, { code: 'out_of_scope', message }] };
}

/** The owner of the scan resolved the names. */
function withNames(prepared: PreparedTargets, named: ShardPart['hostnames']): PreparedTargets {
  const hostnames = new Map(Object.entries(named).filter(([ip]) => prepared.addresses.has(ip)));
  const targets = [...hostnames].flatMap(([ip, names]) =>
    names.map((value): Target => ({ value, kind: 'hostname', ip })),
  );
  return { ...prepared, hostnames, targets: [...prepared.targets, ...targets] };
}

/** Only the modules for the whole scan are left to run. */
function withoutEvaluation(earlier: EarlierRun, plan: Plan): EarlierRun {
  const done = plan.nodes.filter(({ definition, skipped }) => !skipped && !isOfWholeScans(definition));
  const completed: SavedState = { completed: true, done: 0, state: null };
  const states = done.map(({ instanceId }) => [instanceId, completed] as const);
  return { ...earlier, states: new Map([...states, ...earlier.states]) };
}

/** A probed port has a banner, possibly empty; a UDP port only if it responded. */
function isUnprobed({ protocol, state, banner, service, unidentified_reason }: PortRow): boolean {
  return protocol === 'tcp' && state === 'open' && banner === null && !service && !unidentified_reason;
}

function typeOf(plan: Plan, stage: StageRecord): string | undefined {
  return plan.nodes.find((node) => node.instanceId === stage.instance_id)?.definition.type;
}

function clampCount(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
