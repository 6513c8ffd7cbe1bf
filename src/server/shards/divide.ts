import { formatAddress } from '../../domain/targets/address.ts';
import type { AddressSet } from '../../domain/targets/address-set.ts';

/** More shards than this make more work than they share: then each gets more addresses. */
const mostShards = 4096;

/** Pairs of address and port of one shard; an address of which more are asked is a shard by itself. */
const maxShardPairs = 4_194_304;

/**
 * How many shards a scan is divided into; they differ by one address at most.
 *
 * @param most addresses of one shard, whatever is asked of them
 * @param ports that are asked of each
 */
export function shardCount(addresses: bigint, most: number, ports: number): number {
  const size = BigInt(Math.max(1, Math.min(most, Math.floor(maxShardPairs / Math.max(1, ports)))));
  const count = (addresses + size - 1n) / size;
  return count > mostShards ? mostShards : Number(count);
}

/** Addresses as targets: ranges `first-last` and single addresses, in their order. */
export function asTargets(addresses: AddressSet): string[] {
  return addresses.intervals.map(({ family, first, last, zone }) => {
    const text = (value: bigint) => formatAddress({ family, value, zone });
    return first === last ? text(first) : `${text(first)}-${text(last)}`;
  });
}
