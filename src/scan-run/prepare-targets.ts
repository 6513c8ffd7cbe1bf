import type { Config } from '../config/schema.ts';
import type { ScanRequest, ScanWarning } from '../domain/scan.ts';
import type { ShardPart } from '../domain/shard.ts';
import { compareAddresses, parseAddress } from '../domain/targets/address.ts';
import type { AddressSet } from '../domain/targets/address-set.ts';
import { compileScope, type Scope } from '../domain/targets/scope.ts';
import {
  anyInterface,
  type NamedNetwork,
  parseTargets,
  type Target,
  type TargetList,
} from '../domain/targets/target.ts';
import type { Traffic } from '../domain/traffic.ts';
import type { Resolution } from '../net/resolve.ts';

/** Resolves a host name; never throws. */
export type Resolve = (name: string) => Promise<Resolution>;

export interface PreparedTargets {
  targets: Target[];
  /** Addresses to scan: targets with names resolved, minus exclusions, inside the scope. */
  addresses: AddressSet;
  scope: Scope;
  /** Addresses removed by exclusions, the blocklist or the scope. */
  excluded: bigint;
  /** Requested names, by address. */
  hostnames: Map<string, string[]>;
  errors: { target: string; code: string; message: string }[];
  warnings: ScanWarning[];
}

/** Error code of a name without an address. */
const unresolved = 'resolve_failed';

/** Maximum number of concurrent lookups. */
const parallelLookups = 8;

/**
 * Resolves the targets of a submission to the set of addresses to scan.
 * @param part a shard, whose addresses are counted before the rules of this machine remove any
 */
export async function prepareTargets(
  request: Pick<ScanRequest, 'targets' | 'exclude'>,
  config: Config,
  resolve: Resolve,
  part: ShardPart | null = null,
): Promise<PreparedTargets> {
  // Removing addresses before the addresses of a shard are counted would shift them against those of the owner.
  const requested = parseTargets(request.targets, part ? anyInterface : undefined);
  const exclusions = parseTargets([...request.exclude, ...config.scanner.blocklist]);
  const scope = compileScope(config.scanner.scope);
  const found = await resolveNames(namesIn(requested), resolve);
  const forbidden = await resolveNames(namesIn(exclusions), resolve);
  const byName = addressesByName(found.addresses);
  const networks = networksOf(requested, byName, found);

  // Resolved addresses are checked like targets: multicast, broadcast and unspecified addresses are never scanned.
  const named = parseTargets([
    ...requested.hostnames.flatMap((name) => byName.get(name) ?? []),
    ...networks.values(),
  ]);
  const whole = requested.addresses.union(named.addresses);
  const wanted = part ? whole.everyNth(BigInt(part.of), BigInt(part.shard)) : whole;
  const excluded = exclusions.covered.union(excludedByName(exclusions, forbidden));
  const allowed = scope.split(wanted.minus(excluded));
  const warnings = [...found.warnings];
  if (allowed.outside.size > 0n) {
    const message = `${allowed.outside.size} addresses are outside the scope (scanner.scope) and were skipped`;
    warnings.push({ code: 'out_of_scope', message });
  }
  return {
    targets: requested.targets.flatMap((target) => withAddresses(target, byName, networks)),
    addresses: allowed.inside,
    scope,
    excluded: wanted.size - allowed.inside.size,
    hostnames: new Map([...found.addresses].filter(([address]) => whole.has(address))),
    // A name in `exclude` that does not resolve is an error too: it would silently exclude nothing.
    errors: [...found.errors, ...forbidden.errors],
    warnings,
  };
}

type Narrow = (addresses: AddressSet) => AddressSet;

/**
 * Applies changed rules to a set of addresses: `permitted` at once, `named` once the names of the blocklist have been
 * resolved.
 */
export function narrowing(
  rules: { allow: string[]; deny: string[]; blocklist: string[] },
  resolve: Resolve,
): { permitted: Narrow; named: Promise<Narrow> } {
  const scope = compileScope(rules);
  const blocked = parseTargets(rules.blocklist);
  return {
    permitted: (addresses) => scope.split(addresses).inside.minus(blocked.covered),
    named: resolveNames(namesIn(blocked), resolve).then(
      (found) => (addresses) => addresses.minus(excludedByName(blocked, found)),
    ),
  };
}

interface Resolved {
  /** Names by address. */
  addresses: Map<string, string[]>;
  errors: PreparedTargets['errors'];
  warnings: ScanWarning[];
}

async function resolveNames(names: string[], resolve: Resolve): Promise<Resolved> {
  const resolved: Resolved = { addresses: new Map(), errors: [], warnings: [] };
  const waiting = [...new Set(names)];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await resolveOne(name, resolve, resolved);
    }
  };
  await Promise.all(Array.from({ length: parallelLookups }, worker));
  return resolved;
}

async function resolveOne(name: string, resolve: Resolve, resolved: Resolved): Promise<void> {
  const resolution = await resolve(name);
  if ('error' in resolution) {
    resolved.errors.push({ target: name, code: unresolved, message: resolution.error });
    return;
  }
  const { addresses, dropped } = resolution;
  for (const address of addresses) pushTo(resolved.addresses, address, name);
  if (dropped > 0) {
    const message = `${name} has ${addresses.length + dropped} addresses; only the first ${addresses.length} are scanned`;
    resolved.warnings.push({ code: 'too_many_addresses', message, target: name });
  }
}

/** Names to resolve. */
function namesIn({ hostnames, namedNetworks }: TargetList): string[] {
  return [...hostnames, ...namedNetworks.map(({ name }) => name)];
}

/**
 * The block of each `host.example/28`, by that text: the one of the lowest address of the name, whatever the order of the
 * response. Adds to the errors and warnings of the lookups.
 */
function networksOf(
  { namedNetworks }: TargetList,
  byName: ReadonlyMap<string, string[]>,
  { errors, warnings }: Resolved,
): Map<string, string> {
  const networks = new Map<string, string>();
  for (const network of namedNetworks) {
    const { value, name, family } = network;
    const blocks = blocksOf(network, byName.get(name) ?? []);
    const [first] = blocks;
    if (first !== undefined) networks.set(value, first);
    else if (byName.has(name))
      errors.push({ target: value, code: unresolved, message: `the name has no IPv${family} address` });
    if (blocks.length > 1) {
      const message = `${name} has addresses in ${blocks.length} blocks of this size; only ${first} is scanned`;
      warnings.push({ code: 'too_many_addresses', message, target: value });
    }
  }
  return networks;
}

/** The distinct blocks around the addresses of a name, the lowest first. */
export function blocksOf({ family, prefix }: NamedNetwork, addresses: readonly string[]): string[] {
  const own = addresses.filter((address) => parseAddress(address)?.family === family);
  const blocks = own.toSorted(compareAddresses).map((address) => `${address}/${prefix}`);
  return parseTargets(blocks).targets.map(({ value }) => value);
}

/** Everything that the names of an exclusion list mean. */
function excludedByName(list: TargetList, found: Resolved): AddressSet {
  const byName = addressesByName(found.addresses);
  const blocks = list.namedNetworks.flatMap((network) => blocksOf(network, byName.get(network.name) ?? []));
  const addresses = list.hostnames.flatMap((name) => byName.get(name) ?? []);
  return parseTargets([...addresses, ...blocks]).covered;
}

/** Replaces a name by its addresses, and the block of a name by the CIDR block. */
function withAddresses(
  target: Target,
  byName: ReadonlyMap<string, string[]>,
  networks: ReadonlyMap<string, string>,
): Target[] {
  const network = networks.get(target.value);
  if (network !== undefined) {
    const name = target.value.slice(0, target.value.indexOf('/'));
    const { addresses } = parseTargets([network]);
    const named = (byName.get(name) ?? []).filter((ip) => addresses.has(ip));
    return [
      { value: network, kind: 'cidr' },
      ...named.map((ip): Target => ({ value: name, kind: 'hostname', ip })),
    ];
  }
  const addresses = target.kind === 'hostname' ? byName.get(target.value) : undefined;
  return addresses ? addresses.map((ip) => ({ ...target, ip })) : [target];
}

function addressesByName(names: Resolved['addresses']): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [address, ofAddress] of names) for (const name of ofAddress) pushTo(found, name, address);
  return found;
}

function pushTo(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The traffic of a run with the names that have no address. */
export function withUnresolved(traffic: Traffic, errors: PreparedTargets['errors']): Traffic {
  const resolve = errors.filter(({ code }) => code === unresolved).length;
  return { ...traffic, errors: { ...traffic.errors, resolve } };
}
