import { compareVersions, type VersionOrder } from '../../domain/version-order.ts';
import { parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import type { CveSource, DistroFix } from './cve-record.ts';
import type { KnownSystem } from './known-product.ts';
import { isVendorBuilt, packagesOf, releaseByVersion } from './packages.ts';
import { releasesWith } from './shipped-versions.ts';

/** Fields of a fingerprint that show who built the program. */
export interface SeenBuild {
  cpe: string;
  /** Upstream version as seen. */
  version: string | null;
  /** The builder's suffix: `Debian-2+deb12u3`, `Ubuntu`, `18.el9_4`. */
  revision?: string | undefined;
  os?: KnownSystem | null | undefined;
}

/**
 * Who built a program. `distribution`: its banner names one; `presumed`: its host runs a distribution that packages the
 * product; `shipped`: no evidence, but distributions ship and patch exactly this version; `upstream`: no distribution
 * was involved; `unknown`: no evidence.
 */
export type Origin = 'distribution' | 'presumed' | 'shipped' | 'upstream' | 'unknown';

export interface PackageBuild {
  origin: Origin;
  /** `debian`, `ubuntu`, `raspbian`, `rhel`, `freebsd`, ... */
  distribution: string | null;
  release: string | null;
  /** Possible names of the source package there. */
  packages: readonly string[];
  upstream: string | null;
  /** Package version with epoch and revision: `1:9.2p1-2+deb12u3`; null when the revision was not seen. */
  version: string | null;
  /** The revision without the distribution's name: `2+deb12u3`. */
  revision: string | null;
  /** Releases of distributions that ship this version, when the builder is unknown: `Debian 12`. */
  keptBy: readonly string[];
}

export interface BackportVerdict {
  status: 'fixed_by_vendor' | 'affected' | 'unknown';
  /** One sentence; null where no distribution is involved. */
  note: string | null;
  /** Package version with the fix, where the distribution names one. */
  fixed: string | null;
  /** The whole package version was compared, not only the upstream part. */
  exact: boolean;
}

/** Distributions by their marks in banners, the more specific ones first. */
const marks: readonly [RegExp, string][] = [
  [/ubuntu/i, 'ubuntu'],
  [/raspbian|\+rpt\d/i, 'raspbian'],
  [/debian|[+~]deb\d+u\d|~bpo\d/i, 'debian'],
  [/freebsd/i, 'freebsd'],
  [/centos/i, 'centos'],
  [/rocky/i, 'rocky'],
  [/alma ?linux/i, 'almalinux'],
  [/oracle linux/i, 'oracle'],
  [/amazon|\bamzn/i, 'amazon'],
  [/fedora|\bfc\d{2}\b/i, 'fedora'],
  [/suse/i, 'suse'],
  [/alpine/i, 'alpine'],
  [/red ?hat|rhel|\bel\d|^rh$/i, 'rhel'],
];
/** Upstream builds: `(Unix)`, `(Win64)`, packages that MariaDB builds for Ubuntu. */
const upstreamMark = /^\(?(?:unix|win(?:32|64|dows)?)\)?$|^ubu\d{4}$|^deb\d{1,2}$|maria~/i;

/** Derivatives with the same source packages and versions, or rebuilds of them. */
const dataOf: Record<string, string> = {
  raspbian: 'debian',
  centos: 'rhel',
  rocky: 'rhel',
  almalinux: 'rhel',
  oracle: 'rhel',
};
const titles: Record<string, string> = {
  debian: 'Debian',
  ubuntu: 'Ubuntu',
  raspbian: 'Raspbian',
  rhel: 'Red Hat Enterprise Linux',
  centos: 'CentOS',
  rocky: 'Rocky Linux',
  almalinux: 'AlmaLinux',
  oracle: 'Oracle Linux',
  amazon: 'Amazon Linux',
  fedora: 'Fedora',
  suse: 'SUSE',
  alpine: 'Alpine',
  freebsd: 'FreeBSD',
};
const rpmDistributions = new Set([
  'rhel',
  'centos',
  'rocky',
  'almalinux',
  'oracle',
  'amazon',
  'fedora',
  'suse',
]);
const debDistributions = new Set(['debian', 'ubuntu', 'raspbian']);
const foreignFamilies = /^(?:windows|mac|ios|routeros)/i;

/** Determines who built a program from its banner and, without evidence there, from the system that it runs on. */
export function readBuild(seen: SeenBuild): PackageBuild {
  const product = productOf(seen.cpe);
  const os = seen.os ?? null;
  const marked = seen.revision === undefined ? null : distributionOf(seen.revision);
  const build: PackageBuild = {
    origin: 'unknown',
    distribution: null,
    release: null,
    packages: [],
    upstream: seen.version,
    version: null,
    revision: null,
    keptBy: [],
  };
  if (marked === 'upstream') return { ...build, origin: 'upstream' };
  if (marked === null) return withoutMark(build, product, os);
  const revision = revisionOf(seen.revision ?? '');
  const named = { ...build, origin: 'distribution' as const, distribution: marked, revision };
  return {
    ...named,
    release: releaseOf(seen.revision ?? '', product, named, os),
    packages: packageNames(product, marked),
    version: fullVersion(product, named),
  };
}

function withoutMark(build: PackageBuild, product: string, os: KnownSystem | null): PackageBuild {
  if (isVendorBuilt(product) || (os && foreignFamilies.test(os.family)))
    return { ...build, origin: 'upstream' };
  const distribution = os?.distribution?.toLowerCase() ?? null;
  if (distribution === null) {
    const keptBy = releasesWith(product, build.upstream);
    return keptBy.length === 0 ? build : { ...build, origin: 'shipped', keptBy };
  }
  if (!Object.hasOwn(titles, distribution) || !packagesOf(product)) return build;
  return {
    ...build,
    origin: 'presumed',
    distribution,
    release: systemRelease(distribution, os),
    packages: packageNames(product, distribution),
  };
}

function productOf(name: string): string {
  const cpe = parseCpe(name);
  return cpe ? mainName(cpe.vendor, cpe.product) : '';
}

function distributionOf(revision: string): string | 'upstream' | null {
  if (upstreamMark.test(revision.trim())) return 'upstream';
  return marks.find(([mark]) => mark.test(revision))?.[1] ?? null;
}

/** `2+deb12u3` of `Debian-2+deb12u3`, `0ubuntu1` of `0ubuntu1-Ubuntu`; null for a bare name. */
function revisionOf(text: string): string | null {
  const plain = text
    .trim()
    .replace(/^(?:debian|ubuntu|raspbian|freebsd|red ?hat)[-_ ]?/i, '')
    .replace(/[-_ ](?:debian|ubuntu|raspbian|red ?hat)$/i, '');
  return /^\d[\w.+~:-]*$/.test(plain) ? plain : null;
}

function packageNames(product: string, distribution: string): readonly string[] {
  const names = packagesOf(product);
  if (!names) return [];
  if (debDistributions.has(distribution)) return names.deb;
  if (distribution === 'freebsd') return [product.slice(product.indexOf(':') + 1)];
  if (distribution === 'alpine') return [...new Set([...names.deb, ...names.rpm])];
  return rpmDistributions.has(distribution) ? names.rpm : [];
}

function releaseOf(
  text: string,
  product: string,
  build: { distribution: string; upstream: string | null },
  os: KnownSystem | null,
): string | null {
  // A backport to an older release is patched on its own schedule.
  if (/~bpo\d/.test(text)) return null;
  return (
    writtenRelease(text, build.distribution) ??
    systemRelease(build.distribution, os) ??
    releaseByVersion(product, dataOf[build.distribution] ?? build.distribution, build.upstream ?? '')
  );
}

/** `+deb12u3`, `0ubuntu0.22.04.1`, `.el9_4` name their release. */
function writtenRelease(text: string, distribution: string): string | null {
  if (distribution === 'ubuntu') return /ubuntu\d+\.(\d{2}\.\d{2})(?:\.|$|[^\d])/i.exec(text)?.[1] ?? null;
  if (debDistributions.has(distribution)) return /[+~]deb(\d{1,2})u\d/.exec(text)?.[1] ?? null;
  return /\bel(\d{1,2})(?:\D|$)/.exec(text)?.[1] ?? /\bfc(\d{2})\b/.exec(text)?.[1] ?? null;
}

function systemRelease(distribution: string, os: KnownSystem | null): string | null {
  const version = os?.version ?? null;
  if (version === null || (os?.distribution ?? os?.family)?.toLowerCase() !== distribution) return null;
  // Debian and Red Hat count releases by their first number, Ubuntu by year and month.
  const pattern = distribution === 'ubuntu' || distribution === 'freebsd' ? /^\d+\.\d+/ : /^\d+/;
  return pattern.exec(version)?.[0] ?? null;
}

function fullVersion(
  product: string,
  build: { distribution: string; upstream: string | null; revision: string | null },
): string | null {
  const { distribution, upstream, revision } = build;
  if (revision === null || upstream === null) return null;
  if (distribution === 'freebsd') return /^\d{8}$/.test(revision) ? revision : null;
  const isDeb = debDistributions.has(distribution);
  if (!isDeb && !rpmDistributions.has(distribution)) return null;
  const names = packagesOf(product);
  const epoch = isDeb ? names?.debEpoch : names?.rpmEpoch;
  // Some banners repeat the upstream version: 3.6.1-4+deb12u2.
  const whole = /^\d[^-]*-/.test(revision) ? revision : `${upstream}-${revision}`;
  return epoch === undefined || whole.includes(':') ? whole : `${epoch}:${whole}`;
}

/** The distribution's statement about a CVE in this build, where its data was imported. */
export function evaluateBackport(build: PackageBuild, cve: string, source: CveSource): BackportVerdict {
  const open = (note: string | null): BackportVerdict => ({
    status: 'unknown',
    note,
    fixed: null,
    exact: false,
  });
  const { distribution, release } = build;
  if (build.origin === 'shipped') return open(keptNote(build));
  if (build.origin === 'unknown')
    return open(
      'The version alone does not show who built the program: a package of a distribution may have the fix without a new upstream version.',
    );
  if (distribution === null) return open(null);
  const title = release === null ? titleOf(distribution) : `${titleOf(distribution)} ${release}`;
  if (build.origin === 'presumed')
    return open(
      `The host runs ${title}: if the program is the distribution's package, the flaw may be fixed without a new upstream version.`,
    );
  const data = dataOf[distribution] ?? distribution;
  if (release === null || !source.knowsDistribution(data, release)) return open(withoutData(build));
  const statements = source
    .fixes(data, release, cve)
    .filter((statement) => build.packages.includes(statement.package));
  const verdicts = statements.map((statement) => evaluateStatement(statement, build, title));
  const first = verdicts[0];
  if (!first) return open(`${title} has no data on ${cve} in this package. ${withoutData(build)}`);
  return verdicts.every((verdict) => verdict.status === first.status) ? first : open(withoutData(build));
}

function keptNote({ keptBy, upstream }: PackageBuild): string {
  return `Version ${upstream} is shipped by ${keptBy.join(', ')}, where flaws are fixed without a new upstream version: such a package may have the fix.`;
}

function titleOf(distribution: string): string {
  return titles[distribution] ?? distribution;
}

function withoutData(build: PackageBuild): string {
  const title = titleOf(build.distribution ?? '');
  if (build.revision === null)
    return `A build of ${title} with unknown package revision: the flaw may be fixed without a new upstream version.`;
  if (build.distribution === 'freebsd')
    return `${title} patch date ${build.revision} seen: compare it with the date of the fix before acting.`;
  return `${title} revision ${build.revision} seen: compare it with the distribution's fixed revision before acting.`;
}

function evaluateStatement(statement: DistroFix, build: PackageBuild, title: string): BackportVerdict {
  const { fixed } = statement;
  if (fixed === null) {
    const note = `${title} has not fixed it in ${statement.package} yet.`;
    return { status: 'affected', note, fixed, exact: build.version !== null };
  }
  const exact = build.version !== null;
  const order = exact ? orderByPackage(build, fixed) : orderByUpstream(build, fixed);
  const note = (rest: string) => `${title} fixed it in ${statement.package} ${fixed}; ${rest}.`;
  if (order === null) {
    const why = exact ? 'is unknown' : 'depends on its revision, which is unknown';
    const doubt = note(`whether ${installed(build)} has the fix ${why}`);
    return { status: 'unknown', note: doubt, fixed, exact: false };
  }
  if (order >= 0)
    return { status: 'fixed_by_vendor', note: note(`${installed(build)} has the fix`), fixed, exact };
  return { status: 'affected', note: note(`${installed(build)} is older`), fixed, exact };
}

function installed(build: PackageBuild): string {
  return build.version ?? build.upstream ?? 'the version that runs';
}

function schemeFor(build: PackageBuild): 'deb' | 'rpm' | 'date' {
  if (build.distribution === 'freebsd') return 'date';
  return rpmDistributions.has(build.distribution ?? '') ? 'rpm' : 'deb';
}

function orderByPackage(build: PackageBuild, fixed: string): VersionOrder {
  const version = build.version ?? '';
  // An unknown epoch is taken from the distribution's version.
  const epoch = /^\d+:/.exec(fixed)?.[0] ?? '';
  const own = /^\d+:/.test(version) || fixed === '0' ? version : epoch + version;
  return compareVersions(own, fixed, schemeFor(build));
}

/** Without the revision the upstream parts decide only where they differ. */
function orderByUpstream(build: PackageBuild, fixed: string): VersionOrder {
  if (fixed === '0') return 1;
  if (build.upstream === null) return null;
  const order = compareVersions(build.upstream, upstreamPart(fixed), schemeFor(build));
  return order === 0 ? null : order;
}

/** `1.3.8` of `1:1.3.8+dfsg-4+deb12u3`. */
function upstreamPart(version: string): string {
  return version
    .replace(/^\d+:/, '')
    .replace(/-[^-]*$/, '')
    .replace(/[+~.](?:dfsg|ds|repack)[\w.~+]{0,64}$/, '');
}
