import { schemeOf, type VersionScheme } from '../../domain/version-order.ts';
import { type Cpe, parseCpe } from '../products/cpe.ts';
import { mainName } from '../products/cpe-aliases.ts';

/** The known facts of an operating system. */
export interface KnownSystem {
  /** `linux`, `windows`, `freebsd`, ... */
  family: string;
  distribution: string | null;
  version: string | null;
}

/** A detected product, with the known facts of its host. */
export interface KnownProduct {
  /** CPE name of the product. */
  cpe: string;
  /** As seen (`9.2p1`); if absent, the version in the name counts; null = not seen. */
  version?: string | null | undefined;
  update?: string | null | undefined;
  os: KnownSystem | null;
  /** CPE names of the host's other products. */
  others: readonly string[];
}

/** The evaluated product, parsed once for all criteria. */
export interface Subject {
  /** Main name of the product. */
  key: string;
  scheme: VersionScheme;
  /** Version and update combined, lower case; null = unknown. */
  version: string | null;
  /** The update alone, '' where the version shows none. */
  update: string;
  /** The version without its update. */
  base: string;
  /** The number that the version begins with, which equal versions share; else null. */
  first: number | null;
  cpe: Cpe;
  os: KnownSystem | null;
  others: Map<string, Cpe[]>;
}

/** The facts of a product needed to compare its versions. */
export type Comparable = Pick<Subject, 'key' | 'scheme'>;

export function subjectOf(known: KnownProduct): Subject | null {
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

export function schemeByKey(key: string): VersionScheme {
  const colon = key.indexOf(':');
  return schemeOf(key.slice(0, colon), key.slice(colon + 1));
}

export function isLogical(value: string): boolean {
  return value === '*' || value === '-';
}

/** Version and update of the product combined: `9.2` and `p1` are `9.2p1`. */
function versionOf(known: KnownProduct, cpe: Cpe): string | null {
  const named = isLogical(cpe.version) ? null : joinUpdate(cpe.version, cpe.update);
  const seen = known.version === undefined ? named : known.version;
  if (seen === null || seen.trim() === '') return null;
  const version = seen.trim().toLowerCase();
  const update = known.update?.trim().toLowerCase() ?? '';
  return update === '' || version.endsWith(update) ? version : joinUpdate(version, update);
}

/** A patch level directly follows its number, words are separated. */
export function joinUpdate(version: string, update: string): string {
  if (isLogical(update) || update === '') return version;
  return /^[a-z]\d/.test(update) ? version + update : `${version}-${update}`;
}

const updateSuffix =
  /^(r\d+|\d[\d.()]*(?:x\d+)?)[-_. ]?((?:alpha|beta|gamma|milestone|m|rc|cr|pre|preview|dev|patchlevel|patch|pl|p|sp|update|u|hotfix|h|cert|r|s|d|a|b)-?\d.*|alpha|beta|rc|dev)$/;

/** Splits `9.2p1` into version and update as CPE names have them. */
function splitUpdate(version: string): { base: string; update: string } {
  const match = updateSuffix.exec(version);
  return match ? { base: match[1] ?? version, update: match[2] ?? '' } : { base: version, update: '' };
}
