import { performance } from 'node:perf_hooks';
import type { PortCoverage } from '../domain/host.ts';
import { RateRecorder } from '../domain/rate-history.ts';
import type { RateHistory, ScanCounts, ScanProgress, StageRecord } from '../domain/scan.ts';
import { afterEnd, initialProgress } from '../domain/scan-progress.ts';
import type { Plan, PlannedNode } from '../engine/graph/plan.ts';
import { PauseGate } from '../net/gate/pause-gate.ts';
import { findsPorts, portsOfNode } from './plan/planned-ports.ts';
import { type Estimate, RemainingTime, type SendingWork } from './remaining-time.ts';
import { finishingText, StageRates, slowestStage } from './stage-facts.ts';

/** Share of a kind of node in the whole; quick kinds have none. */
const weights: Partial<Record<string, number>> = { discovery: 1, scanner: 4 };

const phases: [type: string, phase: string][] = [
  ['reporter', 'reporting'],
  ['evaluation', 'evaluation'],
  ['profiler', 'profiling'],
  ['fingerprint', 'fingerprinting'],
  ['parser', 'fingerprinting'],
  ['scanner', 'scanning'],
  ['discovery', 'discovery'],
];

/** Types of stages that send packets. */
const sending = new Set(['discovery', 'scanner']);

interface Work {
  node: PlannedNode;
  done: number;
  total: number | undefined;
  /** Ports per host of a stage that looks for open ports; its work is reported in hosts. 0 = another stage. */
  ports: number;
  /** What became of its ports, once the scan has ended. */
  covered: PortCoverage | null;
}

export interface MeterOptions {
  hold?: PauseGate;
  /** Current limit, packets per second. */
  rateLimit?: () => number;
  /** Of earlier runs. */
  history?: RateHistory | null;
}

/** Combines the progress of all nodes into one percentage. It never decreases. */
export class ProgressMeter {
  readonly #work: Map<string, Work>;
  readonly #hostsTotal: number;
  readonly #startedAt = performance.now();
  readonly #resumes: number;
  readonly #hold: PauseGate;
  readonly #rateLimit: () => number;
  readonly #history: RateRecorder;
  readonly #rates = new StageRates();
  readonly #remaining = new RemainingTime();
  #counts: ScanCounts = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  #percent = 0;
  #packetsBefore = 0;
  #measuredAt = performance.now();
  #rate = 0;

  constructor(plan: Plan, hostsTotal: number, resumes: number, options: MeterOptions = {}) {
    this.#work = new Map(plan.nodes.map((node) => [node.instanceId, workOf(node)]));
    this.#hostsTotal = hostsTotal;
    this.#resumes = resumes;
    this.#hold = options.hold ?? new PauseGate();
    this.#rateLimit = options.rateLimit ?? (() => 0);
    this.#history = new RateRecorder(options.history ?? null, Date.now());
  }

  report(instanceId: string, done: number, total: number | undefined): void {
    const work = this.#work.get(instanceId);
    if (!work) return;
    work.done = done;
    work.total = total ?? work.total;
  }

  /**
   * Also sets the rates and the work of the stages.
   * @param queued items that wait for each stage
   */
  measure(
    stages: StageRecord[],
    packetsSent: number,
    counts: ScanCounts,
    queued: ReadonlyMap<string, number> = new Map(),
  ): ScanProgress {
    const now = performance.now();
    const isHeld = this.#hold.held;
    this.#counts = counts;
    this.#measureRate(packetsSent, now);
    const ended = idsOf(stages.filter(isOver));
    this.#percent = Math.max(this.#percent, this.#weigh(ended));
    const work = this.#sendingWork(ended);
    this.#remaining.add(work, isHeld, now);
    this.#rates.measure(stages, now);
    for (const stage of stages) this.#showWork(stage, ended);
    const phase = phaseOf(stages, this.#work);
    return {
      ...initialProgress(),
      percent: this.#percent,
      phase,
      hosts_done: this.#hostsDone(ended),
      hosts_total: this.#hostsTotal,
      paused: isHeld,
      rate: this.#rate,
      rate_limit: this.#rateLimit(),
      ...estimateFields(isHeld ? null : this.#estimate(work, now)),
      ...workFields(work),
      slowest_stage: slowestStage(
        stages.filter((stage) => this.#isWorking(stage)),
        queued,
      ),
      finishing: this.#hasSent(ended) ? finishingText(phase, counts) : null,
      resumes: this.#resumes,
      shards: { total: 1, done: 0, running: 1 },
      rate_history: this.#history.history,
    };
  }

  #estimate(work: SendingWork, now: number): Estimate | null {
    return this.#remaining.estimate(work, this.#percent, now - this.#startedAt - this.#hold.pausedMs);
  }

  /** Progress of an ended scan. Work that was cut short does not count as done; also sets the work of the stages. */
  final(completed: boolean, stages: StageRecord[]): ScanProgress {
    const ended = idsOf(stages.filter(({ status }) => status === 'completed'));
    this.#rates.measure(stages, performance.now());
    for (const stage of stages) {
      this.#account(stage, completed && ended.has(stage.instance_id), ended);
      this.#showWork(stage, ended);
    }
    return {
      ...initialProgress(),
      ...afterEnd,
      percent: completed ? 100 : this.#percent,
      hosts_done: completed ? this.#hostsTotal : this.#hostsDone(ended),
      hosts_total: this.#hostsTotal,
      eta_seconds: 0,
      ...workFields(this.#sendingWork(ended)),
      resumes: this.#resumes,
      shards: { total: 1, done: completed ? 1 : 0, running: 0 },
      rate_history: this.#history.history,
    };
  }

  #measureRate(packetsSent: number, now: number): void {
    const seconds = (now - this.#measuredAt) / 1000;
    if (seconds < 0.4) return;
    this.#rate = Math.round((packetsSent - this.#packetsBefore) / seconds);
    this.#packetsBefore = packetsSent;
    this.#measuredAt = now;
    this.#history.add(this.#rate, Date.now());
  }

  #isWorking({ instance_id }: StageRecord): boolean {
    return this.#work.get(instance_id)?.node.definition.type !== 'reporter';
  }

  /** Whether no packets are left to send, although stages still run. */
  #hasSent(ended: ReadonlySet<string>): boolean {
    const working = [...this.#work.values()].filter(({ node }) => !node.skipped);
    const senders = working.filter(({ node }) => sending.has(node.definition.type));
    return senders.length > 0 && senders.every(({ node }) => ended.has(node.instanceId));
  }

  /** Of the stages that look for open ports, in ports; without any, of the first stage, in hosts. */
  #sendingWork(ended: Set<string>): SendingWork {
    const sweeps = [...this.#work.values()].filter(({ node, ports }) => ports > 0 && !node.skipped);
    if (sweeps.length === 0) {
      const tried = this.#hostsDone(ended);
      return { tried, not_tried: this.#hostsTotal - tried, unit: 'hosts', isWhole: true };
    }
    const each = sweeps.map((work) => this.#portsOf(work, ended));
    const tried = each.reduce((sum, { done }) => sum + done, 0);
    const total = each.reduce((sum, { total: all }) => sum + all, 0);
    return { tried, not_tried: total - tried, unit: 'ports', isWhole: each.every(({ isWhole }) => isWhole) };
  }

  /** Work in ports; while hosts are still being found, that of the hosts found so far. */
  #portsOf(work: Work, ended: Set<string>): { done: number; total: number; isWhole: boolean } {
    if (work.covered) {
      const { open, closed, filtered, not_tried } = work.covered;
      const tried = open + closed + filtered;
      return { done: tried, total: tried + not_tried, isWhole: true };
    }
    const known = work.total ?? this.#inputTotal(work.node, ended);
    const found = Math.max(this.#counts.live_hosts, work.done);
    const total = Math.ceil((known ?? found) * work.ports);
    const isOverNow = ended.has(work.node.instanceId);
    const done = isOverNow ? total : Math.min(total, Math.round(work.done * work.ports));
    return { done, total, isWhole: known !== undefined };
  }

  /** What a sweep that was cut short never came to was not tried. */
  #account(stage: StageRecord, isWhole: boolean, ended: Set<string>): void {
    const work = this.#work.get(stage.instance_id);
    if (!work || work.ports === 0 || work.node.skipped) return;
    const { open, closed, filtered, not_tried } = stage.coverage ?? noPorts;
    const left = this.#portsOf(work, ended).total - open - closed - filtered;
    if (!stage.coverage && (isWhole || left <= 0)) return;
    stage.coverage = { open, closed, filtered, not_tried: isWhole ? not_tried : Math.max(not_tried, left) };
    work.covered = stage.coverage;
  }

  #showWork(stage: StageRecord, ended: Set<string>): void {
    const work = this.#work.get(stage.instance_id);
    if (!work || work.node.skipped) return;
    if (work.ports > 0) {
      const { done, total, isWhole } = this.#portsOf(work, ended);
      if (isWhole) Object.assign(stage, { done, total });
      return;
    }
    const total = work.total ?? this.#inputTotal(work.node, ended);
    if (total === undefined) return;
    const done = ended.has(stage.instance_id) ? total : Math.min(total, Math.floor(work.done));
    Object.assign(stage, { done, total });
  }

  /** 0..99: the last percent is for the end of the scan. */
  #weigh(ended: Set<string>): number {
    let sum = 0;
    let total = 0;
    for (const [id, work] of this.#work) {
      const weight = work.node.skipped ? 0 : (weights[work.node.definition.type] ?? 0);
      total += weight;
      const of = work.total ?? this.#inputTotal(work.node, ended);
      if (ended.has(id)) sum += weight;
      else if (of) sum += weight * Math.min(1, work.done / of);
    }
    return total === 0 ? 0 : Math.min(99, Math.floor((sum / total) * 100));
  }

  /** Expected input of a node, once its upstream nodes have ended. */
  #inputTotal(node: PlannedNode, ended: Set<string>): number | undefined {
    const input = node.inputs.find(({ required }) => required);
    if (!input?.producers.every((id) => ended.has(id))) return undefined;
    if (input.key === 'discovered_hosts') return this.#counts.live_hosts;
    return input.key === 'open_ports' ? this.#counts.open_ports : undefined;
  }

  /** Addresses that the first stage has completed. */
  #hostsDone(ended: Set<string>): number {
    for (const [id, { node, done, total }] of this.#work) {
      if (node.skipped || (node.definition.type !== 'discovery' && node.definition.type !== 'scanner'))
        continue;
      if (ended.has(id)) return this.#hostsTotal;
      return total ? Math.min(this.#hostsTotal, Math.floor((done / total) * this.#hostsTotal)) : 0;
    }
    return 0;
  }
}

function workOf(node: PlannedNode): Work {
  const { tcp, udp } = findsPorts(node) ? portsOfNode(node) : { tcp: [], udp: [] };
  return { node, done: 0, total: undefined, ports: tcp.length + udp.length, covered: null };
}

const noPorts: PortCoverage = { open: 0, closed: 0, filtered: 0, not_tried: 0 };

function idsOf(stages: readonly StageRecord[]): Set<string> {
  return new Set(stages.map(({ instance_id }) => instance_id));
}

function estimateFields(estimate: Estimate | null): Pick<ScanProgress, 'eta_seconds' | 'eta_basis'> {
  return { eta_seconds: estimate?.seconds ?? null, eta_basis: estimate?.basis ?? null };
}

function workFields({
  tried,
  not_tried,
  unit,
}: SendingWork): Pick<ScanProgress, 'tried' | 'not_tried' | 'unit'> {
  return { tried, not_tried, unit };
}

function isOver(stage: StageRecord): boolean {
  return stage.status !== 'pending' && stage.status !== 'running';
}

function phaseOf(stages: StageRecord[], work: Map<string, Work>): string {
  const running = stages.filter((stage) => stage.status === 'running');
  const types = new Set(running.map((stage) => work.get(stage.instance_id)?.node.definition.type));
  // While the first packets are still being sent, that is the phase to show.
  for (const [type, phase] of [...phases].reverse())
    if (types.has(type as PlannedNode['definition']['type'])) return phase;
  return 'starting';
}

/** A number of addresses as a number of JSON. */
export function clampCount(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
