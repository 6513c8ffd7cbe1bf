import { noFindings, type SeverityCounts } from '../../domain/finding.ts';
import type { PortCoverage } from '../../domain/host.ts';
import type { RateHistory, ScanProgress, ScanWarning, StageRecord } from '../../domain/scan.ts';
import { completeProgress, initialProgress } from '../../domain/scan-progress.ts';
import type { EvaluationData } from '../../domain/shard.ts';
import type { SavedState } from '../../engine/node.ts';
import type { LiveScan, ScanOutcome } from '../../scan-run/messages.ts';
import type { ShardState } from '../../store/shards.ts';
import type { ShardOutcome } from '../../worker/shard-report.ts';

/** Combined progress of a scan's shards. */
export function liveOf(
  shards: readonly Pick<ShardState, 'state'>[],
  reports: readonly LiveScan[],
  paused: boolean,
): LiveScan {
  const sum = (of: (report: LiveScan) => number) => reports.reduce((total, report) => total + of(report), 0);
  const done = shards.filter(({ state }) => state === 'done' || state === 'failed').length;
  const running = shards.filter(({ state }) => state === 'running').length;
  const percent = sum(({ progress }) => progress.percent) / Math.max(1, shards.length);
  const isAllBegun = done + running === shards.length;
  return {
    results: {
      live_hosts: sum(({ results }) => results.live_hosts),
      open_ports: sum(({ results }) => results.open_ports),
      vulnerabilities: sum(({ results }) => results.vulnerabilities),
    },
    severity_counts: severitySum(reports),
    progress: {
      ...initialProgress(),
      percent: Math.min(99, Math.floor(percent)),
      phase: reports.find(({ progress }) => progress.phase !== 'done')?.progress.phase ?? 'waiting',
      hosts_done: sum(({ progress }) => progress.hosts_done),
      hosts_total: sum(({ progress }) => progress.hosts_total),
      paused,
      rate: sum(({ progress }) => progress.rate),
      rate_limit: sum(({ progress }) => progress.rate_limit ?? 0),
      ...(isAllBegun && !paused && latestEnd(reports)),
      ...workOf(reports, shards.length),
      slowest_stage: newestOf(reports)?.slowest_stage ?? null,
      finishing: isAllBegun ? finishingOf(reports) : null,
      resumes: 0,
      shards: { total: shards.length, done, running },
    },
    warnings: warningsOf(reports),
    stages: stagesOf(reports),
  };
}

/** The estimate of the shard that ends last; none without one. */
function latestEnd(reports: readonly LiveScan[]): Partial<ScanProgress> {
  const estimates = reports.flatMap(({ progress: { eta_seconds, eta_basis } }) =>
    eta_seconds === null ? [] : [{ eta_seconds, eta_basis: eta_basis ?? null }],
  );
  return estimates.sort((a, b) => b.eta_seconds - a.eta_seconds)[0] ?? {};
}

/** Shards have about as many addresses each: those without a report count as much as the others. */
function workOf(
  reports: readonly LiveScan[],
  shards: number,
): Pick<ScanProgress, 'tried' | 'not_tried' | 'unit'> {
  const each = reports.map(({ progress }) => completeProgress(progress));
  const tried = each.reduce((sum, progress) => sum + progress.tried, 0);
  const left = each.reduce((sum, progress) => sum + progress.not_tried, 0);
  const absent = Math.max(0, shards - each.length);
  const perShard = each.length === 0 ? 0 : (tried + left) / each.length;
  return { tried, not_tried: Math.round(left + absent * perShard), unit: each[0]?.unit ?? 'hosts' };
}

/** Progress of a shard that has not ended. */
function newestOf(reports: readonly LiveScan[]): ScanProgress | undefined {
  return reports.find(({ progress }) => progress.phase !== 'done')?.progress;
}

/** Null as long as a shard has packets to send. */
function finishingOf(reports: readonly LiveScan[]): string | null {
  const running = reports.filter(({ progress }) => progress.phase !== 'done');
  if (running.some(({ progress }) => !progress.finishing)) return null;
  return running[0]?.progress.finishing ?? 'results of the workers';
}

function severitySum(reports: readonly LiveScan[]): SeverityCounts {
  const total = noFindings();
  for (const { severity_counts } of reports)
    for (const name of Object.keys(total) as (keyof SeverityCounts)[]) total[name] += severity_counts[name];
  return total;
}

/** Deduplicated. */
export function warningsOf(reports: readonly Pick<LiveScan, 'warnings'>[]): ScanWarning[] {
  const all = reports.flatMap(({ warnings }) => warnings);
  return [...new Map(all.map((warning) => [JSON.stringify(warning), warning])).values()];
}

/** One record per node, with summed counters. */
export function stagesOf(reports: readonly Pick<LiveScan, 'stages'>[]): StageRecord[] {
  const merged = new Map<string, StageRecord>();
  for (const stage of reports.flatMap(({ stages }) => stages)) {
    const known = merged.get(stage.instance_id);
    merged.set(stage.instance_id, known ? together(known, stage) : stage);
  }
  return [...merged.values()];
}

function together(a: StageRecord, b: StageRecord): StageRecord {
  const earlier = [a.started_at, b.started_at].filter((time) => time !== null).sort()[0] ?? null;
  const over = a.completed_at !== null && b.completed_at !== null;
  const coverage = sumCoverage(a.coverage, b.coverage);
  const method = a.method ?? b.method;
  return {
    ...a,
    status: worse(a.status, b.status),
    started_at: earlier,
    completed_at: over ? ([a.completed_at, b.completed_at].sort()[1] ?? null) : null,
    items_in: a.items_in + b.items_in,
    items_out: a.items_out + b.items_out,
    items_in_per_second: sumOf(a.items_in_per_second, b.items_in_per_second) ?? 0,
    items_out_per_second: sumOf(a.items_out_per_second, b.items_out_per_second) ?? 0,
    ...workTogether(a, b),
    error: a.error ?? b.error,
    ...(method !== undefined && { method }),
    ...(coverage && { coverage }),
  };
}

/** Only of stages whose total is known in each shard. */
function workTogether(a: StageRecord, b: StageRecord): Pick<StageRecord, 'done' | 'total'> {
  const isKnown = a.total !== undefined && b.total !== undefined;
  if (!isKnown) return { done: undefined, total: undefined };
  return { done: sumOf(a.done, b.done), total: sumOf(a.total, b.total) };
}

function sumOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : Math.round(((a ?? 0) + (b ?? 0)) * 10) / 10;
}

function sumCoverage(a: PortCoverage | undefined, b: PortCoverage | undefined): PortCoverage | undefined {
  if (!a || !b) return a ?? b;
  return {
    open: a.open + b.open,
    closed: a.closed + b.closed,
    filtered: a.filtered + b.filtered,
    not_tried: a.not_tried + b.not_tried,
  };
}

/** Status of several runs of one node: running first, then failed, then completed. */
function worse(a: StageRecord['status'], b: StageRecord['status']): StageRecord['status'] {
  const order: StageRecord['status'][] = ['running', 'pending', 'failed', 'completed', 'skipped'];
  return order.indexOf(a) <= order.indexOf(b) ? a : b;
}

/**
 * Checkpoint of a scan whose shards have sent all packets: the nodes that send do not run again.
 *
 * @param sends whether a module sends packets
 */
export function completedNodes(
  stages: readonly StageRecord[],
  sends: (moduleType: string) => boolean,
): Record<string, SavedState> {
  const done = stages.filter(({ status, module_type }) => status !== 'skipped' && sends(module_type));
  return Object.fromEntries(
    done.map(({ instance_id, items_out, coverage }) => [
      instance_id,
      { completed: true, done: items_out, state: null, ...(coverage && { coverage }) },
    ]),
  );
}

/** Evaluation data of the shards, deduplicated; null unless every shard completed without a failed node. */
export function evaluationOf(outcomes: readonly ShardOutcome[], shards: number): EvaluationData[] | null {
  const evaluated = outcomes.flatMap(({ status, stages, evaluated: data }) =>
    data && status === 'completed' && stages.every((stage) => stage.status !== 'failed') ? [data] : [],
  );
  if (evaluated.length < shards) return null;
  return [...new Map(evaluated.map((data) => [JSON.stringify(data), data])).values()];
}

/** Outcome of the last step, with the counters of the shards and the rates of all. */
export function wholeOutcome(
  last: ScanOutcome,
  reports: readonly LiveScan[],
  shards: number,
  more: ScanWarning[],
  rate_history?: RateHistory,
): ScanOutcome {
  const gathered = new Map(stagesOf(reports).map((stage) => [stage.instance_id, stage]));
  const stages = last.stages.map((stage) => {
    const own = gathered.get(stage.instance_id);
    return own && ranInShards(stage, own)
      ? { ...own, status: own.status === 'running' ? ('completed' as const) : own.status }
      : stage;
  });
  const total = { total: shards, done: shards, running: 0 };
  return {
    ...last,
    stages,
    progress: { ...last.progress, ...workOf(reports, shards), shards: total, rate_history },
    warnings: warningsOf([last, ...reports, { warnings: more }]),
  };
}

/** Nodes that ran in the last step, and not in a shard. */
export function lastStepStages(last: ScanOutcome, reports: readonly LiveScan[]): StageRecord[] {
  const gathered = new Map(stagesOf(reports).map((stage) => [stage.instance_id, stage]));
  return last.stages.filter((stage) => {
    const own = gathered.get(stage.instance_id);
    return !(own && ranInShards(stage, own));
  });
}

/** Whether the last step found the node completed. @param own its record of the shards */
function ranInShards(stage: StageRecord, own: StageRecord): boolean {
  return own.status !== 'skipped' && stage.items_in === 0 && stage.status === 'completed';
}

/** What of a scan is not covered. @param outcomes of its shards */
export function lossesOf(
  shards: readonly Pick<ShardState, 'state'>[],
  outcomes: readonly ShardOutcome[],
): ScanWarning[] {
  const lost = shards.filter(({ state }) => state === 'failed').length;
  const failed = outcomes.flatMap(({ error }) => error?.message ?? []);
  const of = `of ${shards.length} shards`;
  const notCovered = `${lost} ${of} reached workers.max_attempts and are not covered`;
  return [
    ...(lost > 0 ? [{ code: 'worker_lost', message: notCovered }] : []),
    ...(failed.length > 0
      ? [{ code: 'shard_failed', message: `${failed.length} ${of} failed: ${failed[0]}` }]
      : []),
  ];
}
