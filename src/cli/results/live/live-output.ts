import type { ResultRow, SummaryRow } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import type { LiveLines } from './live-lines.ts';

/** How often lines that wait are looked at, milliseconds. */
const lookMs = 250;
/** Text that a slow reader may leave in memory, characters; lines beyond it are written at the end. */
const maxBacklog = 1024 * 1024;

export interface LiveTarget {
  write(text: string): void;
  /** Characters that the reader has not taken yet. */
  backlog(): number;
}

/** Writes the lines of a format while a scan runs. */
export class LiveOutput {
  readonly #lines: LiveLines;
  readonly #target: LiveTarget;
  readonly #timer: NodeJS.Timeout;
  /** Rows often come many at a time. */
  #pending = '';
  #flushing = false;

  constructor(lines: LiveLines, target: LiveTarget) {
    this.#lines = lines;
    this.#target = target;
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#timer.unref();
    this.#write(lines.head);
  }

  row(row: ResultRow): void {
    if (this.#target.backlog() > maxBacklog) this.#lines.skip(row);
    else this.#write(this.#lines.take(row));
  }

  /** What the scan is doing now. */
  stages(stages: readonly StageRecord[]): void {
    this.#lines.follow(stages, performance.now());
  }

  /** No more rows come. @returns the lines that were not written yet */
  rest(rows: AsyncIterable<ResultRow>, summary: SummaryRow | null): AsyncIterable<string> {
    this.stop();
    return this.#lines.rest(rows, summary);
  }

  /** Writes what waits and nothing more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#flush();
  }

  #look(): void {
    if (this.#target.backlog() <= maxBacklog) this.#write(this.#lines.due(performance.now()));
  }

  #write(text: string): void {
    if (text === '') return;
    this.#pending += text;
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    const text = this.#pending;
    this.#pending = '';
    if (text !== '') this.#target.write(text);
  }
}
