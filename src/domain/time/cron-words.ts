import { cronValues } from './cron.ts';
import { monthNames } from './month-names.ts';

/** Most times of day that a sentence lists. */
const maxListed = 6;

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A valid schedule in words: `at 02:00 on Monday to Friday`. */
export function cronWords(schedule: string): string {
  const { minutes, hours, days, months: ofYear, weekdays: ofWeek } = cronValues(schedule);
  const when = daysText(days, ofWeek);
  const inMonths = ofYear === null ? '' : ` in ${joined(spans(ofYear).map(monthSpan))}`;
  const times = listedTimes(minutes, hours);
  if (times === null) return `${intervalText(minutes, hours)}${when}${inMonths}`;
  return when === '' && inMonths === ''
    ? `every day at ${times}`
    : `at ${times}${when || ' every day'}${inMonths}`;
}

/** Null if there are too many. */
function listedTimes(minutes: number[] | null, hours: number[] | null): string | null {
  if (minutes === null || hours === null || minutes.length * hours.length > maxListed) return null;
  return joined(hours.flatMap((hour) => minutes.map((minute) => `${twoDigits(hour)}:${twoDigits(minute)}`)));
}

function intervalText(minutes: number[] | null, hours: number[] | null): string {
  const within = hoursText(hours);
  if (minutes === null) return `every minute${within}`;
  const every = intervalOf(minutes, 60);
  if (every !== null) return `every ${every} minutes${within}`;
  const everyHours = hours && intervalOf(hours, 24);
  if (minutes.length > 1 || minutes[0] !== 0) {
    const at = `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${joined(minutes.map(String))}`;
    if (hours === null) return `${at} of every hour`;
    return everyHours === null
      ? `${at} of each hour${within}`
      : `${at}, every ${everyHours} hours from midnight`;
  }
  if (hours === null) return 'every hour';
  return everyHours === null ? `every hour${within}` : `every ${everyHours} hours from midnight`;
}

function hoursText(hours: number[] | null): string {
  if (hours === null) return '';
  const parts = spans(hours).map(([from, to]) =>
    from === to
      ? `in the hour of ${twoDigits(from)}:00`
      : `from ${twoDigits(from)}:00 to ${twoDigits(to)}:59`,
  );
  return ` ${joined(parts)}`;
}

/** A schedule with both fields fires on the days of either (POSIX). */
function daysText(days: number[] | null, ofWeek: number[] | null): string {
  const parts: string[] = [];
  if (days !== null) {
    const text = joined(spans(days).map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)));
    parts.push(`on ${days.length === 1 ? 'day' : 'days'} ${text} of the month`);
  }
  if (ofWeek !== null) {
    parts.push(`on ${joined(spans(ofWeek).map(([from, to]) => spanText(weekdays, from, to)))}`);
  }
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`;
}

function monthSpan([from, to]: Span): string {
  return spanText(monthNames, from - 1, to - 1);
}

function spanText(names: readonly string[], from: number, to: number): string {
  return from === to ? `${names[from]}` : `${names[from]} to ${names[to]}`;
}

type Span = readonly [from: number, to: number];

/** Ascending numbers as runs; two neighbors stay apart. */
function spans(values: readonly number[]): Span[] {
  const found: [number, number][] = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last && value === last[1] + 1) last[1] = value;
    else found.push([value, value]);
  }
  return found.flatMap(([from, to]): Span[] =>
    to === from + 1
      ? [
          [from, from],
          [to, to],
        ]
      : [[from, to]],
  );
}

/** The step of values that start at 0 and divide the whole evenly; null if they do not. */
function intervalOf(values: readonly number[], whole: number): number | null {
  const step = whole / values.length;
  const even = Number.isInteger(step) && step > 1 && values.every((value, index) => value === index * step);
  return even && values.length > 1 ? step : null;
}

/** `a, b and c` */
function joined(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
