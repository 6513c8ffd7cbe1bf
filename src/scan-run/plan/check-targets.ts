import type { Config } from '../../config/schema.ts';
import type { FieldProblem } from '../../domain/errors.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';
import { compileScope, type Scope } from '../../domain/targets/scope.ts';
import {
  addressesOf,
  countItems,
  countNamed,
  parseTargets,
  type TargetList,
} from '../../domain/targets/target.ts';
import { quote } from './quote.ts';
import { maxTargets, type Submission } from './submission.ts';

/** Maximum number of problems listed in a response; further ones are only counted. */
export const maxListed = 100;

export interface TargetRejection {
  index: number;
  value: string;
  reason: string;
  hint?: string;
}

/** The targets of a submission, parsed once for all who need them. */
export interface SubmittedTargets {
  targets: TargetList;
  excluded: TargetList;
}

/** Checks targets and exclusions against their grammar, the limits and the scope; adds to `problems`. */
export function checkTargets(
  submission: Submission,
  config: Config,
  problems: FieldProblem[],
): SubmittedTargets & { rejections: TargetRejection[] } {
  const { targets, exclude = [] } = submission;
  if (targets.length === 0) problems.push({ field: 'targets', reason: 'must not be empty' });
  const tooLong = Object.entries({ targets, exclude }).flatMap(([field, values]) => {
    const items = countItems(values);
    return items > maxTargets ? { field, reason: `at most ${maxTargets} entries, not ${items}` } : [];
  });
  problems.push(...tooLong);
  const parsed =
    tooLong.length > 0
      ? { targets: parseTargets([]), excluded: parseTargets([]) }
      : { targets: parseTargets(targets), excluded: parseTargets(exclude) };
  return { ...parsed, rejections: checkParsed(parsed, config, problems) };
}

function checkParsed(
  { targets, excluded }: SubmittedTargets,
  config: Config,
  problems: FieldProblem[],
): TargetRejection[] {
  for (const { index, value, reason } of excluded.problems.slice(0, maxListed)) {
    problems.push({ field: `exclude[${index}]`, reason: `${quote(value)}: ${reason}` });
  }
  if (targets.problems.length > 0) {
    const reason = targets.problems.length === 1 ? 'invalid target' : 'invalid targets';
    problems.push({ field: 'targets', reason });
    return targets.problems;
  }
  checkCount(targets, excluded, config, problems);
  const outside = outOfScope(targets, config);
  if (outside.length > 0) problems.push({ field: 'targets', reason: 'out_of_scope' });
  const reason =
    outside.length > 0 || targets.items.length === 0 ? null : voidReason(targets, excluded, config);
  if (reason !== null) problems.push({ field: 'targets', reason });
  return outside;
}

/** Why nothing would be left to scan, whatever names resolve to; null if something may be. */
function voidReason(wanted: TargetList, excluded: TargetList, { scanner }: Config): string | null {
  const names = wanted.hostnames.filter((name) => !excluded.hostnames.includes(name));
  if (names.length + wanted.namedNetworks.length > 0) return null;
  const left = wanted.addresses.minus(excluded.covered);
  if (left.size === 0n) {
    const isExcluded = wanted.addresses.size > 0n || wanted.hostnames.length > 0;
    return isExcluded
      ? 'nothing is left to scan: exclude has every target'
      : 'no address that can be scanned';
  }
  const permitted = compileScope(scanner.scope).split(left).inside;
  if (permitted.minus(parseTargets(scanner.blocklist).covered).size > 0n) return null;
  return 'nothing is left to scan: exclude, scanner.scope and scanner.blocklist leave no address';
}

function checkCount(
  wanted: TargetList,
  excluded: TargetList,
  config: Config,
  problems: FieldProblem[],
): void {
  const limit = config.scanner.max_addresses;
  if (limit === 0) return;
  const count = wanted.addresses.minus(excluded.covered).size + countNamed(wanted);
  if (count <= BigInt(limit)) return;
  problems.push({
    field: 'targets',
    reason: `${count} addresses, the limit is ${limit}; raise scanner.max_addresses (0 = no cap) or name fewer`,
  });
}

/** Targets without any permitted address. */
function outOfScope({ addresses, items }: TargetList, config: Config): TargetRejection[] {
  const { allow, deny } = config.scanner.scope;
  const scope = compileScope({ allow, deny });
  const blocked = parseTargets(config.scanner.blocklist).covered;
  const { inside, outside } = scope.split(addresses);
  if (outside.size === 0n && addresses.intersect(blocked).size === 0n) return [];
  const permitted = inside.minus(blocked);
  const keys = {
    scope,
    blocked,
    deny,
    allowed: compileScope({ allow, deny: [] }),
    denied: compileScope({ allow: deny, deny: [] }),
  };
  return items.flatMap((item) => {
    const own = addressesOf(item);
    const hint = own.intersect(permitted).size > 0n ? null : rejectionHint(own, keys);
    return hint === null ? [] : [{ index: item.index, value: item.value, reason: 'out_of_scope', hint }];
  });
}

interface ScopeKeys {
  scope: Scope;
  /** What scanner.scope.allow alone permits. */
  allowed: Scope;
  /** What scanner.scope.deny contains, unless it is empty. */
  denied: Scope;
  deny: readonly string[];
  blocked: AddressSet;
}

/** Names the keys to change; null if an address is left to scan. */
function rejectionHint(
  addresses: AddressSet,
  { scope, allowed, denied, deny, blocked }: ScopeKeys,
): string | null {
  if (addresses.size === 0n) return null;
  if (scope.split(addresses).inside.size > 0n) {
    return addresses.minus(blocked).size === 0n ? 'scanner.blocklist contains it' : null;
  }
  const needed = [
    ...(allowed.split(addresses).inside.size < addresses.size ? ['add it to scanner.scope.allow'] : []),
    ...(deny.length > 0 && denied.split(addresses).inside.size > 0n
      ? ['set scanner.scope.deny to a list without it']
      : []),
  ];
  return `to authorize it, ${needed.join(' and ')}`;
}
