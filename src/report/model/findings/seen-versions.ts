import { parseCpe } from '../../../knowledge/products/cpe.ts';
import { compareVersions, schemeOf, type VersionScheme } from '../../../knowledge/products/versions.ts';
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

/** The highest of the versions that fix the findings of an update. */
export class HighestVersion {
  #highest: string | null = null;
  #comparable = true;
  /** Findings whose fixed version is unknown. */
  unknown = 0;

  add({ fixedIn, cpe }: Pick<SeenFinding, 'fixedIn' | 'cpe'>): void {
    if (fixedIn === null) {
      this.unknown += 1;
      return;
    }
    // The first one is compared with itself: it may be no version at all.
    const order = compareVersions(fixedIn, this.#highest ?? fixedIn, schemeOfCpe(cpe));
    if (order === null) this.#comparable = false;
    else if (order > 0 || this.#highest === null) this.#highest = shortenedText(fixedIn, maxVersionLength);
  }

  /** Null if it is unknown, or versions cannot be compared. */
  get version(): string | null {
    return this.#comparable ? this.#highest : null;
  }
}

function schemeOfCpe(cpe: string | null): VersionScheme {
  const name = cpe === null ? null : parseCpe(cpe);
  return name === null ? 'dotted' : schemeOf(name.vendor, name.product);
}
