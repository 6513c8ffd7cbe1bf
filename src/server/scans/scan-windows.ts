import { windowText } from '../../actions/scans/window-warning.ts';
import type { Config } from '../../config/schema.ts';
import { type BlackoutWindow, ScanCalendar } from '../../domain/time/scan-calendar.ts';
import type { ServerLog } from '../logging/log.ts';

/** Clocks jump and machines sleep: the calendar is looked at this often at least, milliseconds. */
const lookMs = 30_000;

/** Who keeps the scans of a server from sending. */
export interface WindowedPool {
  /** @param closure null = scans may send */
  setClosure(closure: BlackoutWindow | null): void;
}

/** Closes the scans of a server outside of `scanner.windows` and in `scanner.freeze`, and opens them again. */
export class ScanWindows {
  readonly #config: Pick<Config, 'scanner' | 'queue'>;
  readonly #gate: WindowedPool;
  readonly #log: Pick<ServerLog, 'info'>;
  #calendar: ScanCalendar;
  #timer: NodeJS.Timeout | null = null;
  /** What was told last. */
  #told = '';

  constructor(config: Pick<Config, 'scanner' | 'queue'>, gate: WindowedPool, log: Pick<ServerLog, 'info'>) {
    this.#config = config;
    this.#gate = gate;
    this.#log = log;
    this.#calendar = calendarOf(config);
  }

  /** Called before any scan begins. */
  start(): void {
    this.#look();
  }

  /** The settings have changed. */
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
    this.#tell(closure);
    // Never 0: a timer may be a little early.
    const wait = Math.max(1, Math.min(lookMs, (next ?? Number.POSITIVE_INFINITY) - now));
    this.#timer = setTimeout(() => this.#look(), wait);
  }

  #tell(closure: BlackoutWindow | null): void {
    const text = closure ? windowText(closure) : '';
    if (text === this.#told) return;
    this.#told = text;
    this.#log.info(closure ? `scans paused: ${text}` : 'scans resumed');
  }
}

function calendarOf({ scanner, queue }: Pick<Config, 'scanner' | 'queue'>): ScanCalendar {
  const placed = <T extends { zone: string | null }>(entry: T) => ({
    ...entry,
    zone: entry.zone ?? queue.timezone,
  });
  return new ScanCalendar(scanner.windows.map(placed), scanner.freeze.map(placed));
}
