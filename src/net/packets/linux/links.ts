import { addressBits, type Family } from '../../../domain/targets/address.ts';
import { attribute as attributeBytes, attributesOf, dumpKernel, requestKernel } from './netlink.ts';

const getLink = 18; // RTM_GETLINK
const headerBytes = 16; // struct ifinfomsg
const attribute = { hardwareAddress: 1, name: 3, mtu: 4 };
const getAddress = 22; // RTM_GETADDR
const addressHeaderBytes = 8; // struct ifaddrmsg
const interfaceAddress = 1; // IFA_ADDRESS
const getNeighbor = 30; // RTM_GETNEIGH
const neighborHeaderBytes = 12; // struct ndmsg
/** NDA_DST, NDA_LLADDR, NUD_REACHABLE, NUD_PERMANENT */
const neighbor = { address: 1, mac: 2, reachable: 0x02, permanent: 0x80 };
const hardwareEthernet = 1; // ARPHRD_ETHER
const flag = { up: 0x1, loopback: 0x8, noArp: 0x80, lowerUp: 0x10000 };

/** A network interface. */
export interface Link {
  name: string;
  index: number;
  /** Bytes of an IP packet. */
  mtu: number;
  /** Carries frames with a MAC header; its neighbors have MAC addresses. */
  ethernet: boolean;
  loopback: boolean;
  /** Why it cannot send, or null. */
  problem: string | null;
  /** 6 bytes; null if there is none. */
  mac: Uint8Array | null;
}

/** Every interface of the network namespace. @throws Error if the kernel does not return them */
export function readLinks(): Link[] {
  return [...dumpKernel(getLink, Buffer.alloc(headerBytes))].flatMap((body) => {
    const link = linkOf(body);
    return link ? [link] : [];
  });
}

/** One interface by its index. @throws Error if the kernel does not return it, or has none */
export function readLink(index: number): Link {
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(index, 4);
  const link = linkOf(requestKernel(getLink, header));
  if (!link) throw new Error(`no interface with index ${index}`);
  return link;
}

function linkOf(body: Buffer): Link | null {
  if (body.length < headerBytes) return null;
  const attributes = attributesOf(body, headerBytes);
  const name = attributes
    .get(attribute.name)
    ?.toString('latin1')
    .replace(/(?<!\0)\0+$/, '');
  if (!name) return null;
  const flags = body.readUInt32LE(8);
  const hardware = attributes.get(attribute.hardwareAddress);
  const mac =
    hardware?.length === 6 && hardware.some((byte) => byte !== 0) ? Uint8Array.from(hardware) : null;
  return {
    name,
    index: body.readInt32LE(4),
    mtu: attributes.get(attribute.mtu)?.readUInt32LE(0) ?? 1500,
    ethernet: body.readUInt16LE(2) === hardwareEthernet && (flags & flag.noArp) === 0 && mac !== null,
    loopback: (flags & flag.loopback) !== 0,
    problem: problemOf(name, flags),
    mac,
  };
}

function problemOf(name: string, flags: number): string | null {
  if ((flags & flag.up) === 0) return `interface ${name} is down`;
  if ((flags & flag.lowerUp) === 0) return `interface ${name} has no carrier`;
  return null;
}

/** An address of an interface, and the network it is in. */
export interface AttachedNetwork {
  index: number;
  family: Family;
  first: bigint;
  last: bigint;
  /** 4 or 16 bytes. */
  address: Uint8Array;
}

/** The networks of all addresses of this machine, of interfaces that are down too. @throws Error as `readLinks` */
export function readNetworks(): AttachedNetwork[] {
  return [...dumpKernel(getAddress, Buffer.alloc(addressHeaderBytes))].flatMap((body) => {
    const address = attributesOf(body, addressHeaderBytes).get(interfaceAddress);
    const family = address?.length === 4 ? 4 : 6;
    const hostBits = BigInt(addressBits[family] - (body[1] ?? 0));
    if (!address || address.length * 8 !== addressBits[family] || hostBits < 0n) return [];
    const first = (BigInt(`0x${address.toString('hex')}`) >> hostBits) << hostBits;
    return [{ index: body.readUInt32LE(4), family, first, last: first + (1n << hostBits) - 1n, address }];
  });
}

/**
 * The kernel's reliable neighbor entry: a MAC that was confirmed recently or set manually.
 * @param address 4 or 16 bytes
 */
export function readNeighbor(index: number, address: Uint8Array): Uint8Array | null {
  const header = Buffer.alloc(neighborHeaderBytes);
  header[0] = address.length === 4 ? 2 : 10;
  header.writeInt32LE(index, 4);
  try {
    const body = requestKernel(
      getNeighbor,
      Buffer.concat([header, attributeBytes(neighbor.address, address)]),
    );
    const mac = attributesOf(body, neighborHeaderBytes).get(neighbor.mac);
    const certain = (body.readUInt16LE(8) & (neighbor.reachable | neighbor.permanent)) !== 0;
    return certain && mac?.length === 6 ? Uint8Array.from(mac) : null;
  } catch {
    // No entry, or an older kernel that cannot return a single one.
    return null;
  }
}
