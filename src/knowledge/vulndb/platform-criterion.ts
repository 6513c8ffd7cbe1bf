import { type Cpe, compareAttribute } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import type { CpeMatch } from './cve-record.ts';
import { isLogical, joinUpdate, type KnownSystem, type Subject, schemeByKey } from './known-product.ts';
import {
  combine,
  granted,
  no,
  platformUnknown,
  type ReasonedTruth,
  ruledOut,
  type Truth,
  versionUnknown,
  yes,
} from './truth.ts';
import { evaluateNumber, isUnbounded } from './version-criterion.ts';

/** Whether a version belongs to an edition, for products whose versions show it; null for others. */
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

/** Whether an attribute of a criterion covers the product's known value. */
function includes(criterion: string, own: string): boolean {
  const relation = compareAttribute(criterion, own);
  return relation === 'equal' || relation === 'superset';
}

export function evaluateEdition(criterion: Cpe, subject: Subject): ReasonedTruth {
  const named = criterion.swEdition;
  if (includes(named, subject.cpe.swEdition)) return granted;
  const stated = subject.version === null ? null : editionBy[subject.key]?.(subject.version, named);
  if (typeof stated === 'boolean') return { truth: stated ? yes : no, because: '' };
  if (named === '-') return granted;
  return { truth: platformUnknown, because: `It applies to the edition ${named}, which was not seen.` };
}

export function evaluateHardware({ targetHw }: Cpe, subject: Subject): ReasonedTruth {
  if (targetHw === '-' || includes(targetHw, subject.cpe.targetHw)) return granted;
  return { truth: platformUnknown, because: `It applies to ${targetHw} hardware, which was not seen.` };
}

/** Families of operating systems by their words in CPE names. */
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

/** Package registries of servers themselves: not the target software of another product of the same name. */
const ownRegistries = new Set(['maven', 'go', 'rust']);

/** Implementation languages, as criteria name them. */
const writtenIn: Record<string, string> = {
  'elastic:kibana': 'node.js',
  'elastic:logstash': 'ruby',
  'ghost:ghost': 'node.js',
  'gitlab:gitlab': 'ruby',
  'nodejs:node.js': 'node.js',
  'openjsf:express': 'node.js',
  'vercel:next.js': 'node.js',
};

export function evaluateTarget(target: string, subject: Subject): ReasonedTruth {
  if (target === '-' || includes(target, subject.cpe.targetSw)) return granted;
  if (ownRegistries.has(target) || writtenIn[subject.key] === target) return granted;
  const open = { truth: platformUnknown, because: `It applies to ${target}, which was not seen.` } as const;
  const family = familyOf(target);
  if (family === null || subject.os === null) return open;
  const same = runsFamily(subject.os, family);
  if (same === null) return open;
  return same ? granted : ruledOut;
}

function familyOf(word: string): string | null {
  return systemWords.find(([pattern]) => pattern.test(word))?.[1] ?? null;
}

/** Whether a system belongs to a family; null where only `unix` is known. */
function runsFamily(os: KnownSystem, family: string): boolean | null {
  const own = os.family.toLowerCase();
  if (own === 'unix' || own === 'unknown' || own === '')
    return family === 'windows' && own === 'unix' ? false : null;
  return (familyOf(own) ?? own) === family;
}

/** A product beside the evaluated one: the platform, or another requirement. */
export function evaluateCompanion(match: CpeMatch, criterion: Cpe, key: string, subject: Subject): Truth {
  const seen = subject.others.get(key);
  if (seen) return best(seen.map((other) => evaluateOther(match, criterion, other, key)));
  return criterion.part === 'o' ? evaluateSystem(match, criterion, subject.os) : platformUnknown;
}

function best(truths: readonly Truth[]): Truth {
  return combine('OR', truths);
}

function evaluateOther(match: CpeMatch, criterion: Cpe, other: Cpe, key: string): Truth {
  if (isUnbounded(match) && isLogical(criterion.version)) return yes;
  if (isLogical(other.version)) return platformUnknown;
  const version = joinUpdate(other.version, other.update);
  return known(evaluateNumber(match, criterion, version, schemeByKey(key)));
}

/** A version that was not seen leaves the platform unproven; the product's own version is evaluated separately. */
function known(truth: Truth): Truth {
  return truth === versionUnknown ? platformUnknown : truth;
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

function evaluateSystem(match: CpeMatch, criterion: Cpe, os: KnownSystem | null): Truth {
  if (!os) return platformUnknown;
  const distribution = distributions[mainName(criterion.vendor, criterion.product)];
  const anyVersion = isUnbounded(match) && isLogical(criterion.version);
  if (distribution !== undefined) {
    const linux = runsFamily(os, 'linux');
    if (linux === false) return no;
    if (linux === null || os.distribution === null) return platformUnknown;
    if (os.distribution.toLowerCase() !== distribution) return no;
    if (anyVersion) return yes;
    return os.version === null
      ? platformUnknown
      : known(evaluateNumber(match, criterion, os.version, 'dotted'));
  }
  const family = familyOf(criterion.product);
  if (family === null) return platformUnknown;
  const same = runsFamily(os, family);
  if (same !== true) return same === null ? platformUnknown : no;
  // "windows" alone is any Windows; `windows_server_2012` or a kernel's version is more specific than the family.
  return anyVersion &&
    /^(?:windows|linux_kernel|linux|mac_?os|mac_os_x|freebsd|openbsd|netbsd|solaris|aix)$/.test(
      criterion.product,
    )
    ? yes
    : platformUnknown;
}
