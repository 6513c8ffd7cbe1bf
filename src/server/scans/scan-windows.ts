import { windowText } from '../../actions/scans/window-warning.ts';
import type { Config } from '../../config/schema.ts';
import { type BlackoutWindow, ScanCalendar } from '../../domain/time/scan-calendar.ts';
import type { ServerLog } from '../logging/log.ts';

/** Maximum interval between checks of the calendar, milliseconds: clocks jump and machines sleep. */
const lookMs = 30_000;

/** Stops the scans of a server from sending. */
export interface WindowedPool {
  /** @param closure null = scans may send */
  setClosure(closure: BlackoutWindow | null): void;
}

/** Lets the scans of a server send only within `scanner.windows` and outside `scanner.freeze`. */
export class ScanWindows {
  readonly #config: Pick<Config, 'scanner' | 'queue'>;
  readonly #gate: WindowedPool;
  readonly #log: Pick<ServerLog, 'info'>;
  #calendar: ScanCalendar;
  #timer: NodeJS.Timeout | null = null;
  /** Last logged window. */
  #logged = '';

  constructor(config: Pick<Config, 'scanner' | 'queue'>, gate: WindowedPool, log: Pick<ServerLog, 'info'>) {
    this.#config = config;
    this.#gate = gate;
    this.#log = log;
    this.#calendar = calendarOf(config);
  }

  /** Call before any scan starts. */
  start(): void {
    this.#look();
  }

  /** Applies changed settings. */
  renew(): void {
    this.#calendar = calendarOf(this.#config);
    this.#look();
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #look(): void {
    this.close();
    const now = Date.now();
    const { closure, next } = this.#calendar.at(now);
    this.#gate.setClosure(closure);
    this.#logChange(closure);
    // Never 0: a timer may fire slightly early.
    const wait = Math.max(1, Math.min(lookMs, (next ?? Number.POSITIVE_INFINITY) - now));
    this.#timer = setTimeout(() => this.#look(), wait);
  }

  #logChange(closure: BlackoutWindow | null): void {
    const text = closure ? windowText(closure) : '';
    if (text === this.#logged) return;
    this.#logged = text;
    this.#log.info(closure ? `scans wait for their window: ${text}` : 'scan window open');
  }
}

function calendarOf({ scanner, queue }: Pick<Config, 'scanner' | 'queue'>): ScanCalendar {
  const placed = <T extends { zone: string | null }>(entry: T) => ({
    ...entry,
    zone: entry.zone ?? queue.timezone,
  });
  return new ScanCalendar(scanner.windows.map(placed), scanner.freeze.map(placed));
}
