import { networkInterfaces } from 'node:os';
import type { FieldProblem } from '../domain/errors.ts';
import {
  type Address,
  addressBytes,
  type Family,
  formatAddress,
  parseAddress,
} from '../domain/targets/address.ts';
import type { AddressSet } from '../domain/targets/address-set.ts';
import { scopeIdOf } from './interface-index.ts';
import { localAddresses } from './local-addresses.ts';
import { readLinks } from './packets/linux/links.ts';
import type { RouteForce } from './packets/linux/route.ts';

/** What is chosen of the way out of this machine; empty and 0: the routing table and the kernel choose. */
export interface EgressChoice {
  interface: string;
  sourceIp: string;
  /** Of raw TCP packets and UDP probes; connections have ports of their own. */
  sourcePort: number;
}

/** What a socket must be bound to before it sends. Plain data: it crosses threads. */
export interface SocketEgress {
  family: Family;
  /** Interface name; empty = any. */
  device: string;
  /** Source address; null = the kernel's choice. */
  source: BoundAddress | null;
  /** An address of the device, for kernels that do not let this process bind to a device. */
  deviceSource: BoundAddress | null;
  /** 0 = any. */
  port: number;
}

export interface BoundAddress {
  /** 4 or 16 bytes. */
  bytes: Uint8Array;
  /** Interface index of a link-local IPv6 address, else 0. */
  scopeId: number;
  text: string;
}

/** Why this machine cannot send that way, with the name of the field that says so; null if it can. */
export function egressProblem({ interface: link, sourceIp }: EgressChoice): FieldProblem | null {
  if (link !== '' && !hasInterface(link)) return { field: 'interface', reason: `no such interface: ${link}` };
  const source = sourceIp === '' ? null : parseAddress(sourceIp);
  const isOwn = source !== null && localAddresses().has(formatAddress({ ...source, zone: null }));
  if (sourceIp === '' || isOwn) return null;
  return { field: 'source_ip', reason: `${sourceIp} is not an address of this machine` };
}

/** The way out of this machine of all packets of a scan. */
export class Egress {
  readonly choice: EgressChoice;
  readonly #source: Address | null;
  #own: AddressSet | null = null;

  constructor(choice: Partial<EgressChoice> = {}) {
    this.choice = { interface: '', sourceIp: '', sourcePort: 0, ...choice };
    this.#source = parseAddress(this.choice.sourceIp);
  }

  /** For routes of raw packets. */
  get force(): RouteForce {
    const { interface: link } = this.choice;
    return { ...(link !== '' && { interface: link }), ...(this.#source && { source: this.#source }) };
  }

  /** Why nothing can be sent to an address this way, whatever the routes; null if it can. */
  refusal(address: Address): string | null {
    const isOther = this.#source !== null && this.#source.family !== address.family;
    if (isOther) return `not reachable from ${this.choice.sourceIp}`;
    const isAnywhere = isLinkLocal(address) && address.zone === null && this.choice.interface === '';
    return isAnywhere ? 'a link-local address needs an interface: fe80::1%NAME' : null;
  }

  /** Whether an address is reached through loopback, whatever interface was chosen. */
  isLocal(address: Address): boolean {
    if (this.choice.interface === '') return false;
    this.#own ??= localAddresses();
    return this.#own.hasAddress({ ...address, zone: null });
  }

  /**
   * What a socket needs that sends to addresses of a family; null = nothing.
   * @param local the addresses are those of this machine
   */
  socket(family: Family, local: boolean): SocketEgress | null {
    const { interface: link, sourcePort } = this.choice;
    const device = local ? '' : link;
    // Two sockets of a family cannot have the same port.
    const port = local ? 0 : sourcePort;
    if (device === '' && this.#source === null && port === 0) return null;
    return {
      family,
      device,
      source: this.#source && bound(this.#source, device),
      deviceSource: addressOf(device, family),
      port,
    };
  }

  /** `socket` for a connection to one address. */
  connectionTo(address: Address): SocketEgress | null {
    const needed = this.socket(address.family, this.isLocal(address));
    if (needed === null || (needed.device === '' && needed.source === null)) return null;
    return { ...needed, port: 0 };
  }
}

function hasInterface(name: string): boolean {
  try {
    return readLinks().some((link) => link.name === name);
  } catch {
    return Object.hasOwn(networkInterfaces(), name);
  }
}

function addressOf(device: string, family: Family): BoundAddress | null {
  const entries = device === '' ? [] : (networkInterfaces()[device] ?? []);
  const addresses = entries.flatMap(({ address }) => parseAddress(address) ?? []);
  const [first] = addresses
    .filter((address) => address.family === family)
    .sort((one, other) => Number(isLinkLocal(one)) - Number(isLinkLocal(other)));
  return first ? bound(first, device) : null;
}

function bound(address: Address, device: string): BoundAddress {
  const zone = address.zone ?? (isLinkLocal(address) && device !== '' ? device : null);
  return {
    bytes: addressBytes(address),
    scopeId: scopeIdOf(zone),
    text: formatAddress({ ...address, zone }),
  };
}

function isLinkLocal({ family, value }: Address): boolean {
  return family === 6 && value >> 118n === 0x3fan;
}
