import { PortolanError } from '../errors.ts';
import type { Address } from './address.ts';
import { AddressSet, type Interval, unicastAddresses } from './address-set.ts';
import { readIntervals } from './target.ts';

/** Which addresses packets may go to. */
export interface Scope {
  /** Also false for texts that are not an address. */
  permits(address: string | Address): boolean;
  split(addresses: AddressSet): { inside: AddressSet; outside: AddressSet };
}

/**
 * Compiles allow and deny lists of addresses, CIDR blocks and ranges. Deny wins; an empty allow list means every
 * unicast address. Multicast, broadcast and unspecified addresses are never inside. A rule applies to every
 * interface.
 * @throws PortolanError `configuration` that names every invalid rule
 */
export function compileScope(rules: { allow: readonly string[]; deny: readonly string[] }): Scope {
  const allow = readRules('scanner.scope.allow', rules.allow);
  const deny = readRules('scanner.scope.deny', rules.deny);
  const problems = [...allow.problems, ...deny.problems];
  if (problems.length > 0) {
    const text = problems.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
    throw new PortolanError('configuration', text, { fields: problems });
  }
  const allowed = rules.allow.length === 0 ? unicastAddresses : allow.addresses.intersect(unicastAddresses);
  const permitted = allowed.minus(deny.addresses);
  return {
    permits: (address) =>
      typeof address === 'string' ? permitted.has(address) : permitted.hasAddress(address),
    split: (addresses) => ({ inside: addresses.intersect(permitted), outside: addresses.minus(permitted) }),
  };
}

function readRules(key: string, rules: readonly string[]) {
  const intervals: Interval[] = [];
  const problems: { field: string; reason: string }[] = [];
  for (const [index, rule] of rules.entries()) {
    // A rule for one interface only would leave the others open.
    const read = rule.includes('%') ? null : readIntervals(rule.trim());
    if (read !== null) intervals.push(...read);
    else
      problems.push({
        field: `${key}[${index}]`,
        reason: `${JSON.stringify(rule)} is not an address, a CIDR block or a range`,
      });
  }
  return { addresses: AddressSet.of(intervals), problems };
}
