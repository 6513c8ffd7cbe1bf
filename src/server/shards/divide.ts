import { mostShards, type ShardPlan } from '../../domain/shard.ts';
import { formatAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';

/** Pairs of address and port per shard; an address with more is a shard by itself. */
const maxShardPairs = 4_194_304;

/**
 * Number of shards; their sizes differ by at most one address.
 *
 * @param most addresses per shard, whatever their ports
 * @param ports per address
 */
export function shardCount(addresses: bigint, most: number, ports: number): number {
  const size = BigInt(Math.max(1, Math.min(most, Math.floor(maxShardPairs / Math.max(1, ports)))));
  const count = (addresses + size - 1n) / size;
  return count > mostShards ? mostShards : Number(count);
}

/** Addresses as targets, in order: ranges `first-last` and single addresses. */
export function asTargets(addresses: AddressSet): string[] {
  return addresses.intervals.map(({ family, first, last, zone }) => {
    const text = (value: bigint) => formatAddress({ family, value, zone });
    return first === last ? text(first) : `${text(first)}-${text(last)}`;
  });
}

/** Addresses of each name. @param hostnames names of each address */
export function addressesByName(hostnames: ShardPlan['hostnames']): Record<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const [ip, names] of Object.entries(hostnames))
    for (const name of names) addresses.set(name, [...(addresses.get(name) ?? []), ip]);
  return Object.fromEntries(addresses);
}
