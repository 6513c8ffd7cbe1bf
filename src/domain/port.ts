import { PortolanError } from './errors.ts';
import type { Protocol } from './host.ts';
import { nearest } from './text/nearest.ts';

/** Words of the port grammar and their ports. */
export interface PortCatalog {
  /** TCP ports, most likely open first. */
  ranked: readonly number[];
  /** Ports by service name, names in lower case. */
  services: ReadonlyMap<string, readonly number[]>;
  /** Ports that have a service, a place in the ranking or, over UDP, a request of their own. */
  known: Readonly<Record<Protocol, ReadonlySet<number>>>;
}

/** Ports to scan, ascending, deduplicated. */
export interface PortSelection {
  tcp: number[];
  udp: number[];
}

/** The highest port. */
const maxPort = 65_535;

/** Number of ranked ports that `common` means. */
const commonPorts = 100;

/** All ports; a longer list contains duplicates. */
const maxItems = 65_536;

/** Maximum number of names with wildcards in a list: each is compared with every known name. */
const maxWildcards = 100;

/** Maximum number of bad items in an error. */
const maxProblems = 100;

/**
 * Reads a comma list of port numbers, ranges (`8000-8100`, `-1024`, `60000-`), `all` or `-`, `common`, `top-N` or `top:N`,
 * and service names, also with the wildcards `*` and `?`. `[1-1024]` is the known ports of a list. `T:` and `U:` set the
 * protocol of their item and of those after it.
 *
 * @param first protocol of the items before the first `T:` or `U:`
 * @throws PortolanError `invalid_request` that names every bad item
 */
export function parsePorts(spec: string, catalogue: PortCatalog, first: Protocol = 'tcp'): PortSelection {
  const chosen = { tcp: new PortSet(), udp: new PortSet() };
  const bracketed: Partial<Record<Protocol, PortSet>> = {};
  const problems: string[] = [];
  let wrong = 0;
  let items = 0;
  let wildcards = 0;
  let protocol = first;
  let isBracketed = false;
  for (let start = 0, end = 0; start <= spec.length; start = end + 1) {
    const comma = spec.indexOf(',', start);
    end = comma === -1 ? spec.length : comma;
    if (++items > maxItems) throw badPorts([`a list of more than ${maxItems} items`], 1);
    // Most items of a long list are plain: parse them in place.
    if (!isBracketed && addPlain(spec, start, end, chosen[protocol])) continue;
    const item = spec.slice(start, end).trim();
    const { prefix, text }: PrefixedItem = isBracketed ? { prefix: null, text: item } : splitPrefix(item);
    protocol = prefix ?? protocol;
    const opens: boolean = !isBracketed && text.startsWith('[');
    isBracketed ||= opens;
    const closes: boolean = isBracketed && text.endsWith(']');
    const word = text.slice(opens ? 1 : 0, closes ? -1 : undefined).trim();
    if (isWildcard(word) && ++wildcards > maxWildcards)
      throw badPorts([`a list of more than ${maxWildcards} names with wildcards`], 1);
    const ports = isBracketed ? (bracketed[protocol] ??= new PortSet()) : chosen[protocol];
    const problem = addPlain(word, 0, word.length, ports) ? null : addWord(word, protocol, ports, catalogue);
    if (problem !== null && ++wrong <= maxProblems) {
      const guess = problem === unknownName && wrong <= maxGuesses ? guessFor(word, catalogue) : '';
      problems.push(`${show(item)} ${problem}${guess}`);
    }
    isBracketed &&= !closes;
  }
  if (isBracketed && ++wrong <= maxProblems) problems.push('"[" has no "]" after it');
  if (wrong > 0) throw badPorts(problems, wrong);
  for (const each of ['tcp', 'udp'] as const) {
    const { known } = catalogue;
    const marked = bracketed[each]?.list(catalogue.ranked) ?? [];
    chosen[each].addEach(marked.filter((port) => known[each].has(port)));
  }
  const selection = { tcp: chosen.tcp.list(catalogue.ranked), udp: chosen.udp.list(catalogue.ranked) };
  if (selection.tcp.length + selection.udp.length === 0)
    throw badPorts([`${show(spec)} has no known port`], 1);
  return selection;
}

/** Ports as `parsePorts` reads them, in ranges: `22,80-443`. @param ports ascending */
export function portRanges(ports: Iterable<number>): string {
  const ranges: { first: number; last: number }[] = [];
  for (const port of ports) {
    const range = ranges.at(-1);
    if (range?.last === port - 1) range.last = port;
    else ranges.push({ first: port, last: port });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}

/** Whether a text is a port list: then no profile may have it as its name, because `-p` means either. */
export function readsAsPorts(text: string, catalogue: PortCatalog): boolean {
  try {
    parsePorts(text, catalogue);
    return true;
  } catch (error) {
    if (error instanceof PortolanError) return false;
    throw error;
  }
}

/**
 * A set of ports built from ranges. Each range costs two steps, however wide it is: a list of 65,536 ranges must not
 * block the event loop.
 */
class PortSet {
  /** Difference in the number of covering ranges to the previous port. */
  readonly #changes = new Int32Array(maxPort + 2);
  /** Number of ranked ports in the set. */
  ranked = 0;

  add(first: number, last: number): void {
    (this.#changes[first] as number) += 1;
    (this.#changes[last + 1] as number) -= 1;
  }

  addEach(ports: readonly number[]): void {
    for (const port of ports) this.add(port, port);
  }

  /** Ascending. @param ranked the ranking that `ranked` counts */
  list(ranked: readonly number[]): number[] {
    this.addEach(ranked.slice(0, this.ranked));
    this.ranked = 0;
    const ports: number[] = [];
    let ranges = 0;
    for (let port = 1; port <= maxPort; port++) {
      ranges += this.#changes[port] as number;
      if (ranges > 0) ports.push(port);
    }
    return ports;
  }
}

interface PrefixedItem {
  prefix: Protocol | null;
  text: string;
}

function splitPrefix(item: string): PrefixedItem {
  const prefix = item[1] === ':' ? protocolOf(item[0]) : null;
  return { prefix, text: prefix === null ? item : item.slice(2).trim() };
}

function protocolOf(letter: string | undefined): Protocol | null {
  if (letter === 'T' || letter === 't') return 'tcp';
  return letter === 'U' || letter === 'u' ? 'udp' : null;
}

/** Longest text of a range. */
const longestRange = '65535-65535'.length;

/** Adds a plain port or a range, also one with an open end. @returns whether the text is one */
function addPlain(text: string, start: number, end: number, ports: PortSet): boolean {
  if (end - start > longestRange) return false;
  let dash = start;
  while (dash < end && text[dash] !== '-') dash++;
  const isRange = dash < end;
  const first = isRange && dash === start ? 1 : plainPort(text, start, dash);
  const last = !isRange ? first : dash + 1 === end ? maxPort : plainPort(text, dash + 1, end);
  if (first === 0 || last < first) return false;
  ports.add(first, last);
  return true;
}

/** The port at this position, without leading zeros; 0 = none. */
function plainPort(text: string, start: number, end: number): number {
  if (end - start > 5 || text[start] === '0') return 0;
  let port = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return 0;
    port = port * 10 + digit;
  }
  return port > maxPort ? 0 : port;
}

/** Adds any other item. @returns the problem with it, or null */
function addWord(word: string, protocol: Protocol, ports: PortSet, catalogue: PortCatalog): string | null {
  if (word === '') return 'is empty; give a port';
  const name = word.toLowerCase();
  if (name === 'all') {
    ports.add(1, maxPort);
    return null;
  }
  const top = name === 'common' ? String(commonPorts) : /^top[-:](.*)$/s.exec(name)?.[1];
  if (top !== undefined) return addTop(top, protocol, ports, catalogue.ranked);
  if (isWildcard(name)) return addMatching(name, protocol, ports, catalogue);
  const known = catalogue.services.get(name);
  if (known !== undefined) {
    ports.addEach(known);
    return null;
  }
  return problemOfSpelling(word) ?? (/^[\d-]/.test(name) ? problemOfRange(name) : unknownName);
}

function isWildcard(word: string): boolean {
  return word.includes('*') || word.includes('?');
}

/** Longest name with wildcards, characters; no service has a longer name. */
const maxWildcardLength = 64;

/** Adds the ports of a protocol whose services have a name such as `http*`. */
function addMatching(
  pattern: string,
  protocol: Protocol,
  ports: PortSet,
  { services, known }: PortCatalog,
): string | null {
  let found = false;
  for (const [name, own] of pattern.length > maxWildcardLength ? [] : services) {
    const meant = own.filter((port) => known[protocol].has(port));
    if (meant.length === 0 || !matches(pattern, name)) continue;
    ports.addEach(meant);
    found = true;
  }
  if (found) return null;
  const plain = pattern.replaceAll(/[*?]/g, '');
  const hint = services.has(plain) ? `write ${plain}, or ` : '';
  return `matches no known service name; ${hint}"*" for any text, "?" for one character`;
}

/** `*` is any text, `?` one character. Of several `*` only the last one is tried again. */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let from = 0;
  for (let index = 0; index < name.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      from = index;
    } else if (pattern[at] === '?' || pattern[at] === name[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++from;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}

/** What to write instead of ports as other programs write them; null for all others. */
function problemOfSpelling(word: string): string | null {
  const [, letters = '', rest = ''] = /^([a-z]+):(.*)$/is.exec(word) ?? [];
  const prefix = { tcp: 'T', udp: 'U' }[letters.toLowerCase()];
  if (prefix !== undefined) return `has an unknown protocol; write ${prefix}:${rest}`;
  if (/^[sp]$/i.test(letters))
    return 'is SCTP or an IP protocol, which are not scanned; T: is TCP, U: is UDP';
  if (/^[tu]$/i.test(letters)) return 'has a protocol that must stand first; one holds until the next';
  if (letters !== '') return 'has an unknown protocol; T: is TCP, U: is UDP';
  const [, port = '', protocol = ''] = /^(\d+)\/(tcp|udp)$/i.exec(word) ?? [];
  if (port !== '') return `has its protocol behind the port; write ${protocol[0]?.toUpperCase()}:${port}`;
  if (/[\s;]/.test(word)) return 'is not a port; separate ports with commas';
  const [, count] = /^top_?(\d*)$/i.exec(word) ?? [];
  return count === undefined ? null : `is not a port; write top-${count || commonPorts}`;
}

/** Longest name that is compared with the known ones, characters. */
const maxGuessLength = 20;

/** Maximum number of names of a list that are compared with all known ones: each takes a third of a millisecond. */
const maxGuesses = 3;

const unknownName = 'is not a port, a range or a known service name';

function guessFor(word: string, { services }: PortCatalog): string {
  if (word.length > maxGuessLength) return '';
  const guess = nearest(word.toLowerCase(), [...services.keys()]);
  return guess === null ? '' : `; did you mean ${guess}?`;
}

function addTop(count: string, protocol: Protocol, ports: PortSet, ranked: readonly number[]): string | null {
  if (!isNumber(count) || Number(count) < 1 || Number(count) > ranked.length) {
    return `is out of range: the ranking has 1 to ${ranked.length} ports`;
  }
  if (protocol === 'udp')
    return 'is not supported for UDP: the ranking has TCP ports only; name the UDP ports';
  ports.ranked = Math.max(ports.ranked, Number(count));
  return null;
}

/** The problem with a text of digits that is neither a port nor a range. */
function problemOfRange(text: string): string {
  const ends = text.split('-', 3);
  const [from = '', to = from] = ends;
  const isRange = ends.length === 2;
  const first = isRange && from === '' ? '1' : from;
  const last = isRange && to === '' ? String(maxPort) : to;
  if (ends.length > 2 || !isNumber(first) || !isNumber(last))
    return 'is not a port or a range such as 8000-8100';
  if (isRange && Number(first) === 0 && Number(last) === maxPort)
    return 'contains port 0, which cannot be scanned; write - for all 65,535 ports';
  const outside = [first, last].some((port) => Number(port) < 1 || Number(port) > maxPort);
  if (outside) return `is out of range: ports are 1 to ${maxPort}`;
  return 'is reversed: it ends before it starts';
}

function isNumber(text: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(text);
}

/** Quoted and escaped, cut to a length that fits a line. */
function show(item: string): string {
  return JSON.stringify(item.length <= 40 ? item : `${item.slice(0, 40)}…`);
}

/** @param wrong number of bad items, of which the first are named */
function badPorts(named: readonly string[], wrong: number): PortolanError {
  const message = wrong === 1 ? `ports: ${named[0]}` : `${wrong} items of the port list are invalid`;
  return new PortolanError('invalid_request', message, {
    fields: named.map((reason) => ({ field: 'ports', reason })),
  });
}
