import type { Protocol } from './host.ts';
import { type PortReason, reasonText } from './port-reasons.ts';
import type { HostRow } from './result.ts';
import { groupedNumber } from './text/grouped-number.ts';

/** Reasons that are named; the ports of the others are counted. */
const maxNamed = 3;

/** `2 admin-prohibited from 10.0.0.254, 1 no response`, without the number if all have it; empty without an ICMP error. */
export function filteredReasons({ port_reasons }: Pick<HostRow, 'port_reasons'>): string {
  const reasons = filteredBy(port_reasons);
  if (reasons.length === 0) return '';
  const [first] = reasons;
  if (first && reasons.length === 1) return shownReason(first);
  const named = reasons.slice(0, maxNamed).map((each) => `${groupedNumber(each.count)} ${shownReason(each)}`);
  const left = reasons.slice(maxNamed).reduce((sum, { count }) => sum + count, 0);
  return [...named, ...(left > 0 ? [`${groupedNumber(left)} other`] : [])].join(', ');
}

/** A port that is not open, and why. */
export interface NamedPort {
  port: number;
  protocol: Protocol;
  state: string;
  why: string;
}

/** More ports than these are counted, as nmap does with ports of one state. */
const maxListed = 25;

/**
 * The ports of a host that are not open and have no row, each with its reason; empty if there are many, or some of them are
 * not known by number, or were not tried.
 * @param rows how many that are not open have one
 */
export function listedPorts(
  { port_counts, port_reasons = [] }: Pick<HostRow, 'port_counts' | 'port_reasons'>,
  rows = 0,
): NamedPort[] {
  const { closed = 0, filtered = 0, not_tried = 0 } = port_counts ?? {};
  const ports = port_reasons.flatMap(({ protocol, state, ports: numbers, ...reason }) =>
    numbers.map((port) => ({ port, protocol, state, why: shownReason(reason) })),
  );
  const isWhole = not_tried === 0 && ports.length === closed + filtered - rows;
  if (!isWhole || ports.length > maxListed) return [];
  return ports.sort((a, b) => (a.protocol < b.protocol ? -1 : a.protocol > b.protocol ? 1 : a.port - b.port));
}

/** `22, 80/tcp closed (rst), 443/tcp filtered (no response)` */
export function listedText(ports: readonly NamedPort[]): string {
  const groups = Map.groupBy(ports, ({ protocol, state, why }) => `/${protocol} ${state} (${why})`);
  return [...groups].map(([text, same]) => `${same.map(({ port }) => port).join(', ')}${text}`).join(', ');
}

/** Why ports are filtered, most first; empty if nothing came back for any of them. */
export function filteredBy(reasons: readonly PortReason[] = []): PortReason[] {
  const filtered = reasons.filter(({ state }) => state !== 'closed').toSorted((a, b) => b.count - a.count);
  return filtered.every(isSilence) ? [] : filtered;
}

/** `no response` */
export function shownReason(reason: Pick<PortReason, 'reason' | 'from'>): string {
  return isSilence(reason) ? 'no response' : reasonText(reason);
}

function isSilence({ reason }: Pick<PortReason, 'reason'>): boolean {
  return reason === 'no-response';
}
