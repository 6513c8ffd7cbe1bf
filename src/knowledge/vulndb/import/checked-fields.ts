/** Why one record of a feed is rejected; the import continues. */
export class RecordProblem extends Error {
  /** @param place path of the field within its record, e.g. `configurations[0].nodes[1].operator` */
  constructor(place: string, reason: string) {
    super(`${place} ${reason}`);
    this.name = 'RecordProblem';
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** @throws RecordProblem */
export function objectAt(value: unknown, place: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new RecordProblem(place, 'must be an object');
}

/**
 * An optional list.
 *
 * @throws RecordProblem
 */
export function listAt(value: unknown, place: string, most: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new RecordProblem(place, 'must be a list');
  if (value.length > most) throw new RecordProblem(place, `has ${value.length} entries, more than ${most}`);
  return value;
}

/** @throws RecordProblem */
export function textAt(value: unknown, place: string, longest: number): string {
  if (typeof value !== 'string') throw new RecordProblem(place, 'must be text');
  if (value.length > longest) throw new RecordProblem(place, `is longer than ${longest} characters`);
  return value;
}

/**
 * An optional text; an empty one counts as missing.
 *
 * @throws RecordProblem
 */
export function optionalText(value: unknown, place: string, longest: number): string | null {
  if (value === undefined || value === null || value === '') return null;
  return textAt(value, place, longest);
}

/** @throws RecordProblem */
export function numberAt(value: unknown, place: string, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new RecordProblem(place, `must be a number from ${least} to ${most}`);
}

/**
 * An optional boolean.
 *
 * @throws RecordProblem
 */
export function flagAt(value: unknown, place: string, otherwise: boolean): boolean {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'boolean') throw new RecordProblem(place, 'must be true or false');
  return value;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/**
 * A time as ISO 8601 in UTC; without a zone it is UTC, as NVD writes it.
 *
 * @throws RecordProblem
 */
export function timeAt(value: unknown, place: string): string {
  const text = textAt(value, place, 40);
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
  const time = timePattern.test(text) ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(time)) throw new RecordProblem(place, 'must be a date and time');
  return new Date(time).toISOString();
}

/** Text for display only is truncated, not rejected. */
export function cutText(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
