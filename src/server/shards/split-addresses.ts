import { formatAddress } from '../../domain/address.ts';
import type { AddressSet } from '../../domain/address-set.ts';

/** More shards than this make more work than they share: then each gets more addresses. */
const mostShards = 4096;

/** Pairs of address and port of one shard; an address of which more are asked is a shard by itself. */
const maxShardPairs = 4_194_304;

/**
 * Addresses of one shard.
 *
 * @param most addresses, whatever is asked of them
 * @param ports that are asked of each
 */
export function shardSize(most: number, ports: number): number {
  return Math.max(1, Math.min(most, Math.floor(maxShardPairs / Math.max(1, ports))));
}

/**
 * Divides addresses into shards of neighbours, each of the same size but for the last, without listing them.
 *
 * @param size addresses of one shard
 * @returns for each shard its ranges `first-last` and single addresses
 */
export function splitAddresses(addresses: AddressSet, size: number): string[][] {
  const count = (addresses.size + BigInt(size) - 1n) / BigInt(size);
  const shards = count > BigInt(mostShards) ? BigInt(mostShards) : count;
  if (shards === 0n) return [];
  const room = (addresses.size + shards - 1n) / shards;
  const split: string[][] = [[]];
  let left = room;
  for (const { family, first, last, zone } of addresses.intervals) {
    for (let from = first; from <= last; ) {
      if (left === 0n) {
        split.push([]);
        left = room;
      }
      const to = from + left - 1n < last ? from + left - 1n : last;
      const text = (value: bigint) => formatAddress({ family, value, zone });
      split.at(-1)?.push(from === to ? text(from) : `${text(from)}-${text(to)}`);
      left -= to - from + 1n;
      from = to + 1n;
    }
  }
  return split;
}
