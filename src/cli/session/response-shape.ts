import { parseAddress } from '../../domain/targets/address.ts';

/**
 * What a value must be for the command line to read it: null if it is, else where and how it is not, such as
 * `.scans[0].name is not text`. Further members are allowed: a newer server may send more.
 */
export type Shape = (value: unknown, place: string) => string | null;

/** A shape whose values are read as `T`. */
export type ShapeOf<T> = Shape & { readonly type?: T };

const simple =
  (what: string, fits: (value: unknown) => boolean): Shape =>
  (value, place) =>
    fits(value) ? null : `${place} is not ${what}`;

export const anything: Shape = () => null;
export const text = simple('text', (value) => typeof value === 'string');
export const truth = simple('true or false', (value) => typeof value === 'boolean');
/** Beyond that no count, time or measurement is; what draws numbers need not expect it. */
const maxNumber = Number.MAX_SAFE_INTEGER;
export const number = simple(
  'a number',
  (value) => typeof value === 'number' && Math.abs(value) <= maxNumber,
);
export const address = simple(
  'an IP address',
  (value) => typeof value === 'string' && parseAddress(value) !== null,
);
/** ISO 8601. */
export const time = simple(
  'a time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);

export function oneOf(values: readonly string[]): Shape {
  return simple(
    `one of ${values.join(', ')}`,
    (value) => typeof value === 'string' && values.includes(value),
  );
}

export function nullable(shape: Shape): Shape {
  return (value, place) => (value === null ? null : shape(value, place));
}

/** Absent in the responses of older servers, or where there is nothing to say. */
export function optional(shape: Shape): Shape {
  return (value, place) => (value === undefined ? null : shape(value, place));
}

/** The same, or null. */
export function unset(shape: Shape): Shape {
  return optional(nullable(shape));
}

export function itemsOf(shape: Shape): Shape {
  return (value, place) => {
    if (!Array.isArray(value)) return `${place} is not a list`;
    for (const [at, item] of value.entries()) {
      const problem = shape(item, `${place}[${at}]`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

export function objectOf<T>(members: { readonly [K in keyof T]?: Shape }): ShapeOf<T> {
  const entries = Object.entries(members) as [string, Shape][];
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `${place} is not an object`;
    for (const [name, shape] of entries) {
      const problem = shape((value as Record<string, unknown>)[name], `${place}.${name}`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

/** An object whose members all have one shape. */
export function mapOf(shape: Shape): Shape {
  return (value, place) => {
    const problem = objectOf({})(value, place);
    return problem ?? itemsOf(shape)(Object.values(value as object), place);
  };
}
