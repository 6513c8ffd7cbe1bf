import { networkInterfaces } from 'node:os';
import { domainToASCII } from 'node:url';
import {
  type Address,
  addressBits,
  type Family,
  formatAddress,
  parseAddress,
  parseNetwork,
} from './address.ts';
import { AddressSet, type Interval, unicastAddresses } from './address-set.ts';
import { hasOctetRanges, maxOctetIntervals, readOctetRanges } from './octet-ranges.ts';

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
  /** CIDR blocks around the addresses of names, deduplicated, in the given order. */
  namedNetworks: NamedNetwork[];
  problems: TargetProblem[];
}

/** `host.example/28`: the block of that prefix length around an address of the name. */
export interface NamedNetwork {
  /** In canonical spelling. */
  value: string;
  name: string;
  /** Of the addresses of the name that count: a prefix length up to 32 means IPv4, a longer one IPv6. */
  family: Family;
  prefix: number;
}

/** Meaning of one item. `skipEnds`: the first and last address are not hosts (network and broadcast address). */
interface Meaning {
  target: Target;
  /** None of a name. */
  intervals: Interval[];
  skipEnds?: boolean;
  network?: NamedNetwork;
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
  // Counted before anything is expanded: a hostile list takes no more than one text.
  let room = maxOctetIntervals;
  for (const [index, value] of values.entries()) {
    for (const item of itemsOf(value)) {
      const reading = readItem(item, knownInterfaces, room);
      if (!('reason' in reading)) {
        if (reading.intervals.length > 1) room -= reading.intervals.length;
        meanings.set(reading.target.value, reading);
        items.push({ index, value: item, meaning: reading });
      } else if (problems.length < maxProblems) {
        problems.push({ index, value: shorten(item), reason: reading.reason });
      }
    }
  }
  return { items, ...collect([...meanings.values()]), problems };
}

/** The items of a comma list. A number in an octet may be a list too: `10.0.0-3.1,7` is one item. */
function itemsOf(value: string): string[] {
  const whole = trimBlanks(value);
  return hasOctetRanges(whole) ? [whole] : value.split(',').map(trimBlanks);
}

/**
 * Targets of a text that separates them by commas, blanks, tabs or lines, also by both. Empty ones between commas are
 * retained: they are mistakes to report.
 */
export function splitTargets(text: string): string[] {
  const words = text.trim().split(/\s+/);
  const last = words.length - 1;
  return words.flatMap((word, at) => {
    if (word === ',' && last > 0) return [];
    const from = at > 0 && word.startsWith(',') ? 1 : 0;
    const to = at < last && word.endsWith(',') ? -1 : undefined;
    return itemsOf(word.slice(from, to));
  });
}

/** The addresses to scan of one item; none of a host name. */
export function addressesOf({ meaning }: TargetItem): AddressSet {
  return collect([meaning]).addresses;
}

/** How many items `parseTargets` would read at most, without reading them; numbers of a list in an octet count too. */
export function countItems(values: readonly string[]): number {
  let count = values.length;
  for (const value of values) {
    for (let comma = value.indexOf(','); comma >= 0; comma = value.indexOf(',', comma + 1)) count += 1;
  }
  return count;
}

/** How many hosts a list names; a host name counts as one. */
export function countAddresses(list: TargetList): bigint {
  return list.addresses.size + countNamed(list);
}

/** How many hosts the names of a list stand for before they are resolved. */
export function countNamed({
  hostnames,
  namedNetworks,
}: Pick<TargetList, 'hostnames' | 'namedNetworks'>): bigint {
  return namedNetworks.reduce(
    (sum, { family, prefix }) =>
      sum + (1n << BigInt(addressBits[family] - prefix)) - (skipsEnds(family, prefix) ? 2n : 0n),
    BigInt(hostnames.length),
  );
}

function collect(meanings: readonly Meaning[]): Omit<TargetList, 'items' | 'problems'> {
  const covered = AddressSet.of(meanings.flatMap(({ intervals }) => intervals));
  const hosts = meanings.some(({ skipEnds }) => skipEnds)
    ? AddressSet.of(
        meanings.flatMap(({ intervals, skipEnds }) => (skipEnds ? intervals.map(withoutEnds) : intervals)),
      )
    : covered;
  const targets = meanings.map(({ target }) => target);
  return {
    targets,
    addresses: hosts.intersect(unicastAddresses),
    covered,
    hostnames: targets.filter(({ kind }) => kind === 'hostname').map(({ value }) => value),
    namedNetworks: meanings.flatMap(({ network }) => network ?? []),
  };
}

function withoutEnds(interval: Interval): Interval {
  return { ...interval, first: interval.first + 1n, last: interval.last - 1n };
}

/** @param room separate intervals that octet ranges may make */
function readItem(item: string, interfaces: () => Interfaces, room: number): Reading {
  const unreadable = refuseText(item);
  if (unreadable !== null) return { reason: unreadable };
  const text = withoutBrackets(item);
  const reading =
    readCidr(text) ?? readSingle(text) ?? readRange(text) ?? readOctets(text, room) ?? readName(text);
  if ('reason' in reading) return reading;
  const unusable = refuseInterval(reading, interfaces);
  return unusable === null ? reading : { reason: unusable };
}

/** The addresses of an address, CIDR block or range, multicast too, for rules; null for any other text. */
export function readIntervals(text: string): Interval[] | null {
  const item = withoutBrackets(text);
  const reading =
    readCidr(item) ?? readSingle(item) ?? readRange(item) ?? readOctets(item, maxOctetIntervals);
  return reading === null || 'reason' in reading || reading.network ? null : reading.intervals;
}

/** Rejects texts that cannot be any kind of target. */
function refuseText(item: string): string | null {
  if (item === '') return 'is empty';
  if (item.length > maxItemLength && !hasOctetRanges(item)) return `longer than ${maxItemLength} characters`;
  if (/[\r\n]/.test(item)) return 'contains a line break; each line is a target of its own';
  if (/[^\P{Cc}\t]/u.test(item)) return 'contains a control character';
  if (/[^\t\x20-\x7e]/.test(item)) {
    return `contains non-ASCII characters; write ${asciiSpelling(item) ?? 'an international name as its A-label (xn--...)'}`;
  }
  if (item === '-') return 'a hyphen alone; a range has no blanks: 10.0.0.1-9';
  if (item.startsWith('-')) return 'starts with "-"';
  if (item.includes('://')) return `a URL; give its host alone${hostHint(hostOfUrl(item))}`;
  if (item.includes(';')) return 'contains ";"; separate targets with commas';
  if (/[ \t]/.test(item)) {
    const range = item.replaceAll(/[ \t]/g, '');
    const isRange = readRange(range) !== null;
    return `contains a blank; ${isRange ? `write ${range}` : 'separate targets with commas'}`;
  }
  return null;
}

/** The host of a URL; an empty text if it has none. */
function hostOfUrl(url: string): string {
  const rest = url.slice(url.indexOf('://') + 3);
  const authority = rest.slice(0, rest.search(/[/?#]|$/));
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
}

function hostHint(host: string): string {
  return host === '' ? '' : `: ${host}`;
}

/** `[2001:db8::1]`, as an IPv6 address stands in URLs, without the brackets. */
function withoutBrackets(item: string): string {
  const end = item.indexOf(']');
  if (!item.startsWith('[') || end < 0) return item;
  const [address, rest] = [item.slice(1, end), item.slice(end + 1)];
  return address.includes(':') && /^(?:\/\d{1,3})?$/.test(rest) ? address + rest : item;
}

function readCidr(item: string): Reading | null {
  if (!item.includes('/')) return null;
  const network = parseNetwork(item);
  if (network === null) return readNamedNetwork(item) ?? { reason: cidrReason(item) };
  const { family, first, last, prefix, zone } = network;
  const value = `${formatAddress({ family, value: first, zone })}/${prefix}`;
  return {
    target: { value, kind: 'cidr' },
    intervals: [{ family, first, last, zone }],
    skipEnds: skipsEnds(family, prefix),
  };
}

function skipsEnds(family: Family, prefix: number): boolean {
  return family === 4 && prefix >= 1 && prefix <= 30;
}

/** `host.example/28` */
function readNamedNetwork(item: string): Reading | null {
  const [host = '', length = '', ...more] = item.split('/');
  const name = canonicalName(host);
  const prefix = prefixOf(length);
  if (more.length > 0 || prefix === null || isNumbersWithHyphens(name) || refuseName(name) !== null)
    return null;
  const value = `${name}/${prefix}`;
  const family = prefix <= addressBits[4] ? 4 : 6;
  return { target: { value, kind: 'cidr' }, intervals: [], network: { value, name, family, prefix } };
}

function prefixOf(text: string): number | null {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) <= addressBits[6] ? Number(text) : null;
}

function cidrReason(item: string): string {
  const slash = item.indexOf('/');
  const [base, prefix] = [item.slice(0, slash), item.slice(slash + 1)];
  const address = parseAddress(base);
  if (address === null) return baseReason(base, prefix);
  if (base.includes(':') && address.family === 4)
    return 'the prefix of an IPv4-mapped block is a number from 96 to 128';
  if (prefix === '') return `nothing behind "/"; write ${base}`;
  const most = addressBits[address.family];
  const netmask = address.family === 4 ? lengthOfNetmask(prefix) : null;
  const hint = netmask === null ? '' : `; write ${base}/${netmask}`;
  return `the prefix of an IPv${address.family} block is a number from 0 to ${most}, not "${prefix}"${hint}`;
}

/** Why the text before a `/` is neither an address nor a name with a prefix length. */
function baseReason(base: string, prefix: string): string {
  if (base === '') return 'nothing before "/"';
  if (prefix === '' && refuseName(canonicalName(base)) === null) return `nothing behind "/"; write ${base}`;
  if (hasOctetRanges(base)) return 'octet ranges have no prefix length; give the numbers, as in 10.0.0-3.*';
  if (/^\d{1,3}(?:\.\d{1,3}){0,2}$/.test(base) && prefixOf(prefix) !== null) {
    const missing = 4 - base.split('.').length;
    return `an IPv4 address has four decimal numbers; write ${base}${'.0'.repeat(missing)}/${prefix}`;
  }
  if (prefixOf(prefix) === null && refuseName(canonicalName(base)) === null)
    return `"/${prefix}" is no prefix length, a number from 0 to 128; write ${base}`;
  return 'not an IP address or host name before "/"';
}

/** The prefix length of `255.255.255.0`; null for any other text. */
function lengthOfNetmask(text: string): number | null {
  const address = parseAddress(text);
  if (address?.family !== 4) return null;
  const bits = address.value.toString(2).padStart(addressBits[4], '0');
  return /^1+0*$/.test(bits) ? bits.replaceAll('0', '').length : null;
}

function readSingle(item: string): Reading | null {
  const address = parseAddress(item);
  if (address === null) return null;
  const ip = formatAddress(address);
  const { family, value, zone } = address;
  return { target: { value: ip, kind: 'ip', ip }, intervals: [{ family, first: value, last: value, zone }] };
}

/** A hyphen also occurs in names and zones, so the first one with an address on both sides separates a range. */
function readRange(item: string): Reading | null {
  for (let hyphen = item.indexOf('-'); hyphen > 0; hyphen = item.indexOf('-', hyphen + 1)) {
    const from = parseAddress(item.slice(0, hyphen));
    if (from === null) continue;
    const end = item.slice(hyphen + 1);
    const to = parseAddress(end) ?? lastOctetEnd(from, end);
    if (to !== null) return rangeOf(from, to);
    if (from.family === 6 && /^[\da-f]{1,4}$/i.test(end))
      return { reason: `a range of IPv6 addresses ends with an address${lastGroupHint(from, end)}` };
    if (/^(?:0x[\da-f]*|[\d.]+)$/i.test(end)) {
      return {
        reason: 'a range ends with an address, or with its last octet as a number from 0 to 255',
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

/** What `2001:db8::1-ff` may mean. */
function lastGroupHint(from: Address, end: string): string {
  const to = { ...from, value: (from.value & ~0xffffn) | BigInt(`0x${end}`) };
  return to.value < from.value ? '' : `; write ${formatAddress(from)}-${formatAddress(to)}`;
}

function rangeOf(from: Address, to: Address): Reading {
  if (from.family !== to.family) return { reason: 'a range from an IPv4 to an IPv6 address' };
  if (from.zone !== to.zone) return { reason: 'a range over different zones' };
  if (from.value > to.value) return { reason: 'a reversed range: it ends before it starts' };
  const value = `${formatAddress(from)}-${formatAddress(to)}`;
  const { family, zone } = from;
  const interval = { family, first: from.value, last: to.value, zone };
  return { target: { value, kind: 'range' }, intervals: [interval] };
}

/** `10.0.0-3.1,7`, `10.0.*.5` */
function readOctets(item: string, room: number): Reading | null {
  if (!hasOctetRanges(item)) return null;
  const ranges = readOctetRanges(item, room);
  if ('reason' in ranges) return ranges;
  return { target: { value: ranges.value, kind: 'range' }, intervals: ranges.intervals };
}

function readName(item: string): Reading {
  const name = canonicalName(item);
  if (isNumbersWithHyphens(name)) return { reason: ambiguousRange };
  const reason = refuseName(name);
  if (reason !== null) return { reason: reason === '' ? notATarget : reason };
  return { target: { value: name, kind: 'hostname' }, intervals: [] };
}

function canonicalName(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
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
  if (name.endsWith(':') && !name.endsWith('::')) return `ends with a colon; write ${name.slice(0, -1)}`;
  if (isHostAndPort(name)) return 'a host with a port; give the host alone, and the port as a port to scan';
  if (/^\[.*\]$/.test(name)) return 'brackets are for IPv6 addresses';
  if (name.includes('*')) return wildcardReason(name, labels.length);
  if (name.startsWith('@')) return 'a list file, which only the command line reads';
  if (name.includes('@')) return `has a user name; write ${name.slice(name.lastIndexOf('@') + 1)}`;
  if (/^["'][^"']+["']$/.test(name)) return `stands in quotes; write ${name.slice(1, -1)}`;
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

function wildcardReason(name: string, labels: number): string {
  if (name.includes(':'))
    return 'IPv6 addresses have no wildcards; a prefix length is a block: 2001:db8::/64';
  if (!/^[\d.*-]+$/.test(name)) return 'names have no wildcards; list them';
  return `octet ranges are four numbers${labels > 1 && labels < 4 ? `; write ${name}${'.*'.repeat(4 - labels)}` : ''}`;
}

/** The range with a hyphen instead of a dash, or the spelling that a resolver looks up, if it is a target. */
function asciiSpelling(item: string): string | null {
  const range = item.replaceAll(/[\u2010-\u2015\u2212]/g, '-');
  const read = readRange(range);
  if (read !== null && !('reason' in read)) return range;
  const ascii = domainToASCII(item);
  return parseAddress(ascii) !== null || refuseName(ascii) === null ? ascii : null;
}

function isHostAndPort(text: string): boolean {
  return /^\[.*\]:\d+$/.test(text) || /^[^:]+:\d+$/.test(text);
}

function numericReason(labels: readonly string[]): string {
  if (!labels.every((label) => /^(?:\d+|0x[0-9a-f]+)$/.test(label)))
    return 'the last label of a host name must contain a letter';
  if (labels.some((label) => /^0./.test(label)))
    return 'write IPv4 numbers in decimal, without leading zeros';
  if (labels.length === 4) return '';
  const isOctet = labels.length === 1 && Number(labels[0]) <= 255;
  return `an IPv4 address has four decimal numbers${isOctet ? '; a list in an octet, as in 10.0.0.1,7, is a target of its own' : ''}`;
}

function refuseInterval({ intervals }: Meaning, interfaces: () => Interfaces): string | null {
  const kinds = intervals.map(notUnicastKind);
  const [first] = intervals;
  if (first === undefined) return null;
  const { zone = null } = first;
  if (zone !== null && !interfaces().has(zone)) return `no network interface "${zone}"`;
  const [kind = null] = kinds;
  return kind === null || kinds.includes(null) ? null : `${kind} cannot be scanned`;
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
