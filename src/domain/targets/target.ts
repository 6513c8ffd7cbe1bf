import { networkInterfaces } from 'node:os';
import { type Address, addressBits, formatAddress, parseAddress, parseNetwork } from './address.ts';
import { AddressSet, type Interval, unicastAddresses } from './address-set.ts';

/** One item of a target list, in canonical spelling. */
export interface Target {
  value: string;
  kind: 'ip' | 'cidr' | 'range' | 'hostname';
  /** The address, if the target is exactly one. */
  ip?: string;
}

export interface TargetProblem {
  /** Position in the given list. */
  index: number;
  /** The item itself: of a comma list only the bad part. */
  value: string;
  reason: string;
}

/** One occurrence of a target in the given list. */
export interface TargetItem {
  /** Position in the given list. */
  index: number;
  /** The item itself: of a comma list only this part. */
  value: string;
  meaning: Meaning;
}

export interface TargetList {
  /** Every valid item, in the given order, duplicates too. */
  items: TargetItem[];
  /** Deduplicated, in the given order. */
  targets: Target[];
  /** Addresses to scan. */
  addresses: AddressSet;
  /** The same including the network and broadcast addresses of CIDR blocks, for exclusion lists. */
  covered: AddressSet;
  /** Lower case, deduplicated, in the given order. */
  hostnames: string[];
  problems: TargetProblem[];
}

/** Meaning of one item. `skipEnds`: the first and last address are not hosts (network and broadcast address). */
interface Meaning {
  target: Target;
  interval?: Interval;
  skipEnds?: boolean;
}

type Reading = Meaning | { reason: string };

const ambiguousRange =
  'ambiguous: a range starts with an address (10.0.0.10-20), and the last label of a host name contains a letter';

const notATarget = 'not an IP address, CIDR, range or host name';

/** Longer than any name or range; spares the readers below. */
const maxItemLength = 255;
/** Maximum length of a host name, characters (RFC 1035). */
const maxNameLength = 253;
/** Maximum length of a label of a host name, characters (RFC 1035). */
const maxLabelLength = 63;

/** Maximum number of listed problems: a hostile list of a million commas must not produce a response of that size. */
const maxProblems = 10_000;

/** Names of the interfaces of this machine. */
type Interfaces = Pick<ReadonlySet<string>, 'has'>;

/** For targets validated elsewhere: an interface may be missing on this machine. */
export const anyInterface: Interfaces = { has: () => true };

/**
 * Parses targets: addresses, CIDR blocks, ranges and host names; each string may be a comma list. Reports every bad
 * item; the other fields contain the good ones. Resolves no names and expands no ranges.
 * @param interfaces names allowed as a zone (`fe80::1%eth0`); by default the interfaces of this machine
 */
export function parseTargets(values: readonly string[], interfaces?: Interfaces): TargetList {
  const meanings = new Map<string, Meaning>();
  const items: TargetItem[] = [];
  const problems: TargetProblem[] = [];
  const knownInterfaces = lazy(() => interfaces ?? localInterfaces());
  for (const [index, value] of values.entries()) {
    for (const item of value.split(',').map(trimBlanks)) {
      const reading = readItem(item, knownInterfaces);
      if (!('reason' in reading)) {
        meanings.set(reading.target.value, reading);
        items.push({ index, value: item, meaning: reading });
      } else if (problems.length < maxProblems) {
        problems.push({ index, value: shorten(item), reason: reading.reason });
      }
    }
  }
  return { items, ...collect([...meanings.values()]), problems };
}

/** The addresses to scan of one item; none of a host name. */
export function addressesOf({ meaning }: TargetItem): AddressSet {
  return collect([meaning]).addresses;
}

/** How many items `parseTargets` would read, without reading them. */
export function countItems(values: readonly string[]): number {
  let count = values.length;
  for (const value of values) {
    for (let comma = value.indexOf(','); comma >= 0; comma = value.indexOf(',', comma + 1)) count += 1;
  }
  return count;
}

/** How many hosts a list names; a host name counts as one. */
export function countAddresses(list: TargetList): bigint {
  return list.addresses.size + BigInt(list.hostnames.length);
}

function collect(meanings: readonly Meaning[]): Omit<TargetList, 'items' | 'problems'> {
  const covered = meanings.flatMap(({ interval }) => interval ?? []);
  const hosts = meanings.flatMap(({ interval, skipEnds }) => {
    if (interval === undefined) return [];
    return skipEnds ? { ...interval, first: interval.first + 1n, last: interval.last - 1n } : interval;
  });
  const targets = meanings.map(({ target }) => target);
  return {
    targets,
    addresses: AddressSet.of(hosts).intersect(unicastAddresses),
    covered: AddressSet.of(covered),
    hostnames: targets.filter(({ kind }) => kind === 'hostname').map(({ value }) => value),
  };
}

function readItem(item: string, interfaces: () => Interfaces): Reading {
  const unreadable = refuseText(item);
  if (unreadable !== null) return { reason: unreadable };
  const reading = readCidr(item) ?? readSingle(item) ?? readRange(item) ?? readName(item);
  if ('reason' in reading) return reading;
  const unusable = refuseInterval(reading, interfaces);
  return unusable === null ? reading : { reason: unusable };
}

/** Rejects texts that cannot be any kind of target. */
function refuseText(item: string): string | null {
  if (item === '') return 'is empty';
  if (item.length > maxItemLength) return `${notATarget}: longer than ${maxItemLength} characters`;
  if (/\p{Cc}/u.test(item)) return `${notATarget}: contains a control character`;
  if (/[^\x20-\x7e]/.test(item)) {
    return `${notATarget}: contains non-ASCII characters; write an international name as its A-label (xn--...)`;
  }
  if (item.startsWith('-')) return `${notATarget}: starts with "-"`;
  if (item.includes('://')) return `${notATarget}: a URL; give its host alone`;
  if (item.includes(' ')) return `${notATarget}: contains a blank; separate targets with commas`;
  return null;
}

function readCidr(item: string): Reading | null {
  if (!item.includes('/')) return null;
  const network = parseNetwork(item);
  if (network === null) return { reason: cidrReason(item) };
  const { family, first, last, prefix, zone } = network;
  const value = `${formatAddress({ family, value: first, zone })}/${prefix}`;
  return {
    target: { value, kind: 'cidr' },
    interval: { family, first, last, zone },
    skipEnds: family === 4 && prefix >= 1 && prefix <= 30,
  };
}

function cidrReason(item: string): string {
  const [base, prefix] = item.split('/') as [string, string];
  const address = parseAddress(base);
  if (address === null) return `${notATarget}: ${base === '' ? 'nothing' : 'not an IP address'} before "/"`;
  if (base.includes(':') && address.family === 4)
    return `${notATarget}: the prefix of an IPv4-mapped block is a number from 96 to 128`;
  const most = addressBits[address.family];
  return `${notATarget}: the prefix of an IPv${address.family} block is a number from 0 to ${most}, not "${prefix}"`;
}

function readSingle(item: string): Reading | null {
  const address = parseAddress(item);
  if (address === null) return null;
  const ip = formatAddress(address);
  const { family, value, zone } = address;
  return { target: { value: ip, kind: 'ip', ip }, interval: { family, first: value, last: value, zone } };
}

/** A hyphen also occurs in names and zones, so the first one with an address on both sides separates a range. */
function readRange(item: string): Reading | null {
  for (let hyphen = item.indexOf('-'); hyphen > 0; hyphen = item.indexOf('-', hyphen + 1)) {
    const from = parseAddress(item.slice(0, hyphen));
    if (from === null) continue;
    const end = item.slice(hyphen + 1);
    const to = parseAddress(end) ?? lastOctetEnd(from, end);
    if (to !== null) return rangeOf(from, to);
    if (/^(?:0x[\da-f]*|[\d.]+)$/i.test(end)) {
      return {
        reason: `${notATarget}: a range ends with an address, or with its last octet as a number from 0 to 255`,
      };
    }
  }
  return null;
}

/** The end of `10.0.0.10-20`. */
function lastOctetEnd(from: Address, end: string): Address | null {
  if (from.family !== 4 || !/^(?:0|[1-9]\d{0,2})$/.test(end) || Number(end) > 255) return null;
  return { ...from, value: (from.value & ~0xffn) | BigInt(end) };
}

function rangeOf(from: Address, to: Address): Reading {
  if (from.family !== to.family) return { reason: 'a range from an IPv4 to an IPv6 address' };
  if (from.zone !== to.zone) return { reason: 'a range over different zones' };
  if (from.value > to.value) return { reason: 'a reversed range: it ends before it starts' };
  const value = `${formatAddress(from)}-${formatAddress(to)}`;
  const { family, zone } = from;
  return { target: { value, kind: 'range' }, interval: { family, first: from.value, last: to.value, zone } };
}

function readName(item: string): Reading {
  const name = item.toLowerCase().replace(/\.$/, '');
  if (isNumbersWithHyphens(name)) return { reason: ambiguousRange };
  const reason = refuseName(name);
  if (reason !== null) return { reason: reason === '' ? notATarget : `${notATarget}: ${reason}` };
  return { target: { value: name, kind: 'hostname' } };
}

/** `10-20`: the end of a range without its start, or the first label of a name. */
function isNumbersWithHyphens(name: string): boolean {
  return /^[\d-]+$/.test(name) && name.includes('-');
}

/** Why a text is not a host name; an empty text if there is no further detail. */
function refuseName(name: string): string | null {
  const labels = name.split('.');
  const last = labels.at(-1) as string;
  if (name.includes('%')) return 'only a link-local address (fe80::/10) has a zone, the name of an interface';
  if (isHostAndPort(name)) return 'a host with a port; give the host alone, and the port as a port to scan';
  if (!/^[a-z0-9._-]+$/.test(name)) return '';
  if (labels.some((label) => label.length === 0)) return 'empty label between dots';
  // Resolvers accept 127.1, 2130706433 and 0x7f000001 as addresses, so a name must not end in a number.
  if (/^0x[0-9a-f]*$/.test(last)) return 'hexadecimal addresses are not supported';
  if (!/[a-z]/.test(last)) return numericReason(labels);
  if (name.length > maxNameLength) return `a host name has at most ${maxNameLength} characters`;
  if (labels.some((label) => label.length > maxLabelLength))
    return `a label has at most ${maxLabelLength} characters`;
  return null;
}

function isHostAndPort(text: string): boolean {
  return /^\[.*\](?::\d*)?$/.test(text) || /^[^:]+:\d*$/.test(text);
}

function numericReason(labels: readonly string[]): string {
  if (!labels.every((label) => /^(?:\d+|0x[0-9a-f]+)$/.test(label)))
    return 'the last label of a host name must contain a letter';
  if (labels.some((label) => /^0./.test(label)))
    return 'write IPv4 numbers in decimal, without leading zeros';
  return labels.length === 4 ? '' : 'an IPv4 address has four decimal numbers';
}

function refuseInterval({ interval }: Meaning, interfaces: () => Interfaces): string | null {
  if (interval === undefined) return null;
  const { zone = null } = interval;
  if (zone !== null && !interfaces().has(zone)) return `no network interface "${zone}"`;
  const kind = notUnicastKind(interval);
  return kind === null ? null : `${kind} cannot be scanned`;
}

/** The kind of addresses if no address of the interval can be a single host. */
function notUnicastKind({ family, first, last }: Interval): string | null {
  if (last === 0n) return family === 4 ? 'the unspecified address 0.0.0.0' : 'the unspecified address ::';
  if (family === 6) return first >> 120n === 0xffn ? 'multicast addresses (ff00::/8)' : null;
  if (first === 0xffff_ffffn) return 'the limited broadcast address 255.255.255.255';
  if (first >> 28n === 0xen && last >> 28n === 0xen) return 'multicast addresses (224.0.0.0/4)';
  return null;
}

/** Blanks only: a line break inside a target indicates a broken list or an attack. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text, from)) from += 1;
  while (to > from && isBlank(text, to - 1)) to -= 1;
  return text.slice(from, to);
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}

function shorten(text: string): string {
  return text.length <= maxItemLength ? text : `${text.slice(0, maxItemLength)}…`;
}

function localInterfaces(): Interfaces {
  return new Set(['lo', ...Object.keys(networkInterfaces())]);
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
