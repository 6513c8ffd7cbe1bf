import { randomBytes } from 'node:crypto';

/** Rounds of the mixer; four spread neighbors over the whole range. */
const rounds = 4;

/** Largest permutation: the mixer works in 31-bit integers. */
export const maxPermutation = 2 ** 31;

/**
 * The numbers 0..size-1 in a random order, each exactly once, in constant memory. The order depends only on the key
 * and the position, so an iteration resumes by its counter. A bijection on k bits, k = ceil(log2 size): each round is
 * xor with a key, multiplication by an odd number and a right shift folded in; results outside the range are skipped,
 * fewer than one per valid one.
 * @param shard only each `of`-th position, from the `index`-th on: `of` shards with one key divide the numbers among
 * them
 * @throws RangeError if size is above 2^31
 */
export function* permutation(
  size: number,
  key: PermutationKey = randomPermutationKey(),
  start = 0,
  shard: PermutationShard = { index: 0, of: 1 },
): Generator<number, void, undefined> {
  if (!Number.isInteger(size) || size < 0 || size > maxPermutation)
    throw new RangeError(`no permutation of ${size} items`);
  if (size === 0) return;
  const { mask, shift } = permutationShape(size);
  const first = start + ((((shard.index - start) % shard.of) + shard.of) % shard.of);
  for (let index = first; index <= mask; index += shard.of) {
    const mixed = mix(index, key, mask, shift);
    if (mixed < size) yield mixed;
  }
}

/** A shard of a permutation: positions `index`, `index + of`, `index + 2 of`, ... */
export interface PermutationShard {
  index: number;
  of: number;
}

/** Counters of a permutation range from 0 to `mask`; results of `mix` of `size` or more are skipped. */
export function permutationShape(size: number): { mask: number; shift: number } {
  const bits = Math.max(1, Math.ceil(Math.log2(size)));
  return { mask: bits === 31 ? 0x7fffffff : (1 << bits) - 1, shift: Math.max(1, bits >> 1) };
}

/** Two numbers per round: the mask of the xor and the odd factor. */
export type PermutationKey = readonly number[];

export function randomPermutationKey(): PermutationKey {
  const bytes = randomBytes(rounds * 8);
  return Array.from({ length: rounds * 2 }, (_, at) => bytes.readUInt32LE(at * 4));
}

/** Position of a counter in the range of a permutation; a bijection of 0..mask. */
export function mix(index: number, key: PermutationKey, mask: number, shift: number): number {
  let value = index;
  for (let round = 0; round < rounds; round++) {
    value = (value ^ (key[2 * round] as number)) & mask;
    value = Math.imul(value, (key[2 * round + 1] as number) | 1) & mask;
    value ^= value >>> shift;
  }
  return value;
}

/**
 * The elements of an indexable set in the random order of a key. Sets above 2^31 are permuted block by block, so that
 * the order is random within each block.
 */
export function* shuffled<T>(
  size: bigint,
  at: (index: bigint) => T,
  key: PermutationKey = randomPermutationKey(),
): Generator<T, void, undefined> {
  const block = BigInt(maxPermutation);
  for (let first = 0n; first < size; first += block) {
    const count = size - first < block ? size - first : block;
    for (const index of permutation(Number(count), key)) yield at(first + BigInt(index));
  }
}
