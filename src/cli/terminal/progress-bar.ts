import type { LiveScan } from '../../scan-run/messages.ts';
import { fit, printable } from './printable.ts';

/** Minimum interval between redraws, milliseconds. */
const redrawMs = 200;
const barColumns = 20;

/** Output stream; process.stderr in the program. */
export interface BarStream {
  columns?: number;
  write(text: string): unknown;
}

/** Progress of a scan in one line, redrawn in place at most five times a second. */
export class ProgressBar {
  readonly #stream: BarStream;
  readonly #startedAt = performance.now();
  #live: Pick<LiveScan, 'progress' | 'results'> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #shown = false;

  constructor(stream: BarStream) {
    this.#stream = stream;
  }

  update(live: Pick<LiveScan, 'progress' | 'results'>): void {
    this.#live = live;
    if (this.#timer) return;
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), redrawMs);
    this.#timer.unref();
  }

  row(): void {}

  /** Prints a line above the bar. */
  note(text: string): void {
    this.#erase();
    this.#stream.write(`${text}\n`);
    if (this.#timer) this.#draw();
  }

  /** Writes to another stream of the same terminal. */
  aside(write: () => void): void {
    this.#erase();
    write();
    if (this.#timer) this.#draw();
  }

  /** Removes the bar for good. */
  end(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#erase();
  }

  #draw(): void {
    if (!this.#live) return;
    const elapsedMs = performance.now() - this.#startedAt;
    // Leave one column free: a full line wraps on some terminals.
    const line = fit(progressLine(this.#live, elapsedMs), (this.#stream.columns || 80) - 1);
    this.#stream.write(`\r\x1b[2K${line}`);
    this.#shown = true;
  }

  #erase(): void {
    if (this.#shown) this.#stream.write('\r\x1b[2K');
    this.#shown = false;
  }
}

/** `[#####               ]  25 %  sweep  3 hosts  12 open  950/s  0:12  ~1:05 left (12,300 ports at 190/s, …)` */
export function progressLine(live: Pick<LiveScan, 'progress' | 'results'>, elapsedMs: number): string {
  const { progress, results } = live;
  const percent = Math.min(100, Math.max(0, Math.floor(progress.percent)));
  const filled = Math.round((percent * barColumns) / 100);
  const bar = `[${'#'.repeat(filled)}${' '.repeat(barColumns - filled)}]`;
  return [
    `${bar} ${String(percent).padStart(3)} %`,
    printable(progress.phase),
    formatCount(results.live_hosts, 'host'),
    `${results.open_ports} open`,
    `${Math.round(progress.rate)}/s`,
    clock(elapsedMs),
    ...remaining(progress),
  ].join('  ');
}

/** What remains, and why: an estimate says nothing without its basis. Servers of earlier versions send none. */
function remaining({ finishing, eta_seconds, eta_basis }: Partial<LiveScan['progress']>): string[] {
  if (finishing) return [`finishing: ${printable(finishing)}`];
  if (typeof eta_seconds !== 'number' || !eta_basis) return [];
  return [`~${clock(eta_seconds * 1000)} left (${printable(eta_basis)})`];
}

export function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `m:ss`, or `h:mm:ss` from an hour on. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
