import { PortolanError } from './errors.ts';
import type { Protocol } from './host.ts';

/** Words of the port grammar and their ports. */
export interface PortCatalog {
  /** TCP ports, most likely open first. */
  ranked: readonly number[];
  /** Ports by service name, names in lower case. */
  services: ReadonlyMap<string, readonly number[]>;
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

/** Maximum number of bad items in an error. */
const maxProblems = 100;

/**
 * Reads a comma list of port numbers, ranges (`8000-8100`), `all` or `-`, `common`, `top-N` or `top:N`, and service
 * names. `T:` and `U:` set the protocol of their item and of those after it.
 *
 * @param first protocol of the items before the first `T:` or `U:`
 * @throws PortolanError `invalid_request` that names every bad item
 */
export function parsePorts(spec: string, catalogue: PortCatalog, first: Protocol = 'tcp'): PortSelection {
  const chosen = { tcp: new PortSet(), udp: new PortSet() };
  const problems: string[] = [];
  let wrong = 0;
  let items = 0;
  let protocol = first;
  for (let start = 0, end = 0; start <= spec.length; start = end + 1) {
    const comma = spec.indexOf(',', start);
    end = comma === -1 ? spec.length : comma;
    if (++items > maxItems) throw badPorts([`a list of more than ${maxItems} items`], 1);
    // Most items of a long list are plain: parse them in place.
    if (addPlain(spec, start, end, chosen[protocol])) continue;
    const item = spec.slice(start, end).trim();
    const { prefix, word } = splitPrefix(item);
    protocol = prefix ?? protocol;
    const ports = chosen[protocol];
    const problem = addPlain(word, 0, word.length, ports) ? null : addWord(word, protocol, ports, catalogue);
    if (problem !== null && ++wrong <= maxProblems) problems.push(`${show(item)} ${problem}`);
  }
  if (wrong > 0) throw badPorts(problems, wrong);
  chosen.tcp.addEach(catalogue.ranked, chosen.tcp.ranked);
  return { tcp: chosen.tcp.list(), udp: chosen.udp.list() };
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

  addEach(ports: readonly number[], count = ports.length): void {
    for (const port of ports.slice(0, count)) this.add(port, port);
  }

  /** Ascending. */
  list(): number[] {
    const ports: number[] = [];
    let ranges = 0;
    for (let port = 1; port <= maxPort; port++) {
      ranges += this.#changes[port] as number;
      if (ranges > 0) ports.push(port);
    }
    return ports;
  }
}

function splitPrefix(item: string): { prefix: Protocol | null; word: string } {
  const prefix = item[1] === ':' ? protocolOf(item[0]) : null;
  return { prefix, word: prefix === null ? item : item.slice(2).trim() };
}

function protocolOf(letter: string | undefined): Protocol | null {
  if (letter === 'T' || letter === 't') return 'tcp';
  return letter === 'U' || letter === 'u' ? 'udp' : null;
}

/** Longest text of a range. */
const longestRange = '65535-65535'.length;

/** Adds a plain port or a range. @returns whether the text is one */
function addPlain(text: string, start: number, end: number, ports: PortSet): boolean {
  if (end - start > longestRange) return false;
  let dash = start;
  while (dash < end && text[dash] !== '-') dash++;
  const first = plainPort(text, start, dash);
  const last = dash === end ? first : plainPort(text, dash + 1, end);
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
  if (name === 'all' || name === '-') {
    ports.add(1, maxPort);
    return null;
  }
  const top = name === 'common' ? String(commonPorts) : /^top[-:](.*)$/s.exec(name)?.[1];
  if (top !== undefined) return addTop(top, protocol, ports, catalogue.ranked);
  if (/^[\d-]/.test(name)) return problemOfRange(name);
  const known = catalogue.services.get(name);
  if (known === undefined) return 'is not a port, a range or a known service name';
  ports.addEach(known);
  return null;
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
  if (ends.length > 2 || !ends.every(isNumber)) return 'is not a port or a range such as 8000-8100';
  const [first = 0, last = first] = ends.map(Number);
  if (first < 1 || last < 1 || first > maxPort || last > maxPort)
    return `is out of range: ports are 1 to ${maxPort}`;
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
