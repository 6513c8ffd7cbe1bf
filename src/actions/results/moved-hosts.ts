import type { HostIdentity } from '../../domain/asset.ts';
import type { HostRow } from '../../domain/result.ts';

/** A host that changed its address, and the identity that shows it. */
export interface MovedHost {
  before: string;
  after: string;
  by: HostIdentity[];
}

/** Maximum number of hosts whose identities are compared; in larger scans no moves are detected. */
const maxMarkedHosts = 10_000;

/** Host with an identity in one scan; null = several, so that it is ambiguous. */
type Bearers = Map<string, string | null>;

/**
 * Recognizes hosts that changed their address between two scans. Cloned machines share their keys and the servers of
 * one site its certificate: an identity counts only if one host of each scan has it.
 */
export class MovedHosts {
  readonly #before: Bearers = new Map();
  readonly #after: Bearers = new Map();
  readonly #identities = new Map<string, HostIdentity>();
  readonly #came = new Set<string>();
  readonly #gone = new Set<string>();
  #marked = 0;

  /** Adds one address. @param comparable both scans could have found a host there */
  see({ before, after }: { before: HostRow | null; after: HostRow | null }, comparable: boolean): void {
    if (before?.identity === undefined && after?.identity === undefined) return;
    if (++this.#marked > maxMarkedHosts) {
      for (const marks of [this.#before, this.#after, this.#identities]) marks.clear();
      return;
    }
    this.#mark(this.#before, before);
    this.#mark(this.#after, after);
    if (!comparable) return;
    if (after && !before) this.#came.add(after.host);
    if (before && !after) this.#gone.add(before.host);
  }

  /** The hosts that moved, in the order of their earlier addresses. */
  hosts(): MovedHost[] {
    if (this.#marked > maxMarkedHosts) return [];
    const found: MovedHost[] = [];
    const ways = this.#ways();
    for (const [before, afters] of ways) {
      const [way, ...others] = [...afters];
      if (!way || others.length > 0) continue;
      const [after, by] = way;
      const only = [...ways].every(([host, each]) => host === before || !each.has(after));
      if (only) found.push({ before, after, by });
    }
    return found;
  }

  /** For each removed address, the added addresses with one of its identities. */
  #ways(): Map<string, Map<string, HostIdentity[]>> {
    const ways = new Map<string, Map<string, HostIdentity[]>>();
    for (const [mark, before] of this.#before) {
      const after = this.#after.get(mark);
      if (!before || !after || !this.#gone.has(before) || !this.#came.has(after)) continue;
      const afters = ways.get(before) ?? new Map<string, HostIdentity[]>();
      const identity = this.#identities.get(mark);
      afters.set(after, [...(afters.get(after) ?? []), ...(identity ? [identity] : [])]);
      ways.set(before, afters);
    }
    return ways;
  }

  #mark(bearers: Bearers, row: HostRow | null): void {
    for (const identity of row?.identity ?? []) {
      const mark = `${identity.kind} ${identity.value}`;
      this.#identities.set(mark, identity);
      bearers.set(mark, bearers.has(mark) ? null : (row?.host ?? null));
    }
  }
}
