import { formatIpv4 } from './address.ts';
import type { Interval } from './address-set.ts';

/** IPv4 addresses whose numbers are ranges and lists, as nmap writes them: `10.0.0-3.1,7`, `10.0.*.5`. */
export interface OctetRanges {
  /** Canonical text: a range `first-last` where the addresses follow each other. */
  value: string;
  intervals: Interval[];
}

/** First and last number, both included. */
type Range = readonly [first: number, last: number];

/** Longest text, characters: some 200 numbers in each octet. */
const maxLength = 4096;

/** Numbers of an octet. */
const octetSize = 256;

/**
 * Maximum number of separate intervals of a text, and of all texts of a target list: an address of every /24 of a /8, as
 * in `10.0-255.0-255.1`. Each takes some 100 bytes.
 */
export const maxOctetIntervals = 65_536;

/** Whether a text is four numbers, lists, ranges or `*`: then it is one target, and its commas separate no targets. */
export function hasOctetRanges(text: string): boolean {
  if (text.length > maxLength || !/^[\d.*,-]+$/.test(text) || !/[*,-]/.test(text)) return false;
  return text.split('.').length === 4 && !/^[,-]|,,|,$/.test(text);
}

/**
 * @param text as `hasOctetRanges` accepts it
 * @param room maximum number of separate intervals; more are not expanded
 */
export function readOctetRanges(text: string, room = maxOctetIntervals): OctetRanges | { reason: string } {
  const octets: Range[][] = [];
  for (const part of text.split('.')) {
    const ranges: Range[] = [];
    for (const item of part.split(',')) {
      const range = readRange(item);
      if ('reason' in range) return range;
      ranges.push(range);
    }
    octets.push(merge(ranges));
  }
  // Before anything is expanded.
  if (countParts(octets) > Math.max(1, room)) {
    const what = room < maxOctetIntervals ? 'with the octets of other targets ' : '';
    return {
      reason: `${what}more than ${maxOctetIntervals} separate ranges of addresses; name whole networks`,
    };
  }
  const parts = expand(octets);
  const [first, ...others] = parts as [Range, ...Range[]];
  return {
    value: others.length === 0 ? first.map(formatIpv4).join('-') : octets.map(octetText).join('.'),
    intervals: parts.map(([from, to]) => ({ family: 4, first: BigInt(from), last: BigInt(to) })),
  };
}

/** `7`, `1-9`, `-9`, `200-`, `-` or `*`. */
function readRange(item: string): Range | { reason: string } {
  const [from = '', to = from, ...more] = item === '*' ? ['0', '255'] : item.split('-');
  const isOpen = item.includes('-');
  const first = from === '' && isOpen ? 0 : numberOf(from);
  const last = to === '' && isOpen ? octetSize - 1 : numberOf(to);
  if (first === null || last === null || more.length > 0)
    return { reason: `"${item}" is no number from 0 to 255, range (1-9) or *` };
  return first <= last ? [first, last] : { reason: 'a reversed range: it ends before it starts' };
}

function numberOf(text: string): number | null {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) < octetSize ? Number(text) : null;
}

/** Sorted, those joined that overlap or touch. */
function merge(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const previous = merged.at(-1);
    if (previous === undefined || first > previous[1] + 1) merged.push([first, last]);
    else previous[1] = Math.max(previous[1], last);
  }
  return merged;
}

/** How many separate ranges of addresses these octets make. */
function countParts(octets: readonly Range[][]): number {
  let parts = 1;
  let isWhole = true;
  for (const octet of octets.toReversed()) {
    parts = isWhole ? octet.length : parts * octet.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    isWhole &&= octet.every(([first, last]) => first === 0 && last === octetSize - 1);
  }
  return parts;
}

/** The addresses as numbers, ascending. */
function expand(octets: readonly Range[][]): Range[] {
  let parts: Range[] = [[0, 0]];
  let size = 1;
  for (const octet of octets.toReversed()) {
    const [only] = parts as [Range];
    const isWhole = parts.length === 1 && only[1] - only[0] + 1 === size;
    parts = octet.flatMap(([first, last]) =>
      isWhole ? [[first * size, last * size + size - 1] as const] : shifted(parts, first, last, size),
    );
    size *= octetSize;
  }
  return parts;
}

function shifted(parts: readonly Range[], first: number, last: number, size: number): Range[] {
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * size).flatMap((base) =>
    parts.map(([from, to]) => [base + from, base + to] as const),
  );
}

function octetText(ranges: readonly Range[]): string {
  return ranges
    .map(([first, last]) => {
      if (first === last) return String(first);
      return first === 0 && last === octetSize - 1 ? '*' : `${first}-${last}`;
    })
    .join(',');
}
