import {
  type Address,
  addressBits,
  type Family,
  formatAddress,
  formatIpv4,
  ipv4Mapped,
  parseAddress,
} from './address.ts';

/** All addresses from `first` to `last`, both included. */
export interface Interval {
  family: Family;
  first: bigint;
  last: bigint;
  /** Interface of link-local IPv6 addresses; without it the interval covers the addresses on every interface. */
  zone?: string | null;
}

/** The members `first`, `first + step`, … `last`; contiguous if the step is 1. */
type Run = Required<Interval> & { step: bigint };

/**
 * An immutable set of addresses, stored as disjoint intervals and enumerated only on demand: a /8 or an IPv6 /64
 * costs as much as one address, and so does each n-th address of it. Order: IPv4 before IPv6, ascending.
 * Zones: an interval without zone covers its addresses on every interface for `has`, `minus` and `intersect`, so that
 * excluding fe80::/10 excludes fe80::1%eth0. The IPv4-mapped block is never part of a set: those are IPv4 addresses.
 */
export class AddressSet implements Iterable<string> {
  static readonly empty: AddressSet = new AddressSet([]);

  /** Sorted by family, zone and number; disjoint, and adjacent contiguous intervals are merged. */
  readonly intervals: readonly Run[];
  readonly size: bigint;
  readonly #runs: Map<string, readonly Run[]>;
  /** Number of addresses before each interval; computed at the first call of `at`. */
  #offsets: bigint[] | null = null;

  private constructor(runs: Iterable<Run>) {
    const byKey = Map.groupBy(runs, runKey);
    const keys = [...byKey.keys()].sort();
    this.#runs = new Map(keys.map((key) => [key, merge(byKey.get(key) as Run[])]));
    this.intervals = [...this.#runs.values()].flat();
    this.size = this.intervals.reduce((sum, run) => sum + lengthOf(run), 0n);
  }

  /** @throws RangeError for an interval that is reversed or outside its family */
  static of(intervals: Iterable<Interval>): AddressSet {
    return new AddressSet(withoutMapped(intervals));
  }

  /**
   * The addresses at the positions `from`, `from + n`, `from + 2n`, … of the order. Such a stepped set can be
   * combined only with contiguous sets and parts of itself.
   */
  everyNth(n: bigint, from: bigint): AddressSet {
    this.#offsets ??= runningTotals(this.intervals);
    const offsets = this.#offsets;
    return new AddressSet(
      this.intervals.flatMap((run, at) => {
        const skipped = (((from - (offsets[at] as bigint)) % n) + n) % n;
        const length = lengthOf(run);
        if (skipped >= length) return [];
        const first = run.first + skipped * run.step;
        const step = run.step * n;
        return [{ ...run, first, last: first + ((length - 1n - skipped) / n) * step, step }];
      }),
    );
  }

  has(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed !== null && this.hasAddress(parsed);
  }

  hasAddress({ family, value, zone }: Address): boolean {
    if (covers(this.#runs.get(runKey({ family, zone: null })), value)) return true;
    return zone !== null && covers(this.#runs.get(runKey({ family, zone })), value);
  }

  /** The address at a position of the order. @throws RangeError if out of range */
  at(index: bigint): string {
    if (index < 0n || index >= this.size)
      throw new RangeError(`no address at index ${index}: the set has ${this.size}`);
    this.#offsets ??= runningTotals(this.intervals);
    const offsets = this.#offsets;
    const position = lastAtOrBelow(offsets.length, (at) => (offsets[at] as bigint) <= index);
    const { family, first, step, zone } = this.intervals[position] as Run;
    return formatAddress({ family, value: first + (index - (offsets[position] as bigint)) * step, zone });
  }

  /** @throws RangeError if a stepped range overlaps other addresses */
  union(other: AddressSet): AddressSet {
    return new AddressSet([...this.intervals, ...other.intervals]);
  }

  /** @throws RangeError if the other set is stepped */
  minus(other: AddressSet): AddressSet {
    if (other.intervals.some(({ step }) => step !== 1n))
      throw new RangeError('cannot subtract a stepped range');
    const rest: Run[] = [];
    for (const [key, run] of this.#runs) rest.push(...other.#covering(key).reduce(subtract, run));
    return new AddressSet(rest);
  }

  /** @throws RangeError for stepped ranges with different steps or offsets */
  intersect(other: AddressSet): AddressSet {
    const shared: Run[] = [];
    for (const [key, run] of this.#runs)
      for (const covering of other.#covering(key)) shared.push(...overlap(run, covering));
    // If only the other set names a zone, its result is computed there.
    const general = this.#runs.get('6') ?? [];
    for (const run of other.#runs.values()) {
      const zone = run[0]?.zone ?? null;
      if (zone !== null) for (const part of overlap(general, run)) shared.push({ ...part, zone });
    }
    return new AddressSet(shared);
  }

  *[Symbol.iterator](): Generator<string, void, undefined> {
    for (const { family, first, last, step, zone } of this.intervals) {
      if (family === 4) {
        // Plain numbers: ten times faster than bigint for the sweeps of whole networks.
        const [end, by] = [Number(last), Number(step)];
        for (let value = Number(first); value <= end; value += by) yield formatIpv4(value);
      } else {
        for (let value = first; value <= last; value += step) yield formatAddress({ family, value, zone });
      }
    }
  }

  /** The intervals that apply to a run: those of its zone and those without zone. */
  #covering(key: string): (readonly Run[])[] {
    const keys = key.startsWith('6%') ? [key, '6'] : [key];
    return keys.flatMap((each) => {
      const runs = this.#runs.get(each);
      return runs ? [runs] : [];
    });
  }
}

/** Keys sort in the order of the set: `4`, `6`, `6%eth0`, `6%eth1`. */
function runKey({ family, zone }: { family: Family; zone: string | null }): string {
  return zone === null ? `${family}` : `${family}%${zone}`;
}

function lengthOf({ first, last, step }: Run): bigint {
  return (last - first) / step + 1n;
}

function* withoutMapped(intervals: Iterable<Interval>): Generator<Run> {
  for (const { family, first, last, zone = null } of intervals) {
    if (first < 0n || last < first || last >> BigInt(addressBits[family]) !== 0n) {
      throw new RangeError(`not an interval of IPv${family} addresses: ${first} to ${last}`);
    }
    const run = { family, first, last, zone, step: 1n };
    if (family === 4 || last < ipv4Mapped.first || first > ipv4Mapped.last) {
      yield run;
      continue;
    }
    if (first < ipv4Mapped.first) yield { ...run, last: ipv4Mapped.first - 1n };
    if (last > ipv4Mapped.last) yield { ...run, first: ipv4Mapped.last + 1n };
  }
}

/**
 * Sorts intervals of one family and zone and joins those that overlap or touch.
 * @throws RangeError if stepped ranges overlap without one being part of the other
 */
function merge(runs: readonly Run[]): Run[] {
  const merged: Run[] = [];
  for (const next of runs.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const previous = merged.at(-1);
    if (previous === undefined || next.first > previous.last + previous.step) merged.push({ ...next });
    else if (!isAlike(previous, next)) {
      if (next.first <= previous.last)
        throw new RangeError('cannot union a stepped range with overlapping addresses');
      merged.push({ ...next });
    } else if (next.last > previous.last) previous.last = next.last;
  }
  return merged;
}

/** Whether both have the same step and offset. */
function isAlike(a: Run, b: Run): boolean {
  return a.step === b.step && (a.first - b.first) % a.step === 0n;
}

/** The members from `from` to `to`. */
function* within(run: Run, from: bigint, to: bigint): Generator<Run> {
  const { step } = run;
  const first = from <= run.first ? run.first : run.first + ((from - run.first + step - 1n) / step) * step;
  const end = to < run.last ? to : run.last;
  if (first <= end) yield { ...run, first, last: first + ((end - first) / step) * step };
}

function subtract(runs: readonly Run[], taken: readonly Run[]): Run[] {
  return [...difference(runs, taken)];
}

/** Everything in `runs` and not in `taken`; both sorted and disjoint. */
function* difference(runs: readonly Run[], taken: readonly Run[]): Generator<Run> {
  let at = 0;
  for (const run of runs) {
    let first = run.first;
    at = firstEndingFrom(taken, at, first);
    // The last taken interval may reach into the next one of the runs, so this looks ahead without moving `at`.
    for (let next = at; next < taken.length; next++) {
      const cut = taken[next] as Run;
      if (cut.first > run.last || first > run.last) break;
      yield* within(run, first, cut.first - 1n);
      first = cut.last + 1n;
    }
    yield* within(run, first, run.last);
  }
}

/** The intersection; both sorted and disjoint. The parts keep the zone of `runs`. */
function* overlap(runs: readonly Run[], other: readonly Run[]): Generator<Run> {
  let left = 0;
  let right = 0;
  while (left < runs.length && right < other.length) {
    const a = runs[left] as Run;
    const b = other[right] as Run;
    yield* shared(a, b);
    if (a.last < b.last) left = firstEndingFrom(runs, left + 1, b.first);
    else right = firstEndingFrom(other, right + 1, a.first);
  }
}

/**
 * The first position from `at` on whose run does not end before a value. Steps of double length lead there, so that a
 * small set is combined with a large one in few steps, and sets of one size in as many as they have runs.
 */
function firstEndingFrom(runs: readonly Run[], at: number, value: bigint): number {
  const endsBefore = (position: number) => (runs[position] as Run).last < value;
  let [from, step] = [at, 1];
  for (; from + step <= runs.length && endsBefore(from + step - 1); step *= 2) from += step;
  return from + lastAtOrBelow(Math.min(step, runs.length - from), (offset) => endsBefore(from + offset)) + 1;
}

function* shared(a: Run, b: Run): Generator<Run> {
  if (b.step === 1n || isAlike(a, b)) yield* within(a, b.first, b.last);
  else if (a.step === 1n) for (const part of within(b, a.first, a.last)) yield { ...part, zone: a.zone };
  else if (a.step !== b.step)
    throw new RangeError('cannot intersect stepped ranges with different steps or offsets');
}

function covers(runs: readonly Run[] | undefined, value: bigint): boolean {
  if (runs === undefined) return false;
  const run = runs[lastAtOrBelow(runs.length, (at) => (runs[at] as Run).first <= value)];
  return run !== undefined && value <= run.last && (value - run.first) % run.step === 0n;
}

function runningTotals(runs: readonly Run[]): bigint[] {
  let total = 0n;
  return runs.map((run) => {
    const before = total;
    total += lengthOf(run);
    return before;
  });
}

/** Binary search: the last position for which `holds` is true; -1 if none. `holds` must be monotonic. */
function lastAtOrBelow(length: number, holds: (position: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** 0.0.0.0 and ::, 255.255.255.255, 224.0.0.0/4 and ff00::/8: addresses that do not belong to a single host. */
const notUnicast: Interval[] = [
  { family: 4, first: 0n, last: 0n },
  { family: 4, first: 0xe000_0000n, last: 0xefff_ffffn },
  { family: 4, first: 0xffff_ffffn, last: 0xffff_ffffn },
  { family: 6, first: 0n, last: 0n },
  { family: 6, first: 0xffn << 120n, last: (1n << 128n) - 1n },
];

/** Every address that can be a single host. */
export const unicastAddresses: AddressSet = AddressSet.of([
  { family: 4, first: 0n, last: (1n << 32n) - 1n },
  { family: 6, first: 0n, last: (1n << 128n) - 1n },
]).minus(AddressSet.of(notUnicast));
