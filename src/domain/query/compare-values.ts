import { findingClasses, severities } from '../finding.ts';
import { type Address, parseAddress } from '../targets/address.ts';
import { type KeyedVersionScheme, versionKey } from '../version-order.ts';
import type { ValueMatch } from './query.ts';
import type { ConditionOperator } from './query-fields.ts';

/** Texts are compared without regard to case. */
export function foldText(text: string): string {
  return text.toLowerCase();
}

/** @param wanted @param present both folded */
export function textMatches(present: string, wanted: string, match: ValueMatch): boolean {
  switch (match) {
    case 'whole':
      return present === wanted;
    case 'words':
      return ` ${present} `.includes(` ${wanted} `);
    case 'part':
      return present.includes(wanted);
    case 'start':
      return present.startsWith(wanted);
    case 'end':
      return present.endsWith(wanted);
  }
}

/**
 * A text whose order is the order of addresses: the family, then 8 or 32 hexadecimal digits. The zone does not count.
 * @returns null for what is not an address
 */
export function addressKey(text: string): string | null {
  const address = parseAddress(text);
  return address === null ? null : addressKeyOf(address);
}

export function addressKeyOf({ family, value }: Pick<Address, 'family' | 'value'>): string {
  return `${family}${value.toString(16).padStart(family === 4 ? 8 : 32, '0')}`;
}

export const keyedVersionSchemes = [
  'dotted',
  'openssh',
  'mariadb',
  'date',
] as const satisfies readonly KeyedVersionScheme[];

/** Whether a text is a version of some scheme. */
export function isVersion(text: string): boolean {
  return keyedVersionSchemes.some((scheme) => versionKey(text, scheme) !== null);
}

const ranks: ReadonlyMap<string, number> = new Map(
  [severities, findingClasses].flatMap((words) => words.map((word, index) => [word, -index] as const)),
);

/** Rank of a severity or class among its kind: `critical` above `high`, `certain` above `likely`. */
export function wordRank(word: string): number | null {
  return ranks.get(word) ?? null;
}

/** Whether a present value stands as `operator` says to the wanted ones; `:` and `=`: it is one of them. */
export function isInOrder<T extends string | number>(
  present: T,
  operator: ConditionOperator,
  first: T,
  last: T,
): boolean {
  switch (operator) {
    case '>':
      return present > last;
    case '>=':
      return present >= first;
    case '<':
      return present < first;
    case '<=':
      return present <= last;
    default:
      return present >= first && present <= last;
  }
}
