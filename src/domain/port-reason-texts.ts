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

/** Why ports are filtered, most first; empty if nothing came back for any of them. */
export function filteredBy(reasons: readonly PortReason[] = []): PortReason[] {
  const filtered = reasons.filter(({ state }) => state !== 'closed').toSorted((a, b) => b.count - a.count);
  return filtered.every(isSilence) ? [] : filtered;
}

/** `no response` */
export function shownReason(reason: PortReason): string {
  return isSilence(reason) ? 'no response' : reasonText(reason);
}

function isSilence({ reason }: PortReason): boolean {
  return reason === 'no-response';
}
