import type { Config } from '../../config/schema.ts';
import { formatAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { addressesOf, countNamed, parseTargets, type TargetItem } from '../../domain/targets/target.ts';
import type { SubmittedTargets } from '../../scan-run/plan/check-targets.ts';

/** One line of a plan: a target, or what is left out of the targets, and by whom. */
export interface PreviewTarget {
  /** In canonical spelling. */
  target: string;
  /** `target` is scanned, the others are not. */
  kind: 'target' | 'excluded' | 'blocked' | 'out_of_scope';
  /** Addresses that a target names, or that are left out; a host name counts as one. */
  addresses: number;
  note: string | null;
}

export interface PreviewTargets {
  target_list: PreviewTarget[];
  /** Further lines, only counted. */
  target_list_left: number;
  /** Addresses to scan. */
  inside: AddressSet;
  /** Addresses that the scope forbids. */
  outside: AddressSet;
}

/** Lines of a plan that are listed: submissions have up to 100,000 targets. */
const maxLines = 200;

/** What is scanned and what is left out, as lines that can be checked one by one. */
export function previewTargets(
  { targets, excluded }: SubmittedTargets,
  { blocklist, scope }: Pick<Config['scanner'], 'blocklist' | 'scope'>,
): PreviewTargets {
  const blocked = parseTargets(blocklist);
  const afterExclusions = targets.addresses.minus(excluded.covered);
  const { inside, outside } = compileScope(scope).split(afterExclusions.minus(blocked.covered));
  const byConfiguration = unique(blocked.items)
    .map((item) => lineOfExclusion(item, 'blocked', afterExclusions, 'by scanner.blocklist'))
    .filter(({ addresses }) => addresses > 0);
  const outsideLines = outside.intervals.slice(0, maxLines).map(
    ({ family, first, last, zone }): PreviewTarget => ({
      target: rangeText(
        formatAddress({ family, value: first, zone }),
        formatAddress({ family, value: last, zone }),
      ),
      kind: 'out_of_scope',
      addresses: safeCount(last - first + 1n),
      note: 'by scanner.scope',
    }),
  );
  const [wanted, unwanted] = [unique(targets.items), unique(excluded.items)];
  const lines = [
    ...wanted.slice(0, maxLines).map(lineOfTarget),
    ...unwanted
      .slice(0, maxLines)
      .map((item) => lineOfExclusion(item, 'excluded', targets.addresses, 'by the request')),
    ...byConfiguration,
    ...outsideLines,
  ];
  const total = wanted.length + unwanted.length + byConfiguration.length + outside.intervals.length;
  const listed = lines.slice(0, maxLines);
  return { target_list: listed, target_list_left: total - listed.length, inside, outside };
}

function lineOfTarget(item: TargetItem): PreviewTarget {
  const { target, skipEnds, network } = item.meaning;
  const named = {
    hostnames: target.kind === 'hostname' ? [target.value] : [],
    namedNetworks: network ? [network] : [],
  };
  return {
    target: target.value,
    kind: 'target',
    addresses: safeCount(addressesOf(item).size + countNamed(named)),
    note: isNamed(item) ? lookedUp : skipEnds ? 'network and broadcast address left out' : null,
  };
}

function lineOfExclusion(
  item: TargetItem,
  kind: PreviewTarget['kind'],
  of: AddressSet,
  by: string,
): PreviewTarget {
  const { target } = item.meaning;
  const addresses = safeCount(parseTargets([item.value]).covered.intersect(of).size);
  const nothing = isNamed(item) ? lookedUp : 'not among the targets';
  return { target: target.value, kind, addresses, note: addresses > 0 ? by : nothing };
}

const lookedUp = 'name, looked up when the scan starts';

function isNamed({ meaning: { target, network } }: TargetItem): boolean {
  return target.kind === 'hostname' || network !== undefined;
}

function unique(items: readonly TargetItem[]): TargetItem[] {
  return [...new Map(items.map((item) => [item.meaning.target.value, item])).values()];
}

function rangeText(first: string, last: string): string {
  return first === last ? first : `${first}-${last}`;
}

function safeCount(count: bigint): number {
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}
