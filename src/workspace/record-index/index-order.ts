import type { TextColumn } from './columns.ts';
import type { RecordIndex } from './record-index.ts';
import { freed } from './tuple-set.ts';

/** Ranks of members by one property: equal values have equal ranks, from 0; `none` is the rank of an absent one. */
export interface Ranks {
  ranks: Uint8Array | Uint16Array | Uint32Array;
  /** One more than the highest rank of a value. */
  none: number;
}

/** What follows from the columns of an index; computed once per revision, when it is first needed. */
export class IndexOrder {
  readonly #index: RecordIndex;
  readonly #ranks = new Map<string, Ranks>();
  readonly #orders = new Map<string, Uint32Array>();
  #findingsOfPort: Uint32Array | null = null;
  #bare: { ports: Uint8Array; hosts: Uint8Array } | null = null;

  constructor(index: RecordIndex) {
    this.#index = index;
  }

  /** Findings by port. */
  get findingsOfPort(): Uint32Array {
    if (this.#findingsOfPort) return this.#findingsOfPort;
    const { ports, findings } = this.#index;
    const counts = new Uint32Array(ports.count);
    const port = findings.numbers.port.values;
    for (let number = 0; number < findings.count; number++) {
      const at = port[number] as number;
      if (at > 0) counts[at - 1] = (counts[at - 1] as number) + 1;
    }
    this.#findingsOfPort = counts;
    return counts;
  }

  /** How many members each owner has. */
  countsOf(owners: ArrayLike<number>, members: number, count: number): Uint32Array {
    const counts = new Uint32Array(count);
    for (let number = 0; number < members; number++) {
      const owner = owners[number] as number;
      counts[owner] = (counts[owner] as number) + 1;
    }
    return counts;
  }

  /** Open ports by host: the recorded ones, or more if it accepts connections on nearly every port. */
  get openPortsOfHost(): Uint32Array {
    const { hosts, ports, pool } = this.#index;
    const counts = new Uint32Array(hosts.count);
    const { dictionary, values } = ports.texts.state;
    const isOpen = Uint8Array.from(dictionary ?? [], (id) => (pool.text(id) === 'open' ? 1 : 0));
    const owners = ports.numbers.host.values;
    for (let number = 0; number < ports.count; number++) {
      const owner = owners[number] as number;
      counts[owner] = (counts[owner] as number) + (isOpen[values[number] as number] ?? 0);
    }
    const [allOpen, counted] = [hosts.numbers.allOpen.values, hosts.numbers.openPorts.values];
    for (let number = 0; number < hosts.count; number++)
      if (allOpen[number] === 1)
        counts[number] = Math.max(counts[number] as number, counted[number] as number);
    return counts;
  }

  /** Which ports and hosts are tuples without a finding: 1 for each. */
  get bare(): { ports: Uint8Array; hosts: Uint8Array } {
    if (this.#bare) return this.#bare;
    const { hosts, ports, findings } = this.#index;
    const { findingsOfPort } = this;
    const bare = { ports: new Uint8Array(ports.count), hosts: new Uint8Array(hosts.count) };
    const [hostOfPort, hostOfFinding] = [ports.numbers.host.values, findings.numbers.host.values];
    const present = hosts.numbers.present.values;
    for (let number = 0; number < hosts.count; number++) bare.hosts[number] = present[number] as number;
    for (let number = 0; number < findings.count; number++) bare.hosts[hostOfFinding[number] as number] = 0;
    for (let number = 0; number < ports.count; number++) {
      bare.hosts[hostOfPort[number] as number] = 0;
      bare.ports[number] = findingsOfPort[number] === 0 ? 1 : 0;
    }
    this.#bare = bare;
    return bare;
  }

  /** Ranks by a name; the last used ones are remembered. */
  ranks(name: string, compute: () => Ranks): Ranks {
    const known = this.#ranks.get(name);
    const ranks = known ?? compute();
    this.#ranks.delete(name);
    this.#ranks.set(name, ranks);
    let bytes = 0;
    for (const each of this.#ranks.values()) bytes += each.ranks.byteLength;
    for (const [oldest, each] of this.#ranks) {
      if (bytes <= maxRankBytes || oldest === name) break;
      this.#ranks.delete(oldest);
      bytes -= each.ranks.byteLength;
    }
    return ranks;
  }

  /** Hosts by address: IPv4, IPv6, then other texts. */
  get hostRanks(): Ranks {
    return this.ranks('host address', () => {
      const { hosts } = this.#index;
      const order = inArrival(hosts.count);
      // A finished record has its hosts in this order.
      if (this.#index.isGrowing) order.sort((a, b) => compareHosts(this.#index, a, b));
      const ranks = emptyRanks(hosts.count, hosts.count);
      for (const [rank, number] of order.entries()) ranks[number] = rank;
      return { ranks, none: hosts.count };
    });
  }

  /** Ranks of members by those of what they belong to; `owner` + 1 where 0 means none. */
  inherited(name: string, owner: ArrayLike<number>, count: number, of: Ranks, fromOne = false): Ranks {
    return this.ranks(name, () => {
      const ranks = emptyRanks(count, of.none);
      for (let number = 0; number < count; number++) {
        const at = (owner[number] as number) - (fromOne ? 1 : 0);
        ranks[number] = at < 0 ? of.none : (of.ranks[at] as number);
      }
      return { ranks, none: of.none };
    });
  }

  /** Numbers in their order; NaN is absent. */
  numberRanks(name: string, numbers: () => ArrayLike<number>, count: number): Ranks {
    return this.ranks(name, () => {
      const values = numbers();
      const distinct = distinctNumbers(values, count);
      const ranks = emptyRanks(count, distinct.length);
      for (let number = 0; number < count; number++) {
        const value = values[number] as number;
        ranks[number] = Number.isNaN(value) ? distinct.length : placeOf(distinct, value);
      }
      return { ranks, none: distinct.length };
    });
  }

  /** Texts in the order of their lower-case forms; @param compare of the texts, instead */
  textRanks(
    name: string,
    column: TextColumn,
    count: number,
    compare: (a: string, b: string) => number = byText,
  ): Ranks {
    return this.ranks(name, () => {
      const { dictionary, values } = column;
      const ids = dictionary ?? distinctOf(values, count);
      const texts = this.#index.pool.texts(ids);
      const folded = texts.map((text) => text.toLowerCase());
      const order = [...ids.keys()].filter((at) => (ids[at] as number) > 0);
      order.sort((a, b) => compare(folded[a] as string, folded[b] as string));
      const rankAt = new Uint32Array(ids.length);
      let rank = -1;
      for (const [place, at] of order.entries()) {
        const before = order[place - 1];
        if (before === undefined || compare(folded[before] as string, folded[at] as string) !== 0) rank += 1;
        rankAt[at] = rank;
      }
      const none = rank + 1;
      const rankOf = dictionary === null ? byId(ids, rankAt) : rankAt;
      const absent = (value: number) => (dictionary === null ? value === 0 : (ids[value] ?? 0) === 0);
      const ranks = emptyRanks(count, none);
      for (let number = 0; number < count; number++) {
        const value = values[number] as number;
        ranks[number] = absent(value) ? none : (rankOf[value] as number);
      }
      return { ranks, none };
    });
  }

  /** An order of members by its name; computed once, the two newest are remembered. */
  order(name: string, compute: () => Uint32Array): Uint32Array {
    const known = this.#orders.get(name);
    const order = known ?? compute();
    this.#orders.delete(name);
    this.#orders.set(name, order);
    for (const oldest of this.#orders.keys()) {
      if (this.#orders.size <= maxOrders) break;
      this.#orders.delete(oldest);
    }
    return order;
  }

  /** Hosts, ports or findings in record order. */
  recordOrder(table: 'host' | 'port' | 'finding'): Uint32Array {
    const { hosts, ports, findings, isGrowing } = this.#index;
    const { count } = { host: hosts, port: ports, finding: findings }[table];
    return this.order(`record ${table}`, () => {
      const arrival = inArrival(count);
      if (!isGrowing) return arrival;
      const { hostRanks } = this;
      if (table === 'host') return sortedBy(arrival, hostRanks, false);
      const portRanks = this.portPlaces;
      if (table === 'port') {
        const ofHost = this.inherited('port host', ports.numbers.host.values, count, hostRanks);
        return sortedBy(sortedBy(arrival, portRanks, false), ofHost, false);
      }
      const ofPort = this.inherited('finding place', findings.numbers.port.values, count, portRanks, true);
      const ofHost = this.inherited('finding host', findings.numbers.host.values, count, hostRanks);
      const byId = sortedBy(arrival, this.textRanks('finding id', findings.texts.id, count), false);
      return sortedBy(sortedBy(byId, ofPort, false), ofHost, false);
    });
  }

  /** Ports by number, TCP before UDP. */
  get portPlaces(): Ranks {
    return this.ranks('port place', () => {
      const { count, numbers } = this.#index.ports;
      const [port, protocol] = [numbers.port.values, numbers.protocol.values];
      const ranks = emptyRanks(count, 2 * 65_536);
      for (let number = 0; number < count; number++)
        ranks[number] = (port[number] as number) * 2 + (protocol[number] as number);
      return { ranks, none: 2 * 65_536 };
    });
  }

  /** Members by a word that is stored as its place in a list, highest first: the first word has the highest rank. */
  wordRanks(name: string, places: ArrayLike<number>, words: readonly string[], count: number): Ranks {
    return this.ranks(name, () => {
      const ranks = emptyRanks(count, words.length);
      for (let number = 0; number < count; number++) {
        const place = places[number] as number;
        ranks[number] = place < words.length ? words.length - 1 - place : words.length;
      }
      return { ranks, none: words.length };
    });
  }
}

/** Orders that are remembered: 4 bytes per member each. */
const maxOrders = 3;
/** Ranks that are remembered, bytes; the newest ones always are. */
const maxRankBytes = 4 * 1024 * 1024;

/** Room for ranks, as narrow as the highest of them allows. */
function emptyRanks(count: number, none: number): Ranks['ranks'] {
  if (none < 2 ** 8) return new Uint8Array(count);
  return none < 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count);
}

/** All members as they came. */
function inArrival(count: number): Uint32Array {
  const order = new Uint32Array(count);
  for (let number = 0; number < count; number++) order[number] = number;
  return order;
}

/** Ascending, without NaN. Few are different, as scores and counts are. */
function distinctNumbers(values: ArrayLike<number>, count: number): Float64Array {
  const found = new Set<number>();
  for (let number = 0; number < count; number++) found.add(values[number] as number);
  found.delete(Number.NaN);
  return Float64Array.from(found).sort();
}

/** Stable counting sort of members by their ranks; absent values come last in both directions. */
export function sortedBy(order: Uint32Array, { ranks, none }: Ranks, descending: boolean): Uint32Array {
  const starts = new Uint32Array(none + 2);
  const placed = (number: number) => {
    const rank = ranks[number] as number;
    return descending && rank < none ? none - 1 - rank : rank;
  };
  for (const number of order) {
    const at = placed(number) + 1;
    starts[at] = (starts[at] as number) + 1;
  }
  for (let at = 1; at < starts.length; at++) starts[at] = (starts[at] as number) + (starts[at - 1] as number);
  const sorted = new Uint32Array(order.length);
  for (const number of order) {
    const at = placed(number);
    const start = starts[at] as number;
    sorted[start] = number;
    starts[at] = start + 1;
  }
  return sorted;
}

/** A property to sort by. */
export interface RankedKey {
  ranks: Ranks;
  descending: boolean;
}

/** Combined ranks of one pass: each pass moves every member once, in no order of memory. */
const maxCombined = 65_536;

/** Stable sort by several properties, the first one decides. Properties with few values are sorted in one pass. */
export function sortedByAll(order: Uint32Array, keys: readonly RankedKey[]): Uint32Array {
  return passesOf(keys)
    .toReversed()
    .reduce((before, pass) => {
      const sorted = sortedInPass(before, pass);
      if (before !== order) freed(before);
      return sorted;
    }, order);
}

function sortedInPass(order: Uint32Array, keys: readonly [RankedKey, ...RankedKey[]]): Uint32Array {
  const [first, ...others] = keys;
  if (others.length === 0) return sortedBy(order, first.ranks, first.descending);
  const all = combined(keys);
  const sorted = sortedBy(order, all, false);
  freed(all.ranks);
  return sorted;
}

function passesOf(keys: readonly RankedKey[]): [RankedKey, ...RankedKey[]][] {
  const passes: [RankedKey, ...RankedKey[]][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const key of keys) {
    size *= key.ranks.none + 1;
    if (size <= maxCombined) passes.at(-1)?.push(key);
    else {
      passes.push([key]);
      size = key.ranks.none + 1;
    }
  }
  return passes;
}

function combined(keys: readonly RankedKey[]): { ranks: Uint32Array; none: number } {
  const size = keys.reduce((product, { ranks }) => product * (ranks.none + 1), 1);
  const sums = new Uint32Array(keys[0]?.ranks.ranks.length ?? 0);
  for (const { ranks: own, descending } of keys) {
    const { ranks, none } = own;
    for (let number = 0; number < sums.length; number++) {
      const rank = ranks[number] as number;
      const placed = descending && rank < none ? none - 1 - rank : rank;
      sums[number] = (sums[number] as number) * (none + 1) + placed;
    }
  }
  return { ranks: sums, none: size };
}

/** As the record sorts its hosts: IPv4, IPv6, then other texts. */
function compareHosts({ hosts, pool }: RecordIndex, a: number, b: number): number {
  const { family, word0, word1, word2, word3 } = hosts.numbers;
  for (const column of [family, word0, word1, word2, word3]) {
    const order = column.get(a) - column.get(b);
    if (order !== 0) return order;
  }
  return byText(pool.text(hosts.texts.host.get(a)), pool.text(hosts.texts.host.get(b)));
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function distinctOf(values: ArrayLike<number>, count: number): number[] {
  const seen = new Set<number>();
  for (let number = 0; number < count; number++) seen.add(values[number] as number);
  return [...seen];
}

function byId(ids: ArrayLike<number>, rankAt: Uint32Array): Uint32Array {
  let most = 0;
  for (let at = 0; at < ids.length; at++) most = Math.max(most, ids[at] as number);
  const ranks = new Uint32Array(most + 1);
  for (let at = 0; at < ids.length; at++) ranks[ids[at] as number] = rankAt[at] as number;
  return ranks;
}

function placeOf(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
