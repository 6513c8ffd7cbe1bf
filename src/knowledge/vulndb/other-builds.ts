import { type Cpe, parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';
import type { KnownSystem } from './known-product.ts';
import { packagesOf } from './packages.ts';

/** A build of a product by others than its upstream: for another platform, as a service, or changed. */
export interface OtherBuild {
  name: string;
  /** CVEs of which its maker states that it is not affected. */
  unaffected: ReadonlySet<string>;
}

interface BuildRule {
  /** Main name of the product. */
  product: string;
  name: string;
  /** The suffix of the version or the comment behind it. */
  revision?: RegExp;
  /** Family of the system that it runs on. */
  family?: string;
  unaffected?: readonly string[];
}

/** The first that fits counts. */
const rules: readonly BuildRule[] = [
  {
    product: 'openbsd:openssh',
    name: 'OpenSSH for Windows',
    revision: /for[ _]windows|win32/i,
    // Statements of Microsoft on its port.
    unaffected: ['CVE-2024-6387', 'CVE-2023-38408'],
  },
  {
    product: 'openbsd:openssh',
    name: 'OpenSSH of OpenBSD',
    family: 'openbsd',
    // Its signal handler has been safe since 2001.
    unaffected: ['CVE-2024-6387'],
  },
  { product: 'oracle:mysql', name: 'MySQL of CloudLinux', revision: /\b(?:cll|lve)\b/i },
  { product: 'mariadb:mariadb', name: 'MariaDB of CloudLinux', revision: /\b(?:cll|lve)\b/i },
  { product: 'oracle:mysql', name: 'MySQL as a service', revision: /\b(?:aurora|azure|cloud|google|rds)\b/i },
  { product: 'mariadb:mariadb', name: 'MariaDB as a service', revision: /\b(?:azure|cloud|rds)\b/i },
  { product: 'redis:redis', name: 'Redis as a service', revision: /amazon|azure|elasticache|memorydb/i },
  { product: 'redis:redis', name: 'Redis ported to Windows', revision: /windows/i },
];

/** Products that upstream does not build for Windows. */
const notForWindows: ReadonlySet<string> = new Set([
  'dropbear_ssh_project:dropbear_ssh',
  'exim:exim',
  'haproxy:haproxy',
  'lighttpd:lighttpd',
  'memcached:memcached',
  'openbsd:openssh',
  'proftpd:proftpd',
  'redis:redis',
  'samba:rsync',
  'squid-cache:squid',
]);

/** Suffixes that say how upstream or a distribution built it, not who else. */
const plainSuffix =
  /^(?:v?\d|g[0-9a-f]{6,}|alpha|beta|dev|rc|release|stable|final|log|debug|max|nt|pro|classic|standard|community|commercial|enterprise|cluster|fips|stretch|buster|bullseye|bookworm|trixie|focal|jammy|noble)/i;

/**
 * @param marked the revision names a distribution, or upstream
 * @returns null for a build of upstream, of a distribution, or of unknown origin
 */
export function otherBuild(
  seen: { cpe: string; revision?: string | undefined },
  os: KnownSystem | null,
  marked: boolean,
): OtherBuild | null {
  const cpe = parseCpe(seen.cpe);
  if (!cpe) return null;
  const product = mainName(cpe.vendor, cpe.product);
  const revision = seen.revision?.trim() ?? '';
  const rule = rules.find(
    (each) =>
      each.product === product &&
      (each.revision?.test(revision) ?? true) &&
      (each.family === undefined || os?.family.toLowerCase() === each.family),
  );
  if (rule) return { name: rule.name, unaffected: new Set(rule.unaffected) };
  if (os?.family.toLowerCase() === 'windows' && notForWindows.has(product))
    return { name: 'a build for Windows', unaffected: new Set() };
  const isUnknown = !marked && /[a-z]{3}/i.test(revision) && !plainSuffix.test(revision);
  return isUnknown && packagesOf(product)
    ? { name: `a build with the suffix ${revision}`, unaffected: new Set() }
    : null;
}

/** The record names this platform itself. */
export function isAboutPlatform({ targetSw }: Cpe): boolean {
  return targetSw !== '*' && targetSw !== '-';
}
