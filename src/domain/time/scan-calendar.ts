import { instantsOf, readWall, WallClock } from './wall-clock.ts';

/** Hours of the week in which scans may send. */
export interface ScanWindow {
  name: string | null;
  /** `mon-fri`, `sat,sun`; the days on which the hours start. */
  days: string;
  /** `22:00-06:00`, also across midnight; the end is exclusive. */
  hours: string;
  /** IANA name. */
  zone: string;
}

/** Days or hours in which no scan may send, whatever the windows say. */
export interface ScanFreeze {
  /** `2026-12-24`, `2026-12-24 18:00`, or RFC 3339 with an offset. */
  from: string;
  /** The same; a date alone means its end. */
  to: string;
  /** IANA name. */
  zone: string;
  reason: string | null;
}

/** Why scans may not send now. */
export interface BlackoutWindow {
  /** A sentence without its full stop. */
  reason: string;
  /** Epoch milliseconds at which scans resume; null if unknown. */
  until: number | null;
}

export interface Standing {
  /** Null while scans may send. */
  closure: BlackoutWindow | null;
  /** Epoch milliseconds of the next opening or closing; null if there is none in sight. */
  next: number | null;
}

export const windowDaysPattern = /^(?:mon|tue|wed|thu|fri|sat|sun)(?:[-,](?:mon|tue|wed|thu|fri|sat|sun))*$/;
export const windowHoursPattern = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
export const freezeTimePattern =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Every window recurs within a week; one more day covers clock changes. */
const horizonMs = 8 * dayMs;

/** Why hours are invalid; null if they are valid. */
export function hoursProblem(hours: string): string | null {
  const { start, end } = readHours(hours);
  return start === end ? 'must not start and end at the same time; a whole day is 00:00-24:00' : null;
}

/** Why days are invalid; null if they are valid. */
export function daysProblem(days: string): string | null {
  const bad = days.split(',').find((item) => item.split('-').length > 2);
  return bad === undefined ? null : `contains ${bad}, which is not a range of two days`;
}

/** Why the time of a freeze is invalid; null if it is valid. */
export function freezeTimeProblem(text: string): string | null {
  const day = text.slice(0, 10);
  // Date would accept 30 February as 2 March.
  const isDay = readWall(day) !== null && new Date(day).toISOString().startsWith(day);
  return isDay && readWall(text) !== null ? null : 'is not a valid date or time';
}

/** Why the two ends are not a freeze; null if they are. Both ends must be valid. */
export function freezeProblem(freeze: ScanFreeze): string | null {
  const { from, to } = freezeSpan(freeze);
  return from < to ? null : 'must be after from';
}

/**
 * When scans may send: within one of the windows (always, if there are none) and outside all freezes. Hours are
 * wall-clock hours of their zone: a night in which clocks change is an hour longer or shorter, and hours that occur
 * twice are open twice.
 */
export class ScanCalendar {
  readonly #windows: readonly WeeklyHours[];
  readonly #freezes: readonly Span[];

  /** @param freezes,windows validated by `daysProblem` and the like */
  constructor(windows: readonly ScanWindow[], freezes: readonly ScanFreeze[]) {
    this.#windows = windows.map((window) => new WeeklyHours(window));
    this.#freezes = freezes.map(freezeSpan);
  }

  /** @param time epoch milliseconds */
  at(time: number): Standing {
    const freeze = this.#freezeAt(time);
    if (freeze === undefined && this.#isWithinHours(time))
      return { closure: null, next: this.#closingAfter(time) };
    const until = this.#openingAfter(time);
    const reason = freeze
      ? `a freeze is active${freeze.reason ? `: ${freeze.reason}` : ''}`
      : this.#hoursText();
    return { closure: { reason, until }, next: until };
  }

  #hoursText(): string {
    const windows = this.#windows.map(({ text }) => text).join('; ');
    return `it is outside the scan window (${windows})`;
  }

  /** The active freeze that ends last. */
  #freezeAt(time: number): Span | undefined {
    const on = this.#freezes.filter(({ from, to }) => from <= time && time < to);
    return on.toSorted((a, b) => b.to - a.to)[0];
  }

  #isWithinHours(time: number): boolean {
    return this.#windows.length === 0 || this.#windows.some((window) => window.holds(time));
  }

  #openingAfter(time: number): number | null {
    let at = time;
    for (let limit = at + horizonMs; at <= limit; ) {
      const freeze = this.#freezeAt(at);
      if (freeze) {
        at = freeze.to;
        limit = at + horizonMs;
      } else if (this.#isWithinHours(at)) return at;
      else at = this.#turnAfter(at);
    }
    return null;
  }

  #closingAfter(time: number): number | null {
    const starts = this.#freezes.map(({ from }) => from).filter((from) => from > time);
    const freeze = Math.min(...starts);
    if (this.#windows.length > 0) {
      for (let at = this.#turnAfter(time); at <= time + horizonMs && at < freeze; at = this.#turnAfter(at)) {
        if (!this.#isWithinHours(at)) return at;
      }
    }
    return Number.isFinite(freeze) ? freeze : null;
  }

  /** The next time at which a window may open or close. */
  #turnAfter(time: number): number {
    return Math.min(...this.#windows.map((window) => window.turnAfter(time)));
  }
}

/** One window. */
class WeeklyHours {
  readonly text: string;
  readonly #days: ReadonlySet<number>;
  readonly #start: number;
  readonly #end: number;
  readonly #clock: WallClock;

  constructor({ name, days, hours, zone }: ScanWindow) {
    const { start, end } = readHours(hours);
    this.#days = readDays(days);
    this.#start = start;
    this.#end = end;
    this.#clock = new WallClock(zone);
    this.text = `${name ? `${name}: ` : ''}${days} ${hours} ${zone}`;
  }

  holds(time: number): boolean {
    const wall = time + this.#clock.offsetAt(time);
    const minute = Math.floor((((wall % dayMs) + dayMs) % dayMs) / minuteMs);
    const day = new Date(wall).getUTCDay();
    if (this.#start < this.#end) return this.#days.has(day) && minute >= this.#start && minute < this.#end;
    if (minute >= this.#start) return this.#days.has(day);
    return minute < this.#end && this.#days.has((day + 6) % 7);
  }

  /** The next start or end in wall-clock time, or clock change. */
  turnAfter(time: number): number {
    const offset = this.#clock.offsetAt(time);
    const wall = time + offset;
    const midnight = wall - (((wall % dayMs) + dayMs) % dayMs);
    const marks = [this.#start, this.#end].flatMap((minute) => {
      const mark = midnight + minute * minuteMs;
      return [mark, mark + dayMs];
    });
    const turn = Math.min(...marks.filter((mark) => mark > wall)) - offset;
    return this.#clock.offsetAt(turn) === offset ? turn : this.#clock.changeWithin(time, turn);
  }
}

interface Span {
  /** Epoch milliseconds. */
  from: number;
  /** Exclusive. */
  to: number;
  reason: string | null;
}

/** An ambiguous or skipped time makes the freeze longer, never shorter. */
function freezeSpan({ from, to, zone, reason }: ScanFreeze): Span {
  const clock = new WallClock(zone);
  return {
    from: Math.min(...instantsOf(from, clock, 0)),
    to: Math.max(...instantsOf(to, clock, dayMs)),
    reason,
  };
}

function readHours(hours: string): { start: number; end: number } {
  const [start = 0, end = 0] = hours.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    return hour * 60 + minute;
  });
  return { start, end };
}

function readDays(days: string): Set<number> {
  const found = new Set<number>();
  for (const item of days.split(',')) {
    const [first = 0, last = first] = item.split('-').map((day) => weekdays.indexOf(day));
    for (let day = first; ; day = (day + 1) % 7) {
      found.add(day);
      if (day === last) break;
    }
  }
  return found;
}
