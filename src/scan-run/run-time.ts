import { machineNow } from '../net/machine-clock.ts';
import { type RunTime, readRunTime } from '../workspace/record/checkpoint.ts';
import type { RowRecord } from '../workspace/record/scan-record.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';

/** Duration of a scan over all its runs, by a monotonic clock. */
export class ScanTime {
  readonly #earlier: RunTime;
  readonly #begunAt: number;

  /**
   * @param earlier duration of earlier runs
   * @param begunAt when this run started, `machineNow()`
   */
  constructor(earlier: RunTime, begunAt: number) {
    this.#earlier = earlier;
    this.#begunAt = begunAt;
  }

  /** Duration of earlier runs without pauses, milliseconds. */
  get earlierActiveMs(): number {
    return Math.max(0, this.#earlier.elapsed_ms - this.#earlier.paused_ms);
  }

  get seconds(): number {
    return Math.round(this.#elapsedMs / 100) / 10;
  }

  /** @param pausedMs of this run */
  save(pausedMs: number): RunTime {
    return { elapsed_ms: this.#elapsedMs, paused_ms: this.#earlier.paused_ms + Math.round(pausedMs) };
  }

  get #elapsedMs(): number {
    return this.#earlier.elapsed_ms + Math.max(0, machineNow() - this.#begunAt);
  }
}

interface FirstStart {
  startedAt: string;
  /** Time the scan was paused in earlier runs, milliseconds. */
  pausedMs: number;
  /** A shard: others of the scan may have been running for long, on other machines. */
  isShard: boolean;
}

/** Duration of earlier runs. By the wall clock only if no run has saved it. */
export async function earlierTime(
  folder: ScanFolder,
  { startedAt, pausedMs, isShard }: FirstStart,
): Promise<RunTime> {
  const saved = await readRunTime(folder);
  if (saved !== null && saved !== 'unknown') return saved;
  if (saved === null && !isShard) return { elapsed_ms: 0, paused_ms: 0 };
  return { elapsed_ms: Math.max(0, Date.now() - Date.parse(startedAt)), paused_ms: pausedMs };
}

/** Duration of an unfinished scan by its last checkpoint, seconds; null if unknown. */
export async function checkpointSeconds(record: Pick<RowRecord, 'runTime'>): Promise<number | null> {
  const saved = await record.runTime();
  return saved === null || saved === 'unknown' ? null : saved.elapsed_ms / 1000;
}

/** End of a scan by the wall clock: never before its start, even if the clock was set back. */
export function endTime(startedAt: string | null): string {
  const started = startedAt === null ? 0 : Date.parse(startedAt) || 0;
  return new Date(Math.max(Date.now(), started)).toISOString();
}
