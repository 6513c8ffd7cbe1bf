/** Points in time: the zone always stands beside them, and the server's clock counts, not the browser's. */
import { absent } from './numbers.ts';

/** ISO text, or milliseconds since 1970. */
export type Moment = string | number | null | undefined;

/** `UTC` or an IANA name, for example `Europe/Berlin`. */
export type Zone = string;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Older (and later) than this is not said relative to now. */
const relativeUpTo = 7 * day;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([zone, options]);
  const known =
    formats.get(key) ?? new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone, hourCycle: 'h23' });
  formats.set(key, known);
  return known;
}

function milliseconds(at: Moment): number | null {
  const value = typeof at === 'string' ? Date.parse(at) : at;
  // The calendar of JavaScript ends there; what a target claims may lie beyond.
  return value === null || value === undefined || !(Math.abs(value) <= 8.64e15) ? null : value;
}

/** `14:23:10 UTC` */
export function clockTime(at: Moment, zone: Zone = 'UTC'): string {
  const value = milliseconds(at);
  return value === null
    ? absent
    : `${format(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(value)} ${zoneName(value, zone)}`;
}

/** `Sat, Nov 21, 14:23 UTC`, with the year when it differs from that of `now`. */
export function dateTime(at: Moment, now: number, zone: Zone = 'UTC'): string {
  const value = milliseconds(at);
  if (value === null) return absent;
  const time = format(zone, { hour: '2-digit', minute: '2-digit' }).format(value);
  return `${calendarDate(value, now, zone)}, ${time} ${zoneName(value, zone)}`;
}

/** `Sat, Nov 21`, with the year when it differs from that of `now`. */
export function calendarDate(at: Moment, now: number, zone: Zone = 'UTC'): string {
  const value = milliseconds(at);
  return value === null ? absent : date(value, now, zone, { weekday: 'short' });
}

function date(value: number, now: number, zone: Zone, options: Intl.DateTimeFormatOptions): string {
  const year = format(zone, { year: 'numeric' });
  const sameYear = year.format(value) === year.format(now);
  return format(zone, {
    ...options,
    month: 'short',
    day: 'numeric',
    ...(sameYear ? {} : { year: 'numeric' }),
  }).format(value);
}

/** All of it, for tooltips: `Sat, Nov 21, 2026, 14:23:10 UTC`. */
export function exactTime(at: Moment, zone: Zone = 'UTC'): string {
  const value = milliseconds(at);
  return value === null
    ? absent
    : `${format(zone, { weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' }).format(value)}, ${clockTime(value, zone)}`;
}

/**
 * `9 min ago`, `in 2 d 8 h`, `just now`; further away than seven days the date.
 * @param now the server's clock, milliseconds
 * @param form `short` is for phones: further away the day alone, `Nov 14`
 */
export function relativeTime(
  at: Moment,
  now: number,
  zone: Zone = 'UTC',
  form: 'date-time' | 'short' = 'date-time',
): string {
  const value = milliseconds(at);
  if (value === null) return absent;
  const ahead = value - now;
  const span = Math.abs(ahead);
  if (span >= relativeUpTo) return form === 'short' ? date(value, now, zone, {}) : dateTime(value, now, zone);
  // Clocks of two machines differ by some seconds: what has just happened does not lie ahead.
  if (ahead <= 0 || ahead < 2000) {
    return span < 2000 ? 'just now' : `${oneUnit(span)} ago`;
  }
  return `in ${twoUnits(span)}`;
}

function oneUnit(span: number): string {
  if (span < minute) {
    return `${Math.floor(span / 1000)} s`;
  }
  if (span < hour) {
    return `${Math.floor(span / minute)} min`;
  }
  return span < day ? `${Math.floor(span / hour)} h` : `${Math.floor(span / day)} d`;
}

/** What lies ahead is said closer: one waits for it. */
function twoUnits(span: number): string {
  if (span < hour) return oneUnit(span);
  const [size, next, unit] = span < day ? [hour, minute, 'min'] : [day, hour, 'h'];
  const rest = Math.floor((span % size) / next);
  return rest === 0 ? oneUnit(span) : `${oneUnit(span)} ${rest} ${unit}`;
}

/** `UTC`, `GMT+2` or what the zone is called. */
export function zoneName(at: number, zone: Zone): string {
  const parts = format(zone, { timeZoneName: 'short' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}
