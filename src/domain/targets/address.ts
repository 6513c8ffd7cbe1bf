import { addressFamily } from './address-family.ts';

export type Family = 4 | 6;

export interface Address {
  family: Family;
  /** The 32 or 128 bits as a number. */
  value: bigint;
  /** Interface of a link-local IPv6 address (RFC 4007), else null. */
  zone: string | null;
}

/** A block of addresses in CIDR notation, host bits cleared. */
export interface Network {
  family: Family;
  first: bigint;
  last: bigint;
  /** Prefix length, 0..32 or 0..128. */
  prefix: number;
  zone: string | null;
}

/** Bits of an address of each family. */
export const addressBits = { 4: 32, 6: 128 } as const;

/** `::ffff:0:0/96` (RFC 4291 section 2.5.5.2): other spellings of the IPv4 addresses. */
export const ipv4Mapped = { first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn } as const;

/** Linux interface names have at most 15 bytes; `addressFamily` accepts these letters in a zone, and the colon. */
const zonePattern = /^[0-9A-Za-z.-]{1,15}$/;

/**
 * The one address parser. Takes dotted-quad IPv4 and RFC 4291 IPv6 and nothing else: no leading zeros, no hex, octal,
 * integer or short IPv4. An IPv4-mapped IPv6 address is the IPv4 address. A zone is taken on fe80::/10 only.
 *
 * @returns null for everything that is not an address
 */
export function parseAddress(text: string): Address | null {
  const family = addressFamily(text);
  if (family === 4) return { family: 4, value: BigInt(ipv4Value(text)), zone: null };
  if (family === 6) return parseIpv6(text);
  return null;
}

function parseIpv6(text: string): Address | null {
  const [digits, zone = null] = text.split('%') as [string, string?];
  const value = ipv6Value(digits);
  if (zone !== null && !(isLinkLocal(value) && zonePattern.test(zone))) return null;
  if (value >= ipv4Mapped.first && value <= ipv4Mapped.last) {
    return { family: 4, value: value - ipv4Mapped.first, zone: null };
  }
  return { family: 6, value, zone };
}

const dot = 46;
const zero = 48;

/** Parses a text that is known to be a dotted quad. Sweeps read millions of them. */
function ipv4Value(text: string): number {
  let value = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot) {
      value = value * 256 + octet;
      octet = 0;
    } else octet = octet * 10 + code - zero;
  }
  return value * 256 + octet;
}

/** Parses a text that is known to be IPv6 without zone. */
function ipv6Value(text: string): bigint {
  const [head, tail] = text.split('::') as [string, string?];
  const left = hextets(head);
  const right = tail === undefined ? [] : hextets(tail);
  const zeros = new Array<string>(8 - left.length - right.length).fill('0000');
  return BigInt(`0x${[...left, ...zeros, ...right].join('')}`);
}

/** 16-bit groups as four hex digits each; a dotted quad at the end is two of them. */
function hextets(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [group.padStart(4, '0')];
    const quad = ipv4Value(group).toString(16).padStart(8, '0');
    return [quad.slice(0, 4), quad.slice(4)];
  });
}

function isLinkLocal(ipv6: bigint): boolean {
  return ipv6 >> 118n === 0x3fan;
}

/** `10.0.0.0/24`, `2001:db8::/32`, `fe80::%eth0/64`. Host bits are cleared. @returns null if not a CIDR block */
export function parseNetwork(text: string): Network | null {
  const slash = text.lastIndexOf('/');
  const base = parseAddress(text.slice(0, Math.max(0, slash)));
  const prefixText = text.slice(slash + 1);
  if (slash < 0 || base === null || !/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return null;
  // The prefix of an IPv4-mapped block counts from the start of the IPv6 address: 96 bits say "mapped".
  const mapped = base.family === 4 && text.includes(':');
  const prefix = Number(prefixText) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > addressBits[base.family]) return null;
  // A block wider than fe80::/10 contains addresses that have no zone.
  if (base.zone !== null && prefix < 10) return null;
  const hostBits = BigInt(addressBits[base.family] - prefix);
  const first = (base.value >> hostBits) << hostBits;
  return { family: base.family, first, last: first + (1n << hostBits) - 1n, prefix, zone: base.zone };
}

/** The canonical text: dotted quad, or RFC 5952 with `%zone`. */
export function formatAddress(address: Address): string {
  if (address.family === 4) return formatIpv4(Number(address.value));
  const text = formatIpv6(address.value);
  return address.zone === null ? text : `${text}%${address.zone}`;
}

/** @param value 0..2^32-1 */
export function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function formatIpv6(value: bigint): string {
  const hex = value.toString(16).padStart(32, '0');
  const groups: string[] = [];
  for (let at = 0; at < 32; at += 4) groups.push(Number.parseInt(hex.slice(at, at + 4), 16).toString(16));
  const zeros = longestZeroRun(groups);
  if (zeros.length < 2) return groups.join(':');
  const head = groups.slice(0, zeros.start).join(':');
  const tail = groups.slice(zeros.start + zeros.length).join(':');
  return `${head}::${tail}`;
}

/** The first of the longest runs, as RFC 5952 section 4.2.3 requires. */
function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let at = 0; at <= groups.length; at++) {
    if (groups[at] === '0') continue;
    if (at - start > best.length) best = { start, length: at - start };
    start = at + 1;
  }
  return best;
}

/** The canonical text of any accepted spelling, or null when the text is not an address. */
export function canonicalAddress(text: string): string | null {
  const address = parseAddress(text);
  return address === null ? null : formatAddress(address);
}

/** Orders address texts: IPv4 before IPv6, then by number, then by zone; other texts come last. */
export function compareAddresses(a: string, b: string): number {
  const left = parseAddress(a);
  const right = parseAddress(b);
  if (left === null || right === null) {
    return Number(left === null) - Number(right === null) || compare(a, b);
  }
  return (
    left.family - right.family ||
    compare(left.value, right.value) ||
    compare(left.zone ?? '', right.zone ?? '')
  );
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The address of 4 or 16 bytes, network order. */
export function addressText(bytes: Uint8Array): string {
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return formatAddress({ family: bytes.length === 4 ? 4 : 6, value, zone: null });
}

/** The 4 or 16 bytes of an address, network order. */
export function addressBytes({ family, value }: Address): Uint8Array {
  const hex = value.toString(16).padStart(family === 4 ? 8 : 32, '0');
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}
