import { visibleText } from '../../domain/text/visible.ts';
import { compareVersions, type VersionScheme } from '../../domain/version-order.ts';
import { compileMatcher } from '../rules/matcher.ts';
import { ruleField } from './fields.ts';
import type { orderOperators, RuleCondition, RuleOperator, RuleScalar, RuleValue } from './rule.ts';

/** Values of one field of a port, as one record shows them. */
export interface ObservedFact {
  field: string;
  values: readonly RuleScalar[];
  /** How versions of this product compare. */
  scheme?: VersionScheme;
}

/** Maximum length of a shown value, characters, and number of list elements shown. */
const shownLength = 200;
const shownElements = 10;

/** Returns what matched as text that is safe to show, or null. */
export type Predicate = (fact: ObservedFact) => string | null;

/** Compiles a condition other than `exists: false`; a condition without a fact never holds. */
export function compilePredicate({ field, operator, value }: RuleCondition): Predicate {
  const test = elementTest(operator, value, ruleField(field)?.type === 'date');
  return ({ values, scheme }) => {
    const shown: string[] = [];
    for (const element of values) {
      const hit = test(element, scheme);
      if (hit === null) continue;
      if (shown.length === shownElements) return `${shown.join(', ')} and more`;
      shown.push(visibleText(hit.slice(0, shownLength)));
    }
    return shown.length === 0 ? null : shown.join(', ');
  };
}

/** Returns the part of an element that matched, or null. */
type ElementTest = (element: RuleScalar, scheme: VersionScheme | undefined) => string | null;

function elementTest(operator: RuleOperator, value: RuleValue, isDate: boolean): ElementTest {
  const list = listOf(value);
  const [first = '', second = ''] = list;
  switch (operator) {
    case 'exists':
      return (element) => String(element);
    case 'equals':
      return whole((element) => isSame(element, first));
    case 'in':
      return whole((element) => list.some((one) => isSame(element, one)));
    case 'notIn':
      return whole((element) => !list.some((one) => isSame(element, one)));
    case 'contains':
      return excerpt(String(first), (text, part) => text.includes(part));
    case 'startsWith':
      return excerpt(String(first), (text, part) => text.startsWith(part));
    case 'endsWith':
      return excerpt(String(first), (text, part) => text.endsWith(part));
    case 'matches':
      return patternTest(String(first));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'between':
      return orderTest(operator, isDate ? dateOf : numberOf, first, second);
    default:
      return versionTest(operator, String(first), String(second));
  }
}

function listOf(value: RuleValue): readonly RuleScalar[] {
  return typeof value === 'object' ? value : [value];
}

function whole(holds: (element: RuleScalar) => boolean): ElementTest {
  return (element) => (holds(element) ? String(element) : null);
}

/** A number in a rule equals the same number as text: attributes of other parsers have either. */
function isSame(element: RuleScalar, value: RuleScalar): boolean {
  return element === value || String(element) === String(value);
}

/** Of a short text all is shown, of a long one the part that was looked for. */
function excerpt(part: string, holds: (text: string, part: string) => boolean): ElementTest {
  return (element) => {
    const text = String(element);
    if (!holds(text, part)) return null;
    return text.length <= shownLength ? text : part;
  };
}

/** Linear in the text, of which the matcher reads a bounded part. */
function patternTest(pattern: string): ElementTest {
  let matcher: ReturnType<typeof compileMatcher> | null = null;
  return (element) => {
    // One compiled pattern takes some 30 KB: only those that meet a value are compiled.
    matcher ??= compileMatcher(pattern);
    return matcher.match(String(element))?.text ?? null;
  };
}

type OrderOperator = (typeof orderOperators)[number];

function orderTest(
  operator: OrderOperator,
  read: (value: RuleScalar) => number,
  first: RuleScalar,
  second: RuleScalar,
): ElementTest {
  const low = read(first);
  const high = operator === 'between' ? read(second) : low;
  const holds: Record<OrderOperator, (value: number) => boolean> = {
    gt: (value) => value > low,
    gte: (value) => value >= low,
    lt: (value) => value < low,
    lte: (value) => value <= low,
    between: (value) => value >= low && value <= high,
  };
  return whole((element) => holds[operator](read(element)));
}

/** NaN, which compares as false with everything, for anything but a number. */
function numberOf(value: RuleScalar): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : Number.NaN;
}

function dateOf(value: RuleScalar): number {
  return Date.parse(String(value));
}

function versionTest(operator: RuleOperator, first: string, second: string): ElementTest {
  return (element, scheme) => {
    const order = (bound: string) => versionOrder(String(element), bound, scheme);
    return versionHolds(operator, order(first), () => order(second)) ? String(element) : null;
  };
}

function versionHolds(operator: RuleOperator, order: number | null, toSecond: () => number | null): boolean {
  if (order === null) return false;
  switch (operator) {
    case 'version_eq':
      return order === 0;
    case 'version_lt':
      return order < 0;
    case 'version_lte':
      return order <= 0;
    case 'version_gt':
      return order > 0;
    case 'version_gte':
      return order >= 0;
    case 'version_between':
      return order >= 0 && (toSecond() ?? 1) <= 0;
    default:
      return false;
  }
}

/** Revision of a distribution's package: `-1ubuntu8`, `-2+deb12u3`. */
const packageRevision = /-\d[A-Za-z0-9.+~]{0,60}$/;

/**
 * A bound without a package revision is compared with the upstream part only. A version that ends where the bound goes on
 * is not known well enough: "7" may be 7.58 or later.
 */
function versionOrder(version: string, bound: string, scheme: VersionScheme = 'dotted'): number | null {
  if (packageRevision.test(bound)) return compareVersions(version, bound, 'deb');
  const upstream = scheme === 'dotted' ? version.replace(packageRevision, '') : version;
  const isBeginning = /^\d+(?:\.\d+)*$/.test(upstream) && bound.startsWith(`${upstream}.`);
  if (isBeginning && /[1-9]/.test(bound.slice(upstream.length))) return null;
  return compareVersions(upstream, bound, scheme === 'dotted' ? schemeOfText(bound, upstream) : scheme);
}

/** OpenSSH's portable releases (`9.2p1`) are recognized by their form where the product is unknown. */
function schemeOfText(...versions: string[]): VersionScheme {
  return versions.some((version) => /^\d+\.\d+(?:\.\d+)?p\d+$/.test(version)) ? 'openssh' : 'dotted';
}
