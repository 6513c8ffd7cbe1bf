import { jointProducers, type Produced, producersOf } from './producer.ts';
import type { PortRow, ResultRow } from './result.ts';

/**
 * Merges the rows of one identity, in the order in which they were written. Later non-null values win, but what
 * plugins say only adds to what builtin modules say: no plugin hides or changes a builtin result.
 * @returns null for no rows
 */
export function mergeRows<R extends ResultRow>(rows: Iterable<R>): R | null {
  let builtin: R | null = null;
  let ofPlugins: R | null = null;
  for (const row of rows) {
    if (producersOf(row as Produced).length > 0) ofPlugins = overlaid(ofPlugins, row);
    else builtin = overlaid(builtin, row);
  }
  if (builtin === null || ofPlugins === null) return builtin ?? ofPlugins;
  return supplemented(builtin, ofPlugins);
}

function overlaid<R extends ResultRow>(earlier: R | null, later: R): R {
  if (earlier === null) return later;
  const merged: Record<string, unknown> = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    const known = value !== null && value !== undefined;
    // A port that was probed again successfully is no longer unidentified.
    if (known || (key === 'unidentified_reason' && value === null)) merged[key] = value;
  }
  if ('producer' in merged) Object.assign(merged, jointProducers(earlier as Produced, later as Produced));
  return merged as unknown as R;
}

/** A row of builtin modules with what plugins add. */
function supplemented<R extends ResultRow>(builtin: R, ofPlugins: R): R {
  if (builtin.type === 'host') return filled(builtin, ofPlugins);
  if (builtin.type === 'port') return supplementedPort(builtin, ofPlugins as PortRow) as R;
  // A verdict is not put together of parts.
  return builtin;
}

/** Parts of one response. */
const bannerFields = ['banner', 'banner_b64', 'truncated', 'partial', 'unidentified_reason'] as const;

function supplementedPort(builtin: PortRow, ofPlugins: PortRow): PortRow {
  const row = filled(builtin, ofPlugins);
  const source = builtin.banner || ofPlugins.banner === undefined ? builtin : ofPlugins;
  for (const name of bannerFields) {
    delete row[name];
    if (source[name] !== undefined) Object.assign(row, { [name]: source[name] });
  }
  const claimed = ofPlugins.service;
  if (claimed && claimed.confidence > (builtin.service?.confidence ?? 0)) row.service = claimed;
  if (ofPlugins.fingerprints && row.fingerprints)
    row.fingerprints = row.fingerprints.toSorted((one, other) => other.confidence - one.confidence);
  return row;
}

/** Absent and null fields are taken over; lists get more elements, objects with facts by name more facts. */
function filled<T extends object>(known: T, added: T): T {
  const result = { ...known } as Record<string, unknown>;
  for (const [name, value] of Object.entries(added)) {
    const present = result[name];
    if (present === null || present === undefined) result[name] = value;
    else if (Array.isArray(present) && Array.isArray(value)) result[name] = united(present, value);
    else if (factFields.has(name)) result[name] = filledFacts(present, value);
  }
  return result as T;
}

/** The others, such as `os`, describe one thing: parts of two descriptions would be a third one. */
const factFields = new Set(['attributes', 'tls']);

function filledFacts(known: unknown, added: unknown): unknown {
  if (!isObject(known) || !isObject(added)) return known;
  const result: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(added)) {
    const present = Object.hasOwn(result, name) ? result[name] : null;
    // As data: the name comes from a plugin.
    const merged = present === null ? value : filledFacts(present, value);
    Object.defineProperty(result, name, {
      value: merged,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return result;
}

function united(known: readonly unknown[], added: readonly unknown[]): unknown[] {
  const present = new Set(known.map((element) => JSON.stringify(element)));
  return [...known, ...added.filter((element) => !present.has(JSON.stringify(element)))];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
