import { PortolanError } from './errors.ts';
import type { Protocol } from './host.ts';

/** What the words of the port grammar stand for. */
export interface PortCatalogue {
  /** TCP ports, the likeliest to be open first. */
  ranked: readonly number[];
  /** Ports by service name, names in lower case. */
  services: ReadonlyMap<string, readonly number[]>;
}

/** Ports to scan, ascending, each once. */
export interface PortSelection {
  tcp: number[];
  udp: number[];
}

interface PortRange {
  first: number;
  last: number;
}

const maxPort = 65_535;

/** How many of the ranking `common` stands for. */
const commonPorts = 100;

/** Every port by itself; a longer list repeats itself. */
const maxItems = 65_536;

/** Bad items that an error names. */
const maxProblems = 100;

/**
 * Reads a comma list of port numbers, ranges (`8000-8100`), `all` or `-`, `common`, `top-N` or `top:N`, and service
 * names. `T:` and `U:` set the protocol of their item and of those after it.
 *
 * @param first protocol of the items before the first `T:` or `U:`
 * @throws PortolanError `invalid_request` that names every bad item
 */
export function parsePorts(spec: string, catalogue: PortCatalogue, first: Protocol = 'tcp'): PortSelection {
  const items = spec.split(',', maxItems + 1);
  if (items.length > maxItems) throw badPorts([`a list of more than ${maxItems} items`]);
  const chosen = { tcp: new Uint8Array(maxPort + 1), udp: new Uint8Array(maxPort + 1) };
  const problems: string[] = [];
  let protocol = first;
  for (const item of items) {
    const { prefix, word } = splitPrefix(item.trim());
    protocol = prefix ?? protocol;
    const reading = readWord(word, protocol, catalogue);
    if (typeof reading === 'string') problems.push(`${show(item.trim())} ${reading}`);
    else for (const { first, last } of reading) chosen[protocol].fill(1, first, last + 1);
  }
  if (problems.length > 0) throw badPorts(problems);
  return { tcp: listed(chosen.tcp), udp: listed(chosen.udp) };
}

function splitPrefix(item: string): { prefix: Protocol | null; word: string } {
  const [, letter, word] = /^([TU]):(.*)$/is.exec(item) ?? [];
  if (letter === undefined || word === undefined) return { prefix: null, word: item };
  return { prefix: letter.toUpperCase() === 'T' ? 'tcp' : 'udp', word: word.trim() };
}

/** The ports of one item, or what is wrong with it. */
function readWord(word: string, protocol: Protocol, catalogue: PortCatalogue): PortRange[] | string {
  if (word === '') return 'is empty; give a port';
  const name = word.toLowerCase();
  if (name === 'all' || name === '-') return [{ first: 1, last: maxPort }];
  const top = name === 'common' ? String(commonPorts) : /^top[-:](.*)$/s.exec(name)?.[1];
  if (top !== undefined) return readTop(top, protocol, catalogue.ranked);
  if (/^[\d-]/.test(name)) return readRange(name);
  const ports = catalogue.services.get(name);
  if (ports === undefined) return 'is not a port, a range or a known service name';
  return ports.map((port) => ({ first: port, last: port }));
}

function readTop(count: string, protocol: Protocol, ranked: readonly number[]): PortRange[] | string {
  if (!isNumber(count) || Number(count) < 1 || Number(count) > ranked.length) {
    return `is not possible: the ranking has 1 to ${ranked.length} ports`;
  }
  if (protocol === 'udp') return 'is not possible: the ranking is of TCP ports; name the UDP ports';
  return ranked.slice(0, Number(count)).map((port) => ({ first: port, last: port }));
}

function readRange(text: string): PortRange[] | string {
  const ends = text.split('-');
  if (ends.length > 2 || !ends.every(isNumber)) return 'is not a port or a range such as 8000-8100';
  const first = Number(ends[0]);
  const last = Number(ends.at(-1));
  if (first < 1 || last < 1 || first > maxPort || last > maxPort)
    return `is out of range: ports are 1 to ${maxPort}`;
  if (first > last) return 'is reversed: it ends before it starts';
  return [{ first, last }];
}

function isNumber(text: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(text);
}

function listed(chosen: Uint8Array): number[] {
  const ports: number[] = [];
  for (let port = chosen.indexOf(1); port !== -1; port = chosen.indexOf(1, port + 1)) ports.push(port);
  return ports;
}

/** Quoted and escaped, cut to a length that fits a line. */
function show(item: string): string {
  return JSON.stringify(item.length <= 40 ? item : `${item.slice(0, 40)}…`);
}

function badPorts(problems: readonly string[]): PortolanError {
  const named = problems.slice(0, maxProblems);
  const message =
    problems.length === 1
      ? `ports: ${problems[0]}`
      : `${problems.length} items of the port list are not valid`;
  return new PortolanError('invalid_request', message, {
    fields: named.map((reason) => ({ field: 'ports', reason })),
  });
}
