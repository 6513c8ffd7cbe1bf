import { machineNow } from '../net/machine-clock.ts';
import { type RunTime, readRunTime } from '../workspace/record/checkpoint.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';

/** How long a scan ran, over all its runs, by a clock that nobody sets. */
export class ScanTime {
  readonly #earlier: RunTime;
  readonly #begunAt: number;

  /**
   * @param earlier what earlier runs took
   * @param begunAt when this run began, `machineNow()`
   */
  constructor(earlier: RunTime, begunAt: number) {
    this.#earlier = earlier;
    this.#begunAt = begunAt;
  }

  /** What the limits of earlier runs leave out pauses of, milliseconds. */
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
  /** Time that the scan was paused in earlier runs, milliseconds. */
  pausedMs: number;
  /** A shard: others of the scan may run since long ago, on other machines. */
  isShard: boolean;
}

/** What earlier runs of a scan took. By the wall clock only where no run of it has left word. */
export async function earlierTime(
  folder: ScanFolder,
  { startedAt, pausedMs, isShard }: FirstStart,
): Promise<RunTime> {
  const saved = await readRunTime(folder);
  if (saved !== null && saved !== 'unknown') return saved;
  if (saved === null && !isShard) return { elapsed_ms: 0, paused_ms: 0 };
  return { elapsed_ms: Math.max(0, Date.now() - Date.parse(startedAt)), paused_ms: pausedMs };
}

/** Seconds that an unfinished scan has run by its last checkpoint; null when that does not tell. */
export async function checkpointSeconds(folder: ScanFolder): Promise<number | null> {
  const saved = await readRunTime(folder);
  return saved === null || saved === 'unknown' ? null : saved.elapsed_ms / 1000;
}

/** The end of a scan by the wall clock: never before its start, whatever happened to the clock in between. */
export function endTime(startedAt: string | null): string {
  const started = startedAt === null ? 0 : Date.parse(startedAt) || 0;
  return new Date(Math.max(Date.now(), started)).toISOString();
}
