import { type Cpe, compareAttribute, parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import { compareVersions, schemeOf, type VersionOrder, type VersionScheme } from '../products/versions.ts';
import type { Configuration, ConfigurationNode, CpeMatch, CveRecord } from './cve-record.ts';

/** An operating system as far as it is known. */
export interface KnownSystem {
  /** `linux`, `windows`, `freebsd`, ... */
  family: string;
  distribution: string | null;
  version: string | null;
}

/** A product that was found, and what else is known of the host it runs on. */
export interface KnownProduct {
  /** CPE name of the product. */
  cpe: string;
  /** As seen (`9.2p1`); where it is absent the one in the name counts, null = it was not seen. */
  version?: string | null | undefined;
  update?: string | null | undefined;
  os: KnownSystem | null;
  /** CPE names of the host's other products. */
  others: readonly string[];
}

/**
 * `platform_unproven`: the version fits, but what the product must run on or with was not seen.
 * `unknown_version`: the record speaks of versions, and which one runs is not known well enough.
 */
export type Outcome = 'applies' | 'platform_unproven' | 'unknown_version' | 'not_affected';

export interface Applicability {
  outcome: Outcome;
  /** The criterion that spoke; null where none did. */
  match: CpeMatch | null;
  /** Versions that the criterion names: `>= 9.1, < 9.8`, `1.3.5 rc1`, `all versions`. */
  affected: string | null;
  /** The criterion names every version without a bound: such records say little. */
  weak: boolean;
  /** Sentences, the deciding one first. */
  reasons: string[];
}

/** How far a statement holds, in this order; AND takes the lowest, OR the highest. */
const no = 0;
const versionUnknown = 1;
const platformUnknown = 2;
const yes = 3;
type Truth = typeof no | typeof versionUnknown | typeof platformUnknown | typeof yes;

const outcomes: Record<Truth, Outcome> = {
  [no]: 'not_affected',
  [versionUnknown]: 'unknown_version',
  [platformUnknown]: 'platform_unproven',
  [yes]: 'applies',
};

/** A criterion about the product in question that does not rule it out. */
interface Speaker {
  truth: Truth;
  match: CpeMatch;
  weak: boolean;
  because: string;
  /** The edition that is all that is left open. */
  edition: string | null;
}

/** The product in question, read once for all criteria. */
interface Subject {
  /** Main name of the product. */
  key: string;
  scheme: VersionScheme;
  /** Version and update in one, lower case; null = not known. */
  version: string | null;
  /** The update alone, '' where the version shows none. */
  update: string;
  /** The version without its update. */
  base: string;
  /** Number that the version begins with, where equal versions must; else null. */
  first: number | null;
  cpe: Cpe;
  os: KnownSystem | null;
  others: Map<string, Cpe[]>;
}

/** What comparing versions needs to know of a product. */
type Comparable = Pick<Subject, 'key' | 'scheme'>;

/** Judges whether a record speaks of a product as far as that is known. A name that is no CPE is not affected. */
export function evaluateApplicability(record: CveRecord, known: KnownProduct): Applicability {
  const subject = subjectOf(known);
  if (!subject) return notAffected('The product has no CPE name to compare.');
  if (record.rejected) return notAffected('The record was withdrawn.');
  let best: Speaker | null = null;
  for (const configuration of record.configurations) {
    const speakers: Speaker[] = [];
    const truth = judgeConfiguration(configuration, subject, speakers);
    for (const speaker of speakers) {
      const whole = { ...speaker, truth: Math.min(truth, speaker.truth) as Truth };
      if (whole.truth < speaker.truth) whole.because = limitedBy(whole.truth, speaker.because);
      if (whole.truth !== no && (!best || isStronger(whole, best))) best = whole;
    }
  }
  if (!best) return notAffected('No criterion of the record holds for this product and version.');
  const reasons = [best.because];
  if (best.weak) reasons.push('The record names every version of the product, without a bound.');
  return {
    outcome: outcomes[best.truth],
    match: best.match,
    affected: describeRange(best.match),
    weak: best.weak,
    reasons,
  };
}

function notAffected(reason: string): Applicability {
  return { outcome: 'not_affected', match: null, affected: null, weak: false, reasons: [reason] };
}

function limitedBy(truth: Truth, because: string): string {
  if (truth === platformUnknown)
    return `${because} What it must run on or together with was not seen on this host.`;
  return `${because} The version of something it must run with is not known.`;
}

function isStronger(a: Speaker, b: Speaker): boolean {
  if (a.truth !== b.truth) return a.truth > b.truth;
  return b.weak && !a.weak;
}

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

// --- logic ----------------------------------------------------------------------------------------------------

function judgeConfiguration(configuration: Configuration, subject: Subject, speakers: Speaker[]): Truth {
  const nodes = configuration.nodes.filter((node) => node.matches.length > 0);
  if (nodes.length === 0) return no;
  const truths = nodes.map((node) => judgeNode(node, subject, speakers, configuration.negate));
  return negated(combine(configuration.operator, truths), configuration.negate);
}

function judgeNode(
  node: ConfigurationNode,
  subject: Subject,
  speakers: Speaker[],
  outerNegate: boolean,
): Truth {
  const spoken: Speaker[] = [];
  const truths = node.matches.map((match) => {
    const criterion = parseCpe(match.cpe);
    if (!criterion) return no;
    const key = mainName(criterion.vendor, criterion.product);
    if (key !== subject.key) return judgeCompanion(match, criterion, key, subject);
    const own = judgeSubject(match, criterion, subject);
    const truth = negated(own.truth, node.negate !== outerNegate);
    if (match.vulnerable && truth !== no) spoken.push({ ...own, truth, match });
    return own.truth;
  });
  if (node.operator === 'OR' && !node.negate && !outerNegate && nameEveryEdition(spoken)) {
    for (const speaker of spoken) if (speaker.edition !== null) speaker.truth = yes;
    truths.push(yes);
  }
  speakers.push(...spoken);
  return negated(combine(node.operator, truths), node.negate);
}

/** A product that comes in two editions is affected when both are, whichever runs. */
function nameEveryEdition(speakers: readonly Speaker[]): boolean {
  const editions = new Set(speakers.map(({ edition }) => edition));
  return editions.has('community') && editions.has('enterprise');
}

function combine(operator: 'AND' | 'OR', truths: readonly Truth[]): Truth {
  return truths.reduce((a, b) => ((operator === 'AND' ? a < b : a > b) ? a : b));
}

/** The opposite of a thing not known is not known either. */
function negated(truth: Truth, negate: boolean): Truth {
  if (!negate) return truth;
  if (truth === yes) return no;
  return truth === no ? yes : truth;
}

/** A truth with the sentence that says why; the sentence is empty where nobody will read it. */
interface Judgement {
  truth: Truth;
  because: string;
}

const ruledOut: Judgement = { truth: no, because: '' };
const granted: Judgement = { truth: yes, because: '' };

// --- the product in question ----------------------------------------------------------------------------------

function subjectOf(known: KnownProduct): Subject | null {
  const cpe = parseCpe(known.cpe);
  if (!cpe || isLogical(cpe.vendor) || isLogical(cpe.product)) return null;
  const key = mainName(cpe.vendor, cpe.product);
  const full = versionOf(known, cpe);
  const { base, update } = splitUpdate(full ?? '');
  const others = new Map<string, Cpe[]>();
  for (const name of known.others) {
    const other = parseCpe(name);
    if (!other) continue;
    const otherKey = mainName(other.vendor, other.product);
    others.set(otherKey, [...(others.get(otherKey) ?? []), other]);
  }
  const scheme = schemeByKey(key);
  const first = scheme === 'dotted' || scheme === 'openssh' ? Number.parseInt(base, 10) : Number.NaN;
  return {
    key,
    scheme,
    version: full,
    base,
    update,
    first: Number.isNaN(first) ? null : first,
    cpe,
    os: known.os,
    others,
  };
}

function schemeByKey(key: string): VersionScheme {
  const colon = key.indexOf(':');
  return schemeOf(key.slice(0, colon), key.slice(colon + 1));
}

function isLogical(value: string): boolean {
  return value === '*' || value === '-';
}

/** Version and update of the product in one: `9.2` and `p1` are `9.2p1`. */
function versionOf(known: KnownProduct, cpe: Cpe): string | null {
  const named = isLogical(cpe.version) ? null : joinUpdate(cpe.version, cpe.update);
  const seen = known.version === undefined ? named : known.version;
  if (seen === null || seen.trim() === '') return null;
  const version = seen.trim().toLowerCase();
  const update = known.update?.trim().toLowerCase() ?? '';
  return update === '' || version.endsWith(update) ? version : joinUpdate(version, update);
}

/** A patch level is written right behind its number, words are set off. */
function joinUpdate(version: string, update: string): string {
  if (isLogical(update) || update === '') return version;
  return /^[a-z]\d/.test(update) ? version + update : `${version}-${update}`;
}

const updateSuffix =
  /^(r\d+|\d[\d.()]*(?:x\d+)?)[-_. ]?((?:alpha|beta|gamma|milestone|m|rc|cr|pre|preview|dev|patchlevel|patch|pl|p|sp|update|u|hotfix|h|cert|r|s|d|a|b)-?\d.*|alpha|beta|rc|dev)$/;

/** Parts `9.2p1` into what CPE names call version and update. */
function splitUpdate(version: string): { base: string; update: string } {
  const match = updateSuffix.exec(version);
  return match ? { base: match[1] ?? version, update: match[2] ?? '' } : { base: version, update: '' };
}

function judgeSubject(match: CpeMatch, criterion: Cpe, subject: Subject): Omit<Speaker, 'match'> {
  const rest = { weak: false, edition: null };
  if (criterion.part !== subject.cpe.part && !isLogical(subject.cpe.part)) return { ...ruledOut, ...rest };
  const version = judgeVersion(match, criterion, subject);
  if (version.truth === no) return { ...ruledOut, ...rest };
  const edition = judgeEdition(criterion, subject);
  const context = [edition, judgeTarget(criterion.targetSw, subject), judgeHardware(criterion, subject)];
  const truth = combine('AND', [version.truth, ...context.map((each) => each.truth)]);
  const limits = context.filter((each) => each.truth < version.truth).map((each) => each.because);
  return {
    truth,
    because: [version.because, ...limits].join(' '),
    weak: isUnbounded(match) && criterion.version === '*' && isAnyUpdate(criterion),
    edition: version.truth === yes && limits.length === 1 && edition.truth < yes ? criterion.swEdition : null,
  };
}

function isUnbounded(match: CpeMatch): boolean {
  return (
    match.startIncluding === null &&
    match.startExcluding === null &&
    match.endIncluding === null &&
    match.endExcluding === null
  );
}

function isAnyUpdate(criterion: Cpe): boolean {
  return isLogical(criterion.update);
}

function judgeVersion(match: CpeMatch, criterion: Cpe, subject: Subject): Judgement {
  if (!isUnbounded(match)) return judgeBounds(match, criterion, subject);
  if (criterion.version === '*') {
    if (isAnyUpdate(criterion)) return { truth: yes, because: 'The record names all versions.' };
    return judgeUpdate(match, criterion.update, subject);
  }
  // "Not applicable" says that the thing has no version: one that shows a version is another.
  if (criterion.version === '-') return subject.version === null ? unseen(match) : ruledOut;
  return judgeExact(match, criterion, subject);
}

function judgeBounds(match: CpeMatch, criterion: Cpe, subject: Subject): Judgement {
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

function unseen(match: CpeMatch): Judgement {
  return { truth: versionUnknown, because: `The version was not seen; affected: ${describeRange(match)}.` };
}

function incomparable(version: string, match: CpeMatch): Judgement {
  const because = `Version ${version} cannot be compared with ${describeRange(match)}.`;
  return { truth: versionUnknown, because };
}

function named(version: string): Judgement {
  return { truth: yes, because: `Version ${version} is named by the record.` };
}

function judgeExact(match: CpeMatch, criterion: Cpe, subject: Subject): Judgement {
  const { version, base } = subject;
  if (version === null) return unseen(match);
  if (beginsOtherwise(criterion.version, subject)) return ruledOut;
  if (isCutShort(version, subject) && `${criterion.version}.`.startsWith(`${version}.`))
    return incomparable(version, match);
  const order = scanRequestOf(base, criterion.version, subject);
  if (criterion.update === '*') {
    // Every update of that version, and what the version itself calls an update.
    if (order === 0 || scanRequestOf(version, criterion.version, subject) === 0) return named(version);
    return order === null ? undecided(version, match, criterion, subject) : ruledOut;
  }
  if (order === null) return undecided(base, match, criterion, subject);
  if (order === 0) return judgeUpdate(match, criterion.update, subject);
  const whole = joinUpdate(criterion.version, criterion.update);
  return scanRequestOf(version, whole, subject) === 0 ? named(version) : ruledOut;
}

/** Long lists of versions are gone through quickly: versions that begin with other numbers differ. */
function beginsOtherwise(version: string, subject: Subject): boolean {
  const first = Number.parseInt(version, 10);
  return subject.first !== null && !Number.isNaN(first) && first !== subject.first;
}

/**
 * Versions without an order. Texts that are equal are equal, whatever they mean; versions that can be read stand in
 * different lines of the product, so they differ; anything else may be the same.
 */
function undecided(version: string, match: CpeMatch, criterion: Cpe, subject: Subject): Judgement {
  if (version === criterion.version) return named(version);
  const readable = [version, criterion.version].every((text) => scanRequestOf(text, text, subject) !== null);
  return readable ? ruledOut : incomparable(version, match);
}

/** The update alone, where the version before it is equal. */
function judgeUpdate(match: CpeMatch, update: string, subject: Subject): Judgement {
  if (subject.version === null) return unseen(match);
  const own = plainUpdate(subject.update, subject.scheme);
  const wanted = update === '-' ? '' : plainUpdate(update, subject.scheme);
  if (own === wanted) return named(subject.version);
  if (own !== '' && wanted !== '') {
    const order = scanRequestOf(joinUpdate('0', own), joinUpdate('0', wanted), subject);
    return order === 0 ? named(subject.version) : ruledOut;
  }
  // A candidate says so in its version; a patch level or service pack often stays untold.
  if (own !== '' || /^(?:alpha|beta|gamma|milestone|rc|cr|pre|dev|a|b|m)/.test(wanted)) return ruledOut;
  const because = `Version ${subject.version} fits; whether it is ${update} was not seen.`;
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

/** Whether a version lies within the four bounds of a criterion; a bound that cannot be compared leaves it open. */
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
    const order = compareToBound(version, bound, subject);
    if (order === null) truth = versionUnknown;
    else if (!holds(order)) return no;
  }
  return truth;
}

function compareToBound(version: string, bound: string, subject: Comparable): VersionOrder {
  // What is left out of 2.4 makes it 2.4 at least.
  if (isCutShort(version, subject)) {
    if (version === bound) return 1;
    if (bound.startsWith(`${version}.`)) return null;
  }
  // A bound of OpenSSH without a p-level means every p-level of that version.
  if (subject.scheme === 'openssh' && !/p\d/i.test(bound))
    return scanRequestOf(version.replace(/p\d[^]*/i, ''), bound, subject);
  return scanRequestOf(version, bound, subject);
}

function scanRequestOf(a: string, b: string, subject: Comparable): VersionOrder {
  return compareVersions(a, b, subject.scheme);
}

/** Products whose releases always have three numbers: fewer mean that the server shows only a part. */
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

function isCutShort(version: string, subject: Comparable): boolean {
  return /^\d+(?:\.\d+)?$/.test(version) && threeNumbers.has(subject.key);
}

// --- what it runs on ------------------------------------------------------------------------------------------

/** Whether a version belongs to an edition, for products whose versions tell; null where they do not. */
const editionBy: Record<string, (version: string, edition: string) => boolean | null> = {
  // Long-term releases of Jenkins have three numbers, weekly ones two.
  'jenkins:jenkins': (version, edition) => {
    const isLongTerm = /^\d+\.\d+\.\d+/.test(version);
    if (edition === 'lts') return isLongTerm;
    return edition === '-' ? !isLongTerm : null;
  },
  'isc:bind': (version, edition) => {
    if (edition === 'supported_preview') return /[-_]?s\d+$/.test(version);
    return edition === 'esv' ? version.includes('esv') : true;
  },
};

/** Whether an attribute of a criterion takes in what is known of the product. */
function includes(criterion: string, own: string): boolean {
  const relation = compareAttribute(criterion, own);
  return relation === 'equal' || relation === 'superset';
}

function judgeEdition(criterion: Cpe, subject: Subject): Judgement {
  const named = criterion.swEdition;
  if (includes(named, subject.cpe.swEdition)) return granted;
  const told = subject.version === null ? null : editionBy[subject.key]?.(subject.version, named);
  if (typeof told === 'boolean') return { truth: told ? yes : no, because: '' };
  if (named === '-') return granted;
  return { truth: platformUnknown, because: `It is about the edition ${named}, which was not seen.` };
}

function judgeHardware({ targetHw }: Cpe, subject: Subject): Judgement {
  if (targetHw === '-' || includes(targetHw, subject.cpe.targetHw)) return granted;
  return { truth: platformUnknown, because: `It is about ${targetHw} hardware, which was not seen.` };
}

/** Families of operating systems by the words that CPE names use for them. */
const systemWords: readonly [RegExp, string][] = [
  [/^windows/, 'windows'],
  [/^(?:mac_?os|os_x)/, 'macos'],
  [/^(?:iphone_os|ipad_?os)$/, 'iphone'],
  [/^android/, 'android'],
  [/^freebsd/, 'freebsd'],
  [/^openbsd/, 'openbsd'],
  [/^netbsd/, 'netbsd'],
  [/^(?:solaris|sunos)/, 'solaris'],
  [/^aix/, 'aix'],
  [/^(?:linux|linux_kernel)$/, 'linux'],
];

/** Registries that servers themselves come from: not another thing of the same name. */
const ownRegistries = new Set(['maven', 'go', 'rust']);
/** What a product is written in, as criteria say it. */
const writtenIn: Record<string, string> = {
  'elastic:kibana': 'node.js',
  'elastic:logstash': 'ruby',
  'ghost:ghost': 'node.js',
  'gitlab:gitlab': 'ruby',
  'nodejs:node.js': 'node.js',
  'openjsf:express': 'node.js',
  'vercel:next.js': 'node.js',
};

function judgeTarget(target: string, subject: Subject): Judgement {
  if (target === '-' || includes(target, subject.cpe.targetSw)) return granted;
  if (ownRegistries.has(target) || writtenIn[subject.key] === target) return granted;
  const open = { truth: platformUnknown, because: `It is about ${target}, which was not seen.` } as const;
  const family = familyOf(target);
  if (family === null || subject.os === null) return open;
  const same = runsFamily(subject.os, family);
  if (same === null) return open;
  return same ? granted : ruledOut;
}

function familyOf(word: string): string | null {
  return systemWords.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}

/** Whether a system is of a family; null where `unix` is all that is known. */
function runsFamily(os: KnownSystem, family: string): boolean | null {
  const own = os.family.toLowerCase();
  if (own === 'unix' || own === 'unknown' || own === '')
    return family === 'windows' && own === 'unix' ? false : null;
  return (familyOf(own) ?? own) === family;
}

/** A product beside the one in question: the platform, or something else that must be there. */
function judgeCompanion(match: CpeMatch, criterion: Cpe, key: string, subject: Subject): Truth {
  const seen = subject.others.get(key);
  if (seen) return best(seen.map((other) => judgeOther(match, criterion, other, key)));
  return criterion.part === 'o' ? judgeSystem(match, criterion, subject.os) : platformUnknown;
}

function best(truths: readonly Truth[]): Truth {
  return combine('OR', truths);
}

function judgeOther(match: CpeMatch, criterion: Cpe, other: Cpe, key: string): Truth {
  if (isUnbounded(match) && isLogical(criterion.version)) return yes;
  if (isLogical(other.version)) return platformUnknown;
  const version = joinUpdate(other.version, other.update);
  return known(judgeNumber(match, criterion, version, schemeByKey(key)));
}

/** A version that was not seen makes the platform unproven; the version of the product itself is another matter. */
function known(truth: Truth): Truth {
  return truth === versionUnknown ? platformUnknown : truth;
}

function judgeNumber(match: CpeMatch, criterion: Cpe, version: string, scheme: VersionScheme): Truth {
  if (!isUnbounded(match)) {
    return withinBounds(boundsOf(match, criterion.update), version, { key: '', scheme });
  }
  const order = compareVersions(version, joinUpdate(criterion.version, criterion.update), scheme);
  if (order === null) return versionUnknown;
  return order === 0 ? yes : no;
}

/** Distributions by the names of their CPE. */
const distributions: Record<string, string> = {
  'debian:debian_linux': 'debian',
  'canonical:ubuntu_linux': 'ubuntu',
  'redhat:enterprise_linux': 'rhel',
  'centos:centos': 'centos',
  'fedoraproject:fedora': 'fedora',
  'opensuse:opensuse': 'opensuse',
  'opensuse:leap': 'opensuse',
  'suse:linux_enterprise_server': 'suse',
  'alpinelinux:alpine_linux': 'alpine',
  'almalinux:almalinux': 'almalinux',
  'rocky:linux': 'rocky',
  'amazon:linux': 'amazon',
  'oracle:linux': 'oracle',
};

function judgeSystem(match: CpeMatch, criterion: Cpe, os: KnownSystem | null): Truth {
  if (!os) return platformUnknown;
  const distribution = distributions[mainName(criterion.vendor, criterion.product)];
  const anyVersion = isUnbounded(match) && isLogical(criterion.version);
  if (distribution !== undefined) {
    const linux = runsFamily(os, 'linux');
    if (linux === false) return no;
    if (linux === null || os.distribution === null) return platformUnknown;
    if (os.distribution.toLowerCase() !== distribution) return no;
    if (anyVersion) return yes;
    return os.version === null ? platformUnknown : known(judgeNumber(match, criterion, os.version, 'dotted'));
  }
  const family = familyOf(criterion.product);
  if (family === null) return platformUnknown;
  const same = runsFamily(os, family);
  if (same !== true) return same === null ? platformUnknown : no;
  // "windows" alone is any Windows; `windows_server_2012` or a kernel's version is more than the family tells.
  return anyVersion &&
    /^(?:windows|linux_kernel|linux|mac_?os|mac_os_x|freebsd|openbsd|netbsd|solaris|aix)$/.test(
      criterion.product,
    )
    ? yes
    : platformUnknown;
}
