import { performance } from 'node:perf_hooks';
import type { ScanCounts, ScanProgress, StageRecord } from '../domain/scan.ts';
import type { Plan, PlannedNode } from '../engine/graph/plan.ts';
import { PauseGate } from '../net/gate/pause-gate.ts';

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

interface Work {
  node: PlannedNode;
  done: number;
  total: number | undefined;
}

/** Combines the progress of all nodes into one percentage. It never decreases. */
export class ProgressMeter {
  readonly #work: Map<string, Work>;
  readonly #hostsTotal: number;
  readonly #startedAt = performance.now();
  readonly #resumes: number;
  readonly #hold: PauseGate;
  #counts: ScanCounts = { live_hosts: 0, open_ports: 0, vulnerabilities: 0 };
  #percent = 0;
  #percentAtFirst: number | null = null;
  #packetsBefore = 0;
  #measuredAt = performance.now();
  #rate = 0;

  constructor(plan: Plan, hostsTotal: number, resumes: number, hold: PauseGate = new PauseGate()) {
    this.#work = new Map(plan.nodes.map((node) => [node.instanceId, { node, done: 0, total: undefined }]));
    this.#hostsTotal = hostsTotal;
    this.#resumes = resumes;
    this.#hold = hold;
  }

  report(instanceId: string, done: number, total: number | undefined): void {
    const work = this.#work.get(instanceId);
    if (!work) return;
    work.done = done;
    work.total = total ?? work.total;
  }

  measure(stages: StageRecord[], packetsSent: number, counts: ScanCounts): ScanProgress {
    this.#counts = counts;
    this.#measureRate(packetsSent);
    const ended = new Set(stages.filter((stage) => isOver(stage)).map((stage) => stage.instance_id));
    this.#percent = Math.max(this.#percent, this.#weigh(ended));
    return {
      percent: this.#percent,
      phase: phaseOf(stages, this.#work),
      hosts_done: this.#hostsDone(ended),
      hosts_total: this.#hostsTotal,
      paused: this.#hold.held,
      rate: this.#rate,
      eta_seconds: this.#hold.held ? null : this.#eta(),
      resumes: this.#resumes,
      shards: { total: 1, done: 0, running: 1 },
    };
  }

  /** By the rate of this run: work of an interrupted run does not count. */
  #eta(): number | null {
    this.#percentAtFirst ??= this.#percent;
    const gained = this.#percent - this.#percentAtFirst;
    if (gained < 2) return null;
    const elapsed = (performance.now() - this.#startedAt - this.#hold.pausedMs) / 1000;
    return Math.round((elapsed * (100 - this.#percent)) / gained);
  }

  /** Progress of an ended scan. Work that was cut short does not count as done. */
  final(completed: boolean, stages: StageRecord[]): ScanProgress {
    const whole = stages.filter(({ status }) => status === 'completed');
    const ended = new Set(whole.map((stage) => stage.instance_id));
    return {
      percent: completed ? 100 : this.#percent,
      phase: 'done',
      hosts_done: completed ? this.#hostsTotal : this.#hostsDone(ended),
      hosts_total: this.#hostsTotal,
      paused: false,
      rate: 0,
      eta_seconds: 0,
      resumes: this.#resumes,
      shards: { total: 1, done: completed ? 1 : 0, running: 0 },
    };
  }

  #measureRate(packetsSent: number): void {
    const now = performance.now();
    const seconds = (now - this.#measuredAt) / 1000;
    if (seconds < 0.4) return;
    this.#rate = Math.round((packetsSent - this.#packetsBefore) / seconds);
    this.#packetsBefore = packetsSent;
    this.#measuredAt = now;
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
