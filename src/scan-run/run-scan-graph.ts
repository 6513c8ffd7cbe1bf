import type { PortRow } from '../domain/result.ts';
import { leavesUntried, type ScanProgress, type ScanWarning, type StageRecord } from '../domain/scan.ts';
import { groupedNumber } from '../domain/text/grouped-number.ts';
import type { Plan } from '../engine/graph/plan.ts';
import type { ResultSource } from '../engine/module.ts';
import { type EarlierRun, type GraphRun, runGraph } from '../engine/run.ts';
import { isControlPort } from '../knowledge/probes/control-system.ts';
import type { ScanGate, Slowdown } from '../net/gate/gate.ts';
import { createGate } from '../net/gate/scoped-gate.ts';
import { localListeners } from '../net/local-listeners.ts';
import { recordIn } from '../workspace/record/folder-record.ts';
import type { ScopeRules } from './control.ts';
import { requireEgress } from './egress-choice.ts';
import { failureFrom, type ScanFailure } from './finalize/failure.ts';
import { unavailable } from './plan/plan-scan.ts';
import { narrowing, type PreparedTargets, withUnresolved } from './prepare-targets.ts';
import { clampCount, ProgressMeter } from './progress.ts';
import type { ResultRecorder } from './results/record-results.ts';
import type { RunContext } from './run-context.ts';
import { saveCheckpoint } from './save-checkpoint.ts';

/** At most two reports per second leave the process. */
const liveIntervalMs = 500;

/** Slowed hosts with a warning of their own; the others are counted. */
const maxSlowedHosts = 10;

export interface ScanGraphInput {
  plan: Plan;
  targets: PreparedTargets;
  recorder: ResultRecorder;
  /** State of an interrupted run. */
  earlier: EarlierRun | null;
  /** Packets that earlier runs could not send, by reason. */
  earlierUnsent: ReadonlyMap<string, number>;
  /** What reporters read; called when all warnings of the start are known. */
  results: () => ResultSource;
}

/** Runs the graph of a scan behind its gate: reports progress, saves checkpoints, and decides how the scan ended. */
export class ScanGraph {
  readonly #context: RunContext;
  readonly #input: ScanGraphInput;
  readonly #gate: ScanGate;
  readonly #meter: ProgressMeter;
  #graph: GraphRun | null = null;
  /** Pending close of the gate. */
  #closing: Promise<void> | null = null;
  #verdict: ScanFailure | null = null;
  #isPartial = false;
  /** Their warnings. */
  readonly #slowedHosts = new Map<string, ScanWarning>();

  constructor(context: RunContext, input: ScanGraphInput) {
    this.#context = context;
    this.#input = input;
    const { control, stop, input: run } = context;
    const { addresses, scope } = input.targets;
    this.#gate = createGate({
      addresses,
      scope,
      rate: control.rate,
      adaptive: control.adaptive,
      egress: requireEgress(run.request, run.config),
      hold: control.hold,
      signal: stop.signal,
      isOwn: localListeners(run.config.scanner.scope.protect_self ? control.listeners : []),
      closesInOrder: isControlPort,
    });
    this.#meter = new ProgressMeter(input.plan, clampCount(addresses.size), run.resumes, {
      hold: control.hold,
      rateLimit: () => control.rateLimit,
      history: run.rateHistory ?? null,
    });
  }

  /** Why the scan failed; decided once, before the reporters run, so that reports and record agree. */
  get verdict(): ScanFailure | null {
    return this.#verdict;
  }

  /** Whether something was not tried; decided together with the verdict. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  get stages(): StageRecord[] {
    return this.#graph?.stages ?? [];
  }

  finalProgress(completed: boolean): ScanProgress {
    return this.#meter.final(completed, this.stages);
  }

  async run(): Promise<void> {
    const { control, stop, input, time, warnings } = this.#context;
    // A scan that cannot apply the rules must not continue.
    await control.onNarrow((rules) => this.#narrow(rules).catch((error: unknown) => stop.abort(error)));
    warnings.push(...unavailable(this.#input.plan, input.request));
    const graph = this.#begin();
    this.#graph = graph;
    const live = setInterval(() => this.#reportLive(), liveIntervalMs);
    const timeSoFar = () => time.save(control.hold.pausedMs);
    const sealAll = () => this.#sealAll();
    const unsent = () => this.#unsent;
    const stopCheckpoints = saveCheckpoint(input.folder, graph, sealAll, timeSoFar, unsent, input.log);
    try {
      await graph.finished;
    } finally {
      clearInterval(live);
      this.#closing = this.#gate.close();
      await stopCheckpoints();
    }
  }

  /** Ends what the gate has started. */
  async close(): Promise<void> {
    await (this.#closing ?? this.#gate.close());
    this.#reportTraffic();
  }

  #begin(): GraphRun {
    const { input, control, stop, evaluation, modules, warnings } = this.#context;
    const { request, config, log } = input;
    const { plan, targets, recorder, earlier, results } = this.#input;
    return runGraph(plan, {
      scanId: request.scan_id,
      targets: targets.targets,
      net: this.#gate,
      log,
      modules,
      results: results(),
      fingerprints: (rulesFile) => evaluation.fingerprints.of(rulesFile),
      evaluationRules: () => evaluation.rules.all(),
      vulnerabilities: () => evaluation.vulnerabilities.source(),
      signal: stop.signal,
      streamBuffer: config.engine.stream_buffer,
      maxParallelNodes: config.engine.max_parallel_nodes,
      pluginOutput: config.plugins.limits,
      failFast: this.#failFast,
      stallTimeoutMs: config.engine.stall_timeout,
      hold: control.hold,
      tap: (key, item, plugin) => recorder.take(key, item, plugin),
      beforeReporters: () => this.#concludeScanning(),
      onWarning: (warning) => warnings.push(warning),
      onProgress: (id, done, total) => this.#meter.report(id, done, total),
      earlier,
    });
  }

  get #failFast(): boolean {
    const { request, config } = this.#context.input;
    return request.options.fail_fast ?? config.engine.fail_fast;
  }

  async #concludeScanning(): Promise<void> {
    const { control, stop, input } = this.#context;
    this.#warnUnsent();
    this.#warnSkipped();
    this.#warnSlowed();
    this.#countSlowed();
    await this.#sealAll();
    // A paused scan can still be canceled: its verdict waits.
    await control.hold.released(stop.signal);
    this.#verdict = this.#failure();
    this.#isPartial = leavesUntried(this.#context.warnings);
    if (this.#verdict && !input.part) await this.#markCut();
  }

  #failure(): ScanFailure | null {
    const { stop } = this.#context;
    const { recorder, plan } = this.#input;
    if (stop.signal.aborted) return failureFrom(stop.signal.reason);
    if (recorder.failure) return failureFrom(recorder.failure);
    const working = this.stages.filter((stage) => typeOf(plan, stage) !== 'reporter');
    const failed = working.filter((stage) => stage.status === 'failed');
    if (failed.length > 0 && (this.#failFast || !working.some((stage) => stage.status === 'completed'))) {
      return { code: 'pipeline_failed', message: failed[0]?.error ?? 'no stage produced results' };
    }
    return null;
  }

  /** Marks open ports whose probes were cut off by the end of the scan. */
  async #markCut(): Promise<void> {
    const { record, input } = this.#context;
    const probed = this.#input.plan.nodes.some(
      ({ definition, skipped }) => !skipped && definition.provides.includes('banners'),
    );
    if (!probed) return;
    for await (const row of recordIn(input.folder).rows()) {
      if (row.type === 'port' && isUnprobed(row)) await record.append({ ...row, unidentified_reason: 'cut' });
    }
    await record.seal();
  }

  /** Of all runs. */
  get #unsent(): ReadonlyMap<string, number> {
    const sum = new Map(this.#input.earlierUnsent);
    for (const [reason, count] of this.#gate.unsent) sum.set(reason, (sum.get(reason) ?? 0) + count);
    return sum;
  }

  /** A local problem must not look like silence of the targets. */
  #warnUnsent(): void {
    for (const [reason, count] of this.#unsent) {
      const message = `could not send ${amount(count)} ${count === 1 ? 'packet' : 'packets'} (${reason}): their targets were not probed`;
      this.#context.warnings.push({ code: 'packets_not_sent', message });
    }
  }

  /** Hosts that got less than others, because they did not respond to more; the warning of one follows how slow it became. */
  #warnSlowed(): void {
    const { slowed } = this.#gate;
    for (const target of slowed.keys()) {
      if (this.#slowedHosts.size === maxSlowedHosts) break;
      if (this.#slowedHosts.has(target)) continue;
      const warning: ScanWarning = { code: 'host_slowed', message: '', target };
      this.#slowedHosts.set(target, warning);
      this.#context.warnings.push(warning);
    }
    for (const [target, warning] of this.#slowedHosts) {
      const { shortAt, lowest } = slowed.get(target) as Slowdown;
      warning.message = `${target} did not respond to ${amount(shortAt)} packets per second as before: slowed down to ${amount(lowest)}`;
    }
  }

  #countSlowed(): void {
    const left = this.#gate.slowed.size - this.#slowedHosts.size;
    if (left === 0) return;
    const message = `${left} more hosts did not respond to as many packets per second as before: slowed down`;
    this.#context.warnings.push({ code: 'host_slowed', message });
  }

  #warnSkipped(): void {
    const { spared } = this.#gate;
    if (spared === 0) return;
    const message =
      `${spared} attempts would have reached this server itself and were not made; ` +
      'to authorize them, set scanner.scope.protect_self: false';
    this.#context.warnings.push({ code: 'own_listener_skipped', message });
  }

  /** Rules that arrive while the scan runs can only remove addresses. */
  async #narrow(rules: ScopeRules): Promise<void> {
    const { resolve, warnings } = this.#context;
    const { permitted, named } = narrowing(rules, resolve);
    const taken = this.#gate.narrow(permitted) + this.#gate.narrow(await named);
    if (taken === 0n) return;
    const message = `scanner.scope or scanner.blocklist excluded ${taken} addresses while the scan ran`;
    warnings.push({ code: 'scope_narrowed', message });
  }

  async #sealAll(): Promise<void> {
    await this.#input.recorder.flush();
    await this.#context.record.seal();
  }

  #reportTraffic(): void {
    const { errors } = this.#input.targets;
    this.#context.input.onTraffic?.(withUnresolved(this.#gate.traffic, errors));
  }

  #reportLive(): void {
    this.#reportTraffic();
    this.#warnSlowed();
    const { input, warnings } = this.#context;
    const { recorder } = this.#input;
    if (!input.onLive || !this.#graph) return;
    const { stages } = this.#graph;
    input.onLive({
      results: { ...recorder.counts },
      severity_counts: { ...recorder.severityCounts },
      progress: this.#meter.measure(stages, this.#gate.packetsSent, recorder.counts, this.#graph.queued()),
      warnings: [...warnings],
      stages: stages.map((stage) => ({ ...stage })),
    });
  }
}

/** A probed port has a banner, possibly empty; a UDP port only if it responded. */
function isUnprobed({ protocol, state, banner, service, unidentified_reason }: PortRow): boolean {
  return protocol === 'tcp' && state === 'open' && banner === null && !service && !unidentified_reason;
}

function amount(rate: number): string {
  return groupedNumber(Math.round(rate));
}

function typeOf(plan: Plan, stage: StageRecord): string | undefined {
  return plan.nodes.find((node) => node.instanceId === stage.instance_id)?.definition.type;
}
