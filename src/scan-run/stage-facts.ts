import type { ScanCounts, StageRecord } from '../domain/scan.ts';
import { groupedNumber } from '../domain/text/grouped-number.ts';
import { RateWindow } from './rate-window.ts';

/** Window of the rates of a stage, milliseconds. */
const windowMs = 5000;
/** A stage with at least this share of the longest queue holds up those before it. */
const longQueue = 0.5;

/** Rates of the stages of a run. */
export class StageRates {
  readonly #windows = new Map<string, Record<'in' | 'out', RateWindow>>();

  /** Sets the rates of the stages. @param now monotonic milliseconds */
  measure(stages: readonly StageRecord[], now: number): void {
    for (const stage of stages) {
      const isRunning = stage.status === 'running';
      const windows = isRunning ? this.#windowsOf(stage.instance_id) : null;
      windows?.in.add(stage.items_in, now);
      windows?.out.add(stage.items_out, now);
      stage.items_in_per_second = tenths(windows?.in.perSecond ?? 0);
      stage.items_out_per_second = tenths(windows?.out.perSecond ?? 0);
    }
  }

  #windowsOf(instanceId: string): Record<'in' | 'out', RateWindow> {
    const known = this.#windows.get(instanceId);
    if (known) return known;
    const windows = { in: new RateWindow(windowMs), out: new RateWindow(windowMs) };
    this.#windows.set(instanceId, windows);
    return windows;
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * The running stage that the others wait for: with full queues, the last one that has one, since those before it are
 * blocked by it; with empty ones, the first, which everything comes from.
 * @param stages in the order of the graph
 * @param queued items that wait for each stage
 */
export function slowestStage(
  stages: readonly StageRecord[],
  queued: ReadonlyMap<string, number>,
): string | null {
  const running = stages.filter(({ status }) => status === 'running').map(({ instance_id }) => instance_id);
  const waiting = (id: string) => queued.get(id) ?? 0;
  const longest = Math.max(0, ...running.map(waiting));
  if (longest === 0) return running[0] ?? null;
  return running.findLast((id) => waiting(id) >= longest * longQueue) ?? null;
}

/** What each kind of stage works on, once nothing is left to send. */
const subjects: Partial<Record<string, (counts: ScanCounts) => string>> = {
  fingerprinting: ({ open_ports }) => `fingerprinting of ${counted(open_ports, 'open port')}`,
  profiling: ({ live_hosts }) => `profiling of ${counted(live_hosts, 'host')}`,
  evaluation: ({ live_hosts }) => `evaluation of ${counted(live_hosts, 'host')}`,
  reporting: () => 'reports',
};

/** @param phase of a scan without anything left to send */
export function finishingText(phase: string, counts: ScanCounts): string {
  return subjects[phase]?.(counts) ?? 'results';
}

function counted(count: number, noun: string): string {
  return `${groupedNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}
