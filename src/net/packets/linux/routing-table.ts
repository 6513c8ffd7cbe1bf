import { type Address, addressBits, type Family } from '../../../domain/targets/address.ts';
import { AddressSet, type Interval } from '../../../domain/targets/address-set.ts';
import { type AttachedNetwork, type Link, readNetworks } from './links.ts';
import { type Attributes, attributesOf, dumpKernel } from './netlink.ts';

export const getRoute = 26; // RTM_GETROUTE
const getRule = 34; // RTM_GETRULE
export const routeHeaderBytes = 12; // struct rtmsg, struct fib_rule_hdr
export const kernelFamily = { 4: 2, 6: 10 } as const;

/** rtnetlink(7), RTA_* */
export const routeAttribute = {
  destination: 1,
  source: 2,
  interface: 4,
  gateway: 5,
  preferredSource: 7,
  metrics: 8,
  multipath: 9,
  via: 18,
  tunnel: 21,
  nextHopObject: 30,
} as const;

/** rtnetlink(7), RTN_* */
export const routeType = { unicast: 1, local: 2, broadcast: 3, anycast: 4, multicast: 5 } as const;
const notNeighbors: ReadonlySet<number> = new Set([
  routeType.local,
  routeType.broadcast,
  routeType.anycast,
  routeType.multicast,
]);

/** Maximum number of route boundaries; a machine with more routes needs a lookup per address. */
const maxBounds = 200_000;

/** Destinations of a route, and the interface it leads to. */
interface Destination {
  interval: Interval;
  link: Link | undefined;
}

/** The routes and rules of one family, reduced to address ranges. */
interface FamilyRoutes {
  /** Start of each range, ascending; null if there are too many. */
  bounds: readonly bigint[] | null;
  /** Destinations on a link itself. */
  near: readonly Destination[];
  /** Own addresses, and those that do not belong to a single host. */
  taken: readonly Destination[];
  /** Destinations with several next hops: the choice differs between addresses. */
  spread: readonly Interval[];
}

/** What the entries of all routing tables reveal without a lookup per address. */
export class RoutingTable {
  readonly #links: ReadonlyMap<number, Link>;
  readonly #bounds: Readonly<Record<Family, readonly bigint[] | null>>;
  readonly #near: readonly Destination[];
  readonly #taken: readonly Destination[];
  readonly #spread: AddressSet;
  #networks: AttachedNetwork[] | null = null;

  private constructor(links: ReadonlyMap<number, Link>, ipv4: FamilyRoutes, ipv6: FamilyRoutes) {
    this.#links = links;
    this.#bounds = { 4: ipv4.bounds, 6: ipv6.bounds };
    this.#near = [...ipv4.near, ...ipv6.near];
    this.#taken = [...ipv4.taken, ...ipv6.taken];
    this.#spread = AddressSet.of([...ipv4.spread, ...ipv6.spread]);
  }

  /** @throws Error if the kernel does not return it */
  static read(links: ReadonlyMap<number, Link>): RoutingTable {
    return new RoutingTable(links, readFamily(4, links), readFamily(6, links));
  }

  /**
   * The index of the range of an address. No route and no rule starts or ends within a range, so all its addresses
   * are routed alike. Null if unknown.
   */
  stretchOf(address: Address): number | null {
    const bounds = this.#bounds[address.family];
    if (bounds === null || this.#spread.hasAddress(address)) return null;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((bounds[middle] as bigint) <= address.value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** See RouteTable.attached. */
  attached(): Map<Link, AddressSet> {
    const taken = AddressSet.of(this.#taken.map(onItsLink));
    const near = Map.groupBy(this.#near, ({ link }) => link);
    const found = new Map<Link, AddressSet>();
    for (const [link, destinations] of near) {
      if (link?.ethernet) found.set(link, AddressSet.of(destinations.map(onItsLink)).minus(taken));
    }
    return found;
  }

  /** Why the interface in whose network an address is has no route to it, or null. */
  downLinkOf({ family, value }: Address): string | null {
    const dead = [...this.#links.values()].filter((link) => link.problem !== null);
    if (dead.length === 0) return null;
    this.#networks ??= readNetworks();
    const networks = this.#networks.filter(
      (network) => network.family === family && network.first <= value && value <= network.last,
    );
    return dead.find((link) => networks.some(({ index }) => index === link.index))?.problem ?? null;
  }
}

function readFamily(family: Family, links: ReadonlyMap<number, Link>): FamilyRoutes {
  const bounds = new Set<bigint>();
  const bound = ({ first, last }: Interval) => {
    if (bounds.size <= maxBounds) bounds.add(first).add(last + 1n);
  };
  const near: Destination[] = [];
  const taken: Destination[] = [];
  const spread: Interval[] = [];
  for (const body of dump(getRoute, family)) {
    const interval = intervalOf(body, family);
    if (!interval) continue;
    bound(interval);
    const attributes = attributesOf(body, routeHeaderBytes);
    const link = links.get(attributes.get(routeAttribute.interface)?.readInt32LE(0) ?? 0);
    const type = body[7] ?? 0;
    if (notNeighbors.has(type)) taken.push({ interval, link });
    else if (type === routeType.unicast && !isIndirect(attributes)) near.push({ interval, link });
    if (isSpread(attributes)) spread.push(interval);
  }
  for (const body of dump(getRule, family)) {
    const interval = intervalOf(body, family);
    if (interval) bound(interval);
  }
  return { bounds: bounds.size > maxBounds ? null : sorted(bounds), near, taken, spread };
}

function* dump(type: number, family: Family): Generator<Buffer> {
  const header = Buffer.alloc(routeHeaderBytes);
  header[0] = kernelFamily[family];
  // A kernel without IPv6 returns the tables of all families.
  for (const body of dumpKernel(type, header)) if (body[0] === kernelFamily[family]) yield body;
}

/** The destinations of a route or a rule; all addresses if it names none. */
function intervalOf(body: Buffer, family: Family): Interval | null {
  const bits = addressBits[family];
  const prefix = body[1] ?? 0;
  if (body.length < routeHeaderBytes || prefix > bits) return null;
  const bytes = attributesOf(body, routeHeaderBytes).get(routeAttribute.destination);
  if (bytes && bytes.length * 8 !== bits) return null;
  const hostBits = BigInt(bits - prefix);
  const base = bytes ? BigInt(`0x${bytes.toString('hex')}`) : 0n;
  const first = (base >> hostBits) << hostBits;
  return { family, first, last: first + (1n << hostBits) - 1n };
}

function sorted(numbers: Iterable<bigint>): bigint[] {
  return [...numbers].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Link-local addresses belong to an interface. */
function onItsLink({ interval, link }: Destination): Interval {
  return { ...interval, zone: link && isLinkLocal(interval) ? link.name : null };
}

function isSpread(attributes: Attributes): boolean {
  return attributes.has(routeAttribute.multipath) || attributes.has(routeAttribute.nextHopObject);
}

/** Through a gateway, several next hops or a tunnel. */
function isIndirect(attributes: Attributes): boolean {
  const { gateway, via, multipath, tunnel } = routeAttribute;
  return [gateway, via, multipath, tunnel].some((type) => attributes.has(type));
}

function isLinkLocal({ family, first }: Interval): boolean {
  return family === 6 && first >> 118n === 0x3fan;
}
