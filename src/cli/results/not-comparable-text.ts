import type { NotComparable } from '../../actions/results/compare-scans.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { placeText } from './place-text.ts';

const reasons: Record<NotComparable['reason'], string> = {
  out_of_scope: 'not a target',
  partial: 'not reached',
  port_not_planned: 'not tried',
  not_evaluated: 'not evaluated',
  record_damaged: 'record damaged',
};

type Kind = 'host' | 'port' | 'finding' | 'result';

/** Results that cannot be compared for one reason. */
interface Group {
  kind: Kind;
  why: string;
  total: number;
  hosts: Map<string, { first: NotComparable; count: number }>;
}

/** Hosts that have a line of their own for one reason; more are counted. */
const maxNamedHosts = 3;

/**
 * What cannot be compared, summed up by host and reason.
 * @param scanId the newer scan: what it does not know is so `now`, what the other does not know `before`
 * @param all a line for each result instead
 */
export async function* notComparableLines(
  items: AsyncIterable<NotComparable>,
  scanId: string,
  all: boolean,
): AsyncGenerator<string> {
  const groups = new Map<string, Group>();
  for await (const item of items) {
    const why = `${reasons[item.reason] ?? item.reason} ${item.missing_in === scanId ? 'now' : 'before'}`;
    if (all) {
      yield `${placeText(item)}: ${why}`;
      continue;
    }
    const kind = kindOf(item);
    const group: Group = groups.get(kind + why) ?? { kind, why, total: 0, hosts: new Map() };
    const { first = item, count = 0 } = group.hosts.get(item.host) ?? {};
    group.total++;
    group.hosts.set(item.host, { first, count: count + 1 });
    groups.set(kind + why, group);
  }
  for (const group of groups.values()) yield* linesOf(group);
}

function kindOf({ reason, port }: NotComparable): Kind {
  if (reason === 'not_evaluated') return 'finding';
  if (port === null) return 'host';
  return reason === 'record_damaged' ? 'result' : 'port';
}

function* linesOf({ kind, why, total, hosts }: Group): Generator<string> {
  if (hosts.size > maxNamedHosts) {
    const ofHosts = kind === 'host' ? '' : ` of ${countText(hosts.size, 'host')}`;
    yield `${countText(total, kind)}${ofHosts}: ${why}`;
    return;
  }
  for (const [host, { first, count }] of hosts) {
    const isNamed = kind === 'host' || (count === 1 && kind !== 'finding');
    yield `${isNamed ? placeText(first) : `${countText(count, kind)} of ${host}`}: ${why}`;
  }
}
