import { plural } from '../../format/words.ts';
import type { Diff } from './change-lines.ts';

type Side = 'before' | 'after';

/** What of one host cannot be compared, for one reason. */
export interface NotComparable {
  key: string;
  host: string;
  /** Ports, or the whole host. */
  items: string;
  note: string;
  /** The scan that found it. */
  side: Side;
}

/** @param side of the scan that did not see it */
const reasons: Record<Diff['not_comparable'][number]['reason'], (side: Side) => string> = {
  out_of_scope: (side) => `not among the targets ${side}`,
  partial: (side) => `not reached ${side}: that scan ended early`,
  port_not_planned: (side) => `port not tried ${side}`,
  not_evaluated: (side) => `not evaluated ${side}`,
  record_damaged: (side) => `rows of the scan ${side} are lost`,
};

/** Ports that are named; the others are counted. */
const named = 3;

/** One line per host and reason: a scan of other ports leaves thousands of items. */
export function notComparableLines({ not_comparable: items, against }: Diff): NotComparable[] {
  const found = new Map<string, { item: Diff['not_comparable'][number]; ports: string[] }>();
  for (const item of items) {
    const key = `not comparable ${item.host} ${item.reason} ${item.missing_in}`;
    const line = found.get(key) ?? { item, ports: [] };
    if (item.port !== null) line.ports.push(`${item.port}/${item.protocol ?? 'tcp'}`);
    found.set(key, line);
  }
  return [...found].map(([key, { item, ports }]) => {
    const missingSide = item.missing_in === against ? 'before' : 'after';
    const side = missingSide === 'before' ? 'after' : 'before';
    return {
      key,
      host: item.host,
      items: portsText([...new Set(ports)]),
      note: `found ${side}, ${reasons[item.reason](missingSide)}: says nothing about it`,
      side,
    };
  });
}

function portsText(ports: readonly string[]): string {
  if (ports.length === 0) return 'Whole host';
  const more = ports.length - named;
  const shown = ports.slice(0, named).join(', ');
  return more > 0 ? `${shown} and ${plural(more, 'more port')}` : shown;
}
