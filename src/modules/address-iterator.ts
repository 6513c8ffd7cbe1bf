import { createHash } from 'node:crypto';
import type { AddressSet } from '../domain/targets/address-set.ts';
import { type PermutationKey, randomPermutationKey, shuffled } from '../net/packets/frame/permutation.ts';

/** State of an iterator in a checkpoint. */
export interface IteratorState {
  /** Fingerprint of the set of addresses. */
  over: string;
  key: PermutationKey;
  /** Number of addresses taken so far. */
  taken: number;
  /** Those of them without an outcome yet. */
  open: string[];
}

/**
 * The addresses of a scan in random order, each once. The consumer marks an address complete once its outcome is known,
 * so that after an interruption the iterator continues with exactly the incomplete addresses.
 */
export class AddressIterator implements Iterator<string, undefined>, Iterable<string> {
  readonly #over: string;
  readonly #key: PermutationKey;
  readonly #addresses: Iterator<string, void>;
  /** Taken before an interruption, neither completed nor returned since. */
  readonly #again: Set<string>;
  readonly #nextAgain: Iterator<string, void>;
  /** Whether it continues an interrupted iteration. */
  readonly resumed: boolean;
  readonly #open = new Set<string>();
  #taken: number;
  #settled: number;

  /** @param restored state of an interrupted iteration; ignored if the addresses have changed */
  constructor(addresses: AddressSet, restored: unknown) {
    this.#over = fingerprint(addresses);
    const state = isWalkState(restored) && restored.over === this.#over ? restored : null;
    this.resumed = state !== null;
    this.#key = state?.key ?? randomPermutationKey();
    this.#taken = state?.taken ?? 0;
    this.#again = new Set(state?.open);
    this.#nextAgain = this.#again.values();
    this.#settled = this.#taken - this.#again.size;
    this.#addresses = shuffled(addresses.size, (index) => addresses.at(index), this.#key);
    for (let i = 0; i < this.#taken; i++) this.#addresses.next();
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<string, undefined> {
    const address = this.#nextAgain.next().value ?? this.#fresh();
    if (address === undefined) return { done: true, value: undefined };
    this.#again.delete(address);
    this.#open.add(address);
    return { done: false, value: address };
  }

  #fresh(): string | undefined {
    const { done, value } = this.#addresses.next();
    if (done || value === undefined) return undefined;
    this.#taken += 1;
    return value;
  }

  /** Whether it was taken and has no outcome yet. */
  isOpen(address: string): boolean {
    return this.#open.has(address);
  }

  /** Marks its outcome as known, also if it was taken before an interruption and not since. */
  settle(address: string): void {
    if (this.#open.delete(address) || this.#again.delete(address)) this.#settled += 1;
  }

  /** Number of addresses with a known outcome. */
  get settled(): number {
    return this.#settled;
  }

  state(): IteratorState {
    return { over: this.#over, key: this.#key, taken: this.#taken, open: [...this.#open, ...this.#again] };
  }
}

/** Changed rules and links change the positions of the same addresses. */
function fingerprint(addresses: AddressSet): string {
  const hash = createHash('sha256');
  for (const { family, first, last, step, zone } of addresses.intervals)
    hash.update(`${family} ${first} ${last} ${step} ${zone}\n`);
  return hash.digest('base64url');
}

function isWalkState(value: unknown): value is IteratorState {
  const state = value as IteratorState | null;
  return Array.isArray(state?.key) && Number.isInteger(state.taken) && Array.isArray(state.open);
}
