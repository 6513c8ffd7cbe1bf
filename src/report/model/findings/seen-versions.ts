import { compareVersions, schemeOf, type VersionScheme } from '../../../domain/version-order.ts';
import { parseCpe } from '../../../knowledge/products/cpe.ts';
import { BoundedMap, shortenedText, textOrder } from '../bounded.ts';
import type { AffectedRange } from '../report.ts';
import type { SeenFinding } from './seen-finding.ts';

/** Different versions of one kind of finding. */
const maxVersions = 100;
/** Longest version, characters. */
const maxVersionLength = 60;

/** Bounds and seen versions of a kind of finding. */
export class SeenVersions {
  readonly #seen = new BoundedMap<{ version: string; hosts: number; lastHost: number }>(maxVersions);
  #scheme: VersionScheme = 'dotted';
  #from: string | null | undefined;
  #fixed: string | null | undefined;
  /** One line cannot show several ranges. */
  #several = false;

  add({ affectedFrom, fixedIn, detected, cpe }: SeenFinding, host: number): void {
    if (this.#from === undefined) this.#scheme = schemeOfCpe(cpe);
    this.#several ||= this.#from !== undefined && (this.#from !== affectedFrom || this.#fixed !== fixedIn);
    this.#from = affectedFrom;
    this.#fixed = fixedIn;
    if (detected === null) return;
    const version = shortenedText(detected, maxVersionLength);
    const entry = this.#seen.at(version, () => ({ version, hosts: 0, lastHost: 0 }));
    if (entry === null || entry.lastHost === host) return;
    entry.hosts += 1;
    entry.lastHost = host;
  }

  /** Null without a range, and if the findings have different ones. */
  range(): AffectedRange | null {
    const [from, fixed] = [this.#from ?? null, this.#fixed ?? null];
    if (this.#several || (from === null && fixed === null)) return null;
    return {
      from: from && shortenedText(from, maxVersionLength),
      fixed: fixed && shortenedText(fixed, maxVersionLength),
      seen: this.#seen
        .values()
        .map(({ version, hosts }) => ({ version, hosts }))
        .sort((a, b) => orderOf(a.version, b.version, this.#scheme)),
    };
  }
}

/** Ascending; what is no version comes last. */
function orderOf(a: string, b: string, scheme: VersionScheme): number {
  const order = compareVersions(a, b, scheme);
  if (order !== null) return order;
  const unreadable = (text: string) => Number(compareVersions(text, text, scheme) === null);
  return unreadable(a) - unreadable(b) || textOrder(a, b);
}

/** The highest of some versions of a product. */
class HighestVersion {
  /** Null without any. */
  version: string | null = null;
  comparable = true;

  add(version: string, scheme: VersionScheme): void {
    // The first one is compared with itself: it may be no version at all.
    const order = compareVersions(version, this.version ?? version, scheme);
    if (order === null) this.comparable = false;
    else if (order > 0 || this.version === null) this.version = shortenedText(version, maxVersionLength);
  }
}

/** The version that an update has to reach so that all its findings are gone. */
export class UpdateTarget {
  readonly #fixed = new HighestVersion();
  /** Of the findings whose fixed version is unknown. */
  readonly #affected = new HighestVersion();
  #unbounded = false;
  #scheme: VersionScheme = 'dotted';

  add({ fixedIn, affected, cpe }: Pick<SeenFinding, 'fixedIn' | 'affected' | 'cpe'>): void {
    this.#scheme = schemeOfCpe(cpe);
    if (fixedIn !== null) {
      this.#fixed.add(fixedIn, this.#scheme);
      return;
    }
    const last = lastAffected(affected);
    if (last === null) this.#unbounded = true;
    else this.#affected.add(last, this.#scheme);
  }

  /** `1.27.1`, `1.27.1 or later`, `a version after 1.25.2`; empty if it is unknown, or versions cannot be compared. */
  get text(): string {
    const [fixed, affected] = [this.#fixed, this.#affected];
    if (!fixed.comparable) return '';
    const open = this.#unbounded || !affected.comparable;
    if (affected.version !== null && !this.#isBeyond(affected.version))
      return open ? '' : `a version after ${affected.version}`;
    if (fixed.version === null) return '';
    return open ? `${fixed.version} or later` : fixed.version;
  }

  /** The highest fixed version; null if none is known, or they cannot be compared. */
  get fixed(): string | null {
    return this.#fixed.comparable ? this.#fixed.version : null;
  }

  #isBeyond(affected: string): boolean {
    const { version } = this.#fixed;
    return version !== null && compareVersions(version, affected, this.#scheme) === 1;
  }
}

/** `1.25.2` of `>= 1.9.5, <= 1.25.2`; the version itself where only one is affected; else null. */
function lastAffected(affected: string | null): string | null {
  if (affected === null || affected.length > 4 * maxVersionLength) return null;
  const bound = affected.lastIndexOf('<=');
  const version = (bound < 0 ? affected : affected.slice(bound + 2)).trim();
  return /^\d[^\s,;<>=]*$/.test(version) ? version : null;
}

function schemeOfCpe(cpe: string | null): VersionScheme {
  const name = cpe === null ? null : parseCpe(cpe);
  return name === null ? 'dotted' : schemeOf(name.vendor, name.product);
}
