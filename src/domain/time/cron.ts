import { Cron } from 'croner';

/**
 * Schedules in the five fields of POSIX crontab: minute, hour, day of month, month, day of week. Extends POSIX by
 * names, steps and `@hourly` to `@yearly`. Rejects other dialects rather than guess the meaning of a schedule.
 */
const nicknames = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'] as const;

/** Maximum length in characters; a list of every minute of an hour has 169. */
export const maxScheduleLength = 256;

interface Field {
  name: string;
  least: number;
  most: number;
  /** Names of the values, starting with that of `least`. */
  names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: months },
  { name: 'day of week', least: 0, most: 7, names: weekdays },
];

/** A schedule in a time zone. */
export class CronSchedule {
  readonly #cron: Cron;

  /**
   * @param zone IANA name. At the change to summer time, a fixed time that does not exist moves to just after the
   *   gap; in autumn, a fixed time that occurs twice runs the first time only. Schedules with `*` or steps in minute
   *   or hour follow real time: skipped times are left out, repeated ones run twice.
   * @throws Error for an invalid schedule; see `scheduleProblem`
   */
  constructor(text: string, zone: string) {
    this.#cron = new Cron(text.trim(), {
      mode: '5-part',
      timezone: zone,
      fixedTimeRule: 'no-wildcard',
      paused: true,
    });
  }

  /** The first time after a time, to the minute; null if there is none. */
  after(time: Date): Date | null {
    return this.#cron.nextRun(time);
  }
}

/** Why a text is not a schedule; null if it is one. */
export function scheduleProblem(text: string): string | null {
  if (text.length > maxScheduleLength) return `must have at most ${maxScheduleLength} characters`;
  const trimmed = text.trim();
  if (trimmed === '') return `must not be empty; ${example}`;
  if (trimmed.startsWith('@')) return nicknameProblem(trimmed);
  const given = trimmed.split(/[ \t]+/);
  if (given.length !== fields.length) return countProblem(given.length);
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(field, given[index] ?? '');
    if (problem !== null) return `${field.name}: ${problem}`;
  }
  return evaluationProblem(trimmed);
}

const example = 'use five fields: minute hour day-of-month month day-of-week, e.g. 0 2 * * *';

/** The values of a schedule's fields, ascending; null = all of them. */
export interface CronValues {
  minutes: number[] | null;
  hours: number[] | null;
  days: number[] | null;
  months: number[] | null;
  /** 0 = Sunday. */
  weekdays: number[] | null;
}

const expanded: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** @param text a valid schedule, see `scheduleProblem` */
export function cronValues(text: string): CronValues {
  const trimmed = text.trim();
  const given = (expanded[trimmed.toLowerCase()] ?? trimmed).split(/[ \t]+/);
  const [minutes = null, hours = null, days = null, ofYear = null, ofWeek = null] = fields.map(
    (field, index) => valuesOf(field, given[index] ?? '*'),
  );
  return { minutes, hours, days, months: ofYear, weekdays: ofWeek };
}

function valuesOf(field: Field, text: string): number[] | null {
  const found = new Set<number>();
  for (const item of text.split(',')) {
    const [range = '', step = '1'] = item.split('/');
    const ends = range === '*' ? [field.least, lastValue(field)] : rangeOf(field, range);
    if (typeof ends === 'string') continue;
    const [from = field.least, to = from] = ends;
    const last = range === '*' ? to : lastOf(field, range, to);
    for (let value = from; value <= last; value += Number(step))
      found.add(field.names === weekdays ? value % 7 : value);
  }
  return found.size > lastValue(field) - field.least ? null : [...found].sort((a, b) => a - b);
}

/** Sunday has two numbers. */
function lastValue({ names, most }: Field): number {
  return names === weekdays ? 6 : most;
}

function nicknameProblem(text: string): string | null {
  if ((nicknames as readonly string[]).includes(text.toLowerCase())) return null;
  if (text.toLowerCase() === '@reboot') {
    return '@reboot is not supported: schedules run at times, not when a machine starts';
  }
  return `${quote(text)} is not one of ${nicknames.join(', ')}`;
}

function countProblem(count: number): string {
  const seconds = count > fields.length ? '; seconds and years are not supported' : '';
  return `has ${count} ${count === 1 ? 'field' : 'fields'}${seconds}; ${example}`;
}

function fieldProblem(field: Field, text: string): string | null {
  for (const item of text.split(',')) {
    const problem = itemProblem(field, item);
    if (problem !== null) return problem;
  }
  return null;
}

/** One item of a list: a star, a value or a range; the first and the last may have a step. */
function itemProblem(field: Field, item: string): string | null {
  if (item === '') return 'has an empty item; separate the items of a list with one comma';
  const foreign = /[L#?W]/i.exec(withoutNames(field, item))?.[0];
  if (foreign !== undefined) {
    return `${quote(item)} contains ${foreign}, which is not standard cron; use numbers, names, lists, ranges and steps`;
  }
  const [range = '', step, ...more] = item.split('/');
  if (more.length > 0) return `${quote(item)} has more than one step`;
  const ends = range === '*' ? [field.least, field.most] : rangeOf(field, range);
  if (typeof ends === 'string') return ends;
  return step === undefined ? null : stepProblem(field, item, ends, step);
}

/** The two ends of a range, a single value, or why it is neither. */
function rangeOf(field: Field, text: string): number[] | string {
  if (/^(?:sun|0)-sun$/i.test(text))
    return `${quote(text)} is ambiguous: one day or all seven; write SUN or *`;
  const ends = text.split('-').map((value) => valueOf(field, value));
  const [from, to] = ends;
  if (ends.length > 2 || ends.includes(null)) {
    return `${quote(text)} is not ${kindsOf(field)}, nor a range of two`;
  }
  if (ends.some((value) => value !== null && (value < field.least || value > field.most))) {
    return `${quote(text)} is out of range: ${field.least} to ${field.most}`;
  }
  if (typeof from === 'number' && typeof to === 'number' && from > lastOf(field, text, to)) {
    return `${quote(text)} is reversed; write two ranges`;
  }
  return ends.filter((value) => value !== null);
}

/** A range that ends with Sunday by name ends the week: FRI-SUN is 5-7. */
function lastOf(field: Field, text: string, to: number): number {
  return field.names === weekdays && /-sun$/i.test(text) ? 7 : to;
}

function valueOf({ names, least }: Field, text: string): number | null {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const index = names?.indexOf(text.toUpperCase()) ?? -1;
  return index < 0 ? null : index + least;
}

function stepProblem(field: Field, item: string, ends: readonly number[], step: string): string | null {
  if (ends.length < 2) return `${quote(item)} has a step without a range; write e.g. */${step || 5}`;
  if (!/^\d{1,3}$/.test(step)) return `the step of ${quote(item)} is not a whole number`;
  if (Number(step) === 0) return `the step of ${quote(item)} is 0; it must be 1 or more`;
  const most = field.most - field.least;
  return Number(step) > most ? `the step of ${quote(item)} is above ${most}` : null;
}

function kindsOf({ names, least, most }: Field): string {
  const named = names ? ` or a name such as ${names[1]}` : '';
  return `*, a number from ${least} to ${most}${named}`;
}

/** // JUL contains an L and WED a W. */
function withoutNames({ names = [] }: Field, item: string): string {
  return item.replace(/[a-z]+/gi, (word) => (names.includes(word.toUpperCase()) ? '' : word));
}

/** Checks against the calendar: 31 February never occurs. */
function evaluationProblem(text: string): string | null {
  const never = 'never occurs: no month has such a day';
  try {
    return new CronSchedule(text, 'UTC').after(new Date(0)) === null ? never : null;
  } catch {
    return `is not a valid schedule; ${example}`;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}...` : text);
}
