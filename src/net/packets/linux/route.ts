import { type Address, addressBytes, type Family, formatAddress } from '../../../domain/targets/address.ts';
import type { AddressSet } from '../../../domain/targets/address-set.ts';
import { type Link, readLinks } from './links.ts';
import { type Attributes, attribute, attributesOf, type NetlinkError, requestKernel } from './netlink.ts';
import {
  getRoute,
  kernelFamily,
  RoutingTable,
  routeAttribute,
  routeHeaderBytes,
  routeType,
} from './routing-table.ts';
import { u32 } from './sys.ts';

const fibMatch = 0x2000; // RTM_F_FIB_MATCH: the entry of a table, not what the kernel makes of it
const mtuMetric = 2; // RTAX_MTU
const errno = { prohibited: 13, invalid: 22, netUnreachable: 101, hostUnreachable: 113 };

/** Maximum number of cached routes; beyond, the cache is cleared. */
const maxKnownRoutes = 16_384;

/** How packets to one address leave this machine. */
export interface Route {
  interface: string;
  index: number;
  /** Bytes of an IP packet. */
  mtu: number;
  /**
   * `ethernet`: frames with a MAC header. `ip`: the kernel routes (loopback, own addresses, tunnels, anything without
   * an Ethernet header).
   */
  link: 'ethernet' | 'ip';
  family: Family;
  /** 4 or 16 bytes. */
  source: Uint8Array;
  /** Next hop, 4 or 16 bytes (an IPv4 route may lead over an IPv6 one); null: the target is on the link itself. */
  gateway: Uint8Array | null;
  /** Own MAC of an `ethernet` link, 6 bytes. */
  mac: Uint8Array | null;
}

/** Constraints on a route, whatever the kernel would choose. */
export interface RouteForce {
  /** Name of the outgoing interface; own addresses are always reached through loopback. */
  interface?: string | undefined;
  /** Source address, one of this machine. */
  source?: Address | undefined;
}

/** Why there is no route; applies to all addresses with the same routing. */
interface Refusal {
  because(target: string, address: Address): string;
}

/**
 * The routes of this machine as the kernel decides them, including policy routing (rtnetlink(7)). Links and route
 * boundaries are read once: replace an old table by a new one.
 */
export class RouteTable {
  readonly #links: ReadonlyMap<number, Link>;
  readonly #table: RoutingTable;
  /** By family, range of equally routed addresses, zone and constraints. */
  readonly #known = new Map<string, Route | Refusal>();

  private constructor(links: Link[], table: RoutingTable) {
    this.#links = new Map(links.map((link) => [link.index, link]));
    this.#table = table;
  }

  /** Reads it from the kernel. @throws Error if the kernel does not return it */
  static read(): RouteTable {
    const links = readLinks();
    return new RouteTable(links, RoutingTable.read(new Map(links.map((link) => [link.index, link]))));
  }

  /** @returns the route, or why there is none ("no route to 10.9.0.1", "interface eth1 is down") */
  lookup(address: Address, force: RouteForce = {}): Route | { problem: string } {
    const known = this.#remembered(address, force);
    return 'because' in known ? { problem: known.because(formatAddress(address), address) } : known;
  }

  /**
   * The addresses that routes put on each Ethernet link itself, without those of this machine. The lookup of each
   * address is authoritative: a rule may route it over another link.
   */
  attached(): Map<Link, AddressSet> {
    return this.#table.attached();
  }

  /** The interface of that name. */
  link(name: string): Link | null {
    return [...this.#links.values()].find((link) => link.name === name) ?? null;
  }

  #remembered(address: Address, force: RouteForce): Route | Refusal {
    const stretch = this.#table.stretchOf(address);
    if (stretch === null) return this.#lookUp(address, force);
    const source = force.source ? formatAddress(force.source) : '';
    const key = `${address.family} ${stretch} ${address.zone ?? ''} ${force.interface ?? ''} ${source}`;
    let known = this.#known.get(key);
    if (known) return known;
    known = this.#lookUp(address, force);
    if (this.#known.size >= maxKnownRoutes) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }

  #lookUp(address: Address, force: RouteForce): Route | Refusal {
    const forced = this.#forcedLink(address, force);
    if ('because' in forced) return forced;
    const refused = force.source && this.#sourceRefusal(force.source, address);
    if (refused) return refused;
    const zoneLink = address.zone === null ? null : forced.link;
    const free = this.#query(address, { source: force.source, link: zoneLink });
    // With a forced interface the kernel reports even an own address as on the link.
    const own = 'type' in free && isOwn(free);
    if (own || forced.link === null || address.zone !== null) {
      return 'because' in free ? free : this.#route(address.family, free);
    }
    return this.#through(forced.link, address, force);
  }

  #through(link: Link, address: Address, { source }: RouteForce): Route | Refusal {
    // Without a route the kernel assumes an IPv4 address on a forced interface itself.
    const entry = this.#query(address, { source, link, flags: fibMatch });
    const found = 'because' in entry ? entry : this.#query(address, { source, link });
    if ('because' in found)
      return { because: (target, to) => `${found.because(target, to)} through ${link.name}` };
    const route = this.#route(address.family, found);
    if ('because' in route || route.index === link.index) return route;
    return { because: (target) => `no route to ${target} through ${link.name}` };
  }

  /** The interface named by the zone of the address or by the constraints. */
  #forcedLink(address: Address, force: RouteForce): { link: Link | null } | Refusal {
    if (address.zone !== null && force.interface && force.interface !== address.zone) {
      return { because: (target) => `${target} is not on the link of interface ${force.interface}` };
    }
    const name = address.zone ?? (force.interface || null);
    if (name === null && isLinkLocal(address)) {
      return { because: (target) => `${target} needs an interface: ${target}%NAME` };
    }
    if (name === null) return { link: null };
    const link = this.link(name);
    if (!link) return { because: () => `no such interface: ${name}` };
    const { problem } = link;
    return problem === null ? { link } : { because: () => problem };
  }

  #sourceRefusal(source: Address, target: Address): Refusal | null {
    const from = formatAddress(source);
    if (source.family !== target.family) return { because: (to) => `${to} is not reachable from ${from}` };
    const zone = source.zone ?? (isLinkLocal(source) ? target.zone : null);
    const found = this.#query(source, { link: zone === null ? null : this.link(zone) });
    if ('type' in found && isOwn(found)) return null;
    return { because: () => `${from} is not an address of this machine` };
  }

  #query(
    address: Address,
    { source, link, flags = 0 }: { source?: Address | undefined; link: Link | null; flags?: number },
  ): Reply | Refusal {
    const header = Buffer.alloc(routeHeaderBytes);
    const destination = addressBytes(address);
    header[0] = kernelFamily[address.family];
    header[1] = destination.length * 8;
    header.writeUInt32LE(flags, 8);
    const parts = [header, attribute(routeAttribute.destination, destination)];
    if (source) {
      const bytes = addressBytes(source);
      header[2] = bytes.length * 8;
      parts.push(attribute(routeAttribute.source, bytes));
    }
    if (link) parts.push(attribute(routeAttribute.interface, u32(link.index)));
    try {
      const body = requestKernel(getRoute, Buffer.concat(parts));
      return { type: body[7] ?? 0, source, attributes: attributesOf(body, routeHeaderBytes) };
    } catch (error) {
      return this.#refusal(error);
    }
  }

  #refusal(error: unknown): Refusal {
    const { errno: code, message } = error as NetlinkError;
    if (code === errno.prohibited) return { because: (target) => `the route to ${target} prohibits it` };
    if (code === errno.invalid) return { because: (target) => `the route to ${target} is a blackhole` };
    if (code !== errno.netUnreachable && code !== errno.hostUnreachable) {
      return { because: (target) => `no route to ${target}: ${message}` };
    }
    return {
      because: (target, to) => {
        const down = this.#table.downLinkOf(to);
        return down ? `no route to ${target}: ${down}` : `no route to ${target}`;
      },
    };
  }

  #route(family: Family, { type, source, attributes }: Reply): Route | Refusal {
    const own = isOwn({ type });
    const index = attributes.get(routeAttribute.interface)?.readInt32LE(0) ?? 0;
    const link = own ? this.#loopback() : this.#links.get(index);
    if (!link) return noRoute;
    const { name, problem } = link;
    if (type === routeType.broadcast)
      return { because: (target) => `${target} is the broadcast address of ${name}` };
    if (type === routeType.multicast) return { because: (target) => `${target} is a multicast address` };
    if (!own && type !== routeType.unicast) return noRoute;
    if (problem !== null) return { because: () => problem };
    const from = source ? addressBytes(source) : attributes.get(routeAttribute.preferredSource);
    if (!from || from.every((byte) => byte === 0)) {
      return { because: (target) => `interface ${name} has no source address for ${target}` };
    }
    // Only the kernel knows what a tunnel of the route adds.
    const ethernet = !own && link.ethernet && !attributes.has(routeAttribute.tunnel);
    return {
      interface: name,
      index: link.index,
      mtu: Math.min(link.mtu, routeMtu(attributes) ?? link.mtu),
      link: ethernet ? 'ethernet' : 'ip',
      family,
      source: Uint8Array.from(from),
      gateway: own ? null : gatewayOf(attributes),
      mac: ethernet ? link.mac : null,
    };
  }

  #loopback(): Link | undefined {
    return [...this.#links.values()].find((link) => link.loopback);
  }
}

/** Response of the kernel for one address. */
interface Reply {
  type: number;
  /** The forced source, or undefined. */
  source: Address | undefined;
  attributes: Attributes;
}

const noRoute: Refusal = { because: (target) => `no route to ${target}` };

function isOwn({ type }: Pick<Reply, 'type'>): boolean {
  return type === routeType.local || type === routeType.anycast;
}

function isLinkLocal({ family, value }: Address): boolean {
  return family === 6 && value >> 118n === 0x3fan;
}

function gatewayOf(attributes: Attributes): Uint8Array | null {
  const gateway = attributes.get(routeAttribute.gateway);
  // struct rtvia: two bytes of family, then the address.
  const via = attributes.get(routeAttribute.via)?.subarray(2);
  const next = gateway ?? via;
  return next && (next.length === 4 || next.length === 16) ? Uint8Array.from(next) : null;
}

function routeMtu(attributes: Attributes): number | null {
  const metrics = attributes.get(routeAttribute.metrics);
  const mtu = metrics && attributesOf(metrics).get(mtuMetric)?.readUInt32LE(0);
  return mtu || null;
}
