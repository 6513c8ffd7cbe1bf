import { compareVersions, type VersionOrder, type VersionScheme } from '../../domain/version-order.ts';
import { type Cpe, parseCpe } from '../products/cpe.ts';
import type { CpeMatch } from './cve-record.ts';
import { type Comparable, isLogical, joinUpdate, type Subject } from './known-product.ts';
import { no, type ReasonedTruth, ruledOut, type Truth, versionUnknown, yes } from './truth.ts';

/** The versions that a criterion names, as text. */
export function describeRange(match: CpeMatch): string {
  const cpe = parseCpe(match.cpe);
  const { startIncluding, startExcluding, endIncluding, endExcluding } = boundsOf(match, cpe?.update ?? '*');
  const bounds = [
    startIncluding === null ? null : `>= ${startIncluding}`,
    startExcluding === null ? null : `> ${startExcluding}`,
    endIncluding === null ? null : `<= ${endIncluding}`,
    endExcluding === null ? null : `< ${endExcluding}`,
  ].filter((bound) => bound !== null);
  if (bounds.length > 0) return bounds.join(', ');
  if (!cpe || cpe.version === '*') return 'all versions';
  if (cpe.version === '-') return 'no stated version';
  return isLogical(cpe.update) ? cpe.version : `${cpe.version} ${cpe.update}`;
}

/** First affected and first fixed version of a criterion; null = not named. */
export function namedVersions(match: CpeMatch): { from: string | null; fixed: string | null } {
  const cpe = parseCpe(match.cpe);
  if (!isUnbounded(match))
    return { from: match.startIncluding, fixed: boundsOf(match, cpe?.update ?? '*').endExcluding };
  const exact = cpe && !isLogical(cpe.version) ? joinUpdate(cpe.version, cpe.update) : null;
  return { from: exact, fixed: null };
}

export function isUnbounded(match: CpeMatch): boolean {
  return (
    match.startIncluding === null &&
    match.startExcluding === null &&
    match.endIncluding === null &&
    match.endExcluding === null
  );
}

export function isAnyUpdate(criterion: Cpe): boolean {
  return isLogical(criterion.update);
}

export function evaluateVersion(match: CpeMatch, criterion: Cpe, subject: Subject): ReasonedTruth {
  if (!isUnbounded(match)) return evaluateBounds(match, criterion, subject);
  if (criterion.version === '*') {
    if (isAnyUpdate(criterion)) return { truth: yes, because: 'The record names all versions.' };
    return evaluateUpdate(match, criterion.update, subject);
  }
  // "Not applicable" means that the product has no version: one that shows a version differs.
  if (criterion.version === '-') return subject.version === null ? unseen(match) : ruledOut;
  return evaluateExact(match, criterion, subject);
}

function evaluateBounds(match: CpeMatch, criterion: Cpe, subject: Subject): ReasonedTruth {
  if (subject.version === null) return unseen(match);
  const truth = withinBounds(boundsOf(match, criterion.update), subject.version, subject);
  if (truth === no) return ruledOut;
  if (truth === versionUnknown) return incomparable(subject.version, match);
  return { truth, because: `Version ${subject.version} is within ${describeRange(match)}.` };
}

/** The update of a name with a range belongs to its end: `<= 4.2.8` with `p8` is `<= 4.2.8p8`. */
function boundsOf(match: CpeMatch, update: string): CpeMatch {
  if (isLogical(update)) return match;
  const { endIncluding, endExcluding } = match;
  return {
    ...match,
    endIncluding: endIncluding === null ? null : joinUpdate(endIncluding, update),
    endExcluding: endExcluding === null ? null : joinUpdate(endExcluding, update),
  };
}

function unseen(match: CpeMatch): ReasonedTruth {
  return { truth: versionUnknown, because: `The version is unknown; affected: ${describeRange(match)}.` };
}

function incomparable(version: string, match: CpeMatch): ReasonedTruth {
  const because = isPart(version)
    ? `Version ${version} does not show whether it is within ${describeRange(match)}: the rest of it is unknown.`
    : `Version ${version} cannot be compared with ${describeRange(match)}.`;
  return { truth: versionUnknown, because };
}

function named(version: string): ReasonedTruth {
  return { truth: yes, because: `The record lists version ${version} as affected.` };
}

function evaluateExact(match: CpeMatch, criterion: Cpe, subject: Subject): ReasonedTruth {
  const { version, base } = subject;
  if (version === null) return unseen(match);
  if (beginsOtherwise(criterion.version, subject)) return ruledOut;
  if (isPartOf(version, criterion.version, subject)) return incomparable(version, match);
  const order = versionOrder(base, criterion.version, subject);
  if (criterion.update === '*') {
    // Every update of that version, and the update that is part of the version itself.
    if (order === 0 || versionOrder(version, criterion.version, subject) === 0) return named(version);
    return order === null ? undecided(version, match, criterion, subject) : ruledOut;
  }
  if (order === null) return undecided(base, match, criterion, subject);
  if (order === 0) return evaluateUpdate(match, criterion.update, subject);
  const whole = joinUpdate(criterion.version, criterion.update);
  return versionOrder(version, whole, subject) === 0 ? named(version) : ruledOut;
}

/** Fast path for long lists of versions: versions that begin with other numbers differ. */
function beginsOtherwise(version: string, subject: Subject): boolean {
  const first = Number.parseInt(version, 10);
  return subject.first !== null && !Number.isNaN(first) && first !== subject.first;
}

/**
 * Versions without an order. Equal texts are equal, whatever they mean; readable versions belong to different lines of
 * the product, so they differ; anything else may be the same.
 */
function undecided(version: string, match: CpeMatch, criterion: Cpe, subject: Subject): ReasonedTruth {
  if (version === criterion.version) return named(version);
  const readable = [version, criterion.version].every((text) => versionOrder(text, text, subject) !== null);
  return readable ? ruledOut : incomparable(version, match);
}

/** The update alone, where the version before it is equal. */
function evaluateUpdate(match: CpeMatch, update: string, subject: Subject): ReasonedTruth {
  if (subject.version === null) return unseen(match);
  const own = plainUpdate(subject.update, subject.scheme);
  const wanted = update === '-' ? '' : plainUpdate(update, subject.scheme);
  if (own === wanted) return named(subject.version);
  if (own !== '' && wanted !== '') {
    const order = versionOrder(joinUpdate('0', own), joinUpdate('0', wanted), subject);
    return order === 0 ? named(subject.version) : ruledOut;
  }
  // A version names its candidate; it often omits a patch level or service pack.
  if (own !== '' || /^(?:alpha|beta|gamma|milestone|rc|cr|pre|dev|a|b|m)/.test(wanted)) return ruledOut;
  const because = `Version ${subject.version} matches; whether it is ${update} is unknown.`;
  return { truth: versionUnknown, because };
}

/** One spelling for an update; the first portable release of an OpenSSH version is that version. */
function plainUpdate(update: string, scheme: VersionScheme): string {
  const plain = update
    .replace(/[-_. ]/g, '')
    .replace(/^(?:patchlevel|patch|pl)(?=\d)/, 'p')
    .replace(/^m(?=\d)/, 'milestone');
  return scheme === 'openssh' && plain === 'p1' ? '' : plain;
}

/** Whether a version lies within the four bounds of a criterion; unknown if a bound is not comparable. */
function withinBounds(match: CpeMatch, version: string, subject: Comparable): Truth {
  const checks: [string | null, (order: -1 | 0 | 1) => boolean][] = [
    [match.startIncluding, (order) => order >= 0],
    [match.startExcluding, (order) => order > 0],
    [match.endIncluding, (order) => order <= 0],
    [match.endExcluding, (order) => order < 0],
  ];
  let truth: Truth = yes;
  for (const [bound, holds] of checks) {
    if (bound === null) continue;
    const orders = compareToBound(version, bound, subject);
    if (orders.every((order) => order !== null && !holds(order))) return no;
    if (!orders.every((order) => order !== null && holds(order))) truth = versionUnknown;
  }
  return truth;
}

/** The possible orders of a version and a bound: two where the version is only the beginning of what may run. */
function compareToBound(version: string, bound: string, subject: Comparable): VersionOrder[] {
  if (isPartOf(version, bound, subject)) {
    // The first version that begins like this, and any later one.
    const first = versionOrder(numbersOf(version), bound, subject);
    return first === null ? [null] : [first, 1];
  }
  // A bound of OpenSSH without a p-level means every p-level of that version.
  if (subject.scheme === 'openssh' && !/p\d/i.test(bound))
    return [versionOrder(version.replace(/p\d[^]*/i, ''), bound, subject)];
  return [versionOrder(isPart(version) ? numbersOf(version) : version, bound, subject)];
}

function versionOrder(a: string, b: string, subject: Comparable): VersionOrder {
  return compareVersions(a, b, subject.scheme);
}

/** Products that release versions of three numbers only: fewer are always a part, whatever the bound has. */
const threeNumbers = new Set([
  'apache:http_server',
  'apache:tomcat',
  'f5:nginx',
  'php:php',
  'openssl:openssl',
  'oracle:mysql',
  'mariadb:mariadb',
  'samba:samba',
  'lighttpd:lighttpd',
  'redis:redis',
  'isc:bind',
]);

/** Releases of fewer numbers than the next ones have, by product: their text is the whole version. */
const shortReleases: Readonly<Record<string, RegExp>> = {
  'acme:mini_httpd': /^\d+\.\d+$/,
  'drupal:drupal': /^7\.\d+$/,
  'erlang:erlang/otp': /^\d+\.\d+(?:\.\d+)?$/,
  'exim:exim': /^\d+\.\d+$/,
  'jenkins:jenkins': /^\d+\.\d+$/,
  'openbsd:openssh': /^\d+\.\d+$/,
  'phpmyadmin:phpmyadmin': /^\d+\.\d+\.\d+$/,
  'postgresql:postgresql': /^\d{2}\.\d+$/,
  'proftpd:proftpd': /^\d+\.\d+\.\d+$/,
  'squid-cache:squid': /^[4-9]\.\d+$/,
  'wordpress:wordpress': /^\d+\.\d+$/,
};

/** `7.x` names a line of versions by itself. */
const wildcard = /\.[x*]$/;

function isPart(version: string): boolean {
  return wildcard.test(version) || /^v?\d+(?:\.\d+)*$/.test(version);
}

function numbersOf(version: string): string {
  return version.replace(wildcard, '');
}

/**
 * Whether a version is only the beginning of the one that runs, and it depends on the rest on which side of the bound
 * that lies: "8" of PHP 8.1.29 for the bound 8.1.28.
 */
function isPartOf(version: string, bound: string, subject: Comparable): boolean {
  if (!isPart(version)) return false;
  const numbers = numbersOf(version);
  if (subject.scheme === 'cisco_ios' || subject.scheme === 'junos')
    return (
      bound.length > numbers.length && bound.startsWith(numbers) && !/\d/.test(bound[numbers.length] ?? '')
    );
  const [own, whole] = [numberList(numbers), numberList(bound)];
  if (!own.every((number, index) => number === (whole[index] ?? 0))) return false;
  if (wildcard.test(version)) return true;
  if (shortReleases[subject.key]?.test(numbers)) return false;
  return own.length < whole.length || (own.length < 3 && threeNumbers.has(subject.key));
}

function numberList(version: string): number[] {
  return (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '').split('.').map(Number);
}

export function evaluateNumber(
  match: CpeMatch,
  criterion: Cpe,
  version: string,
  scheme: VersionScheme,
): Truth {
  if (!isUnbounded(match)) {
    return withinBounds(boundsOf(match, criterion.update), version, { key: '', scheme });
  }
  const order = compareVersions(version, joinUpdate(criterion.version, criterion.update), scheme);
  if (order === null) return versionUnknown;
  return order === 0 ? yes : no;
}
