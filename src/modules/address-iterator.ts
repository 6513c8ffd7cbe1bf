import { createHash } from 'node:crypto';
import type { AddressSet } from '../domain/address-set.ts';
import { type PermutationKey, randomPermutationKey, shuffled } from '../net/packets/permutation.ts';

/** Where a walk stands, as a checkpoint keeps it. */
export interface IteratorState {
  /** Stands for the addresses that it goes through. */
  over: string;
  key: PermutationKey;
  /** Addresses taken from the walk so far. */
  taken: number;
  /** Of these, the ones whose outcome is open. */
  open: string[];
}

/**
 * The addresses of a scan in random order, each once. Whoever takes one settles it when its outcome is known, so that
 * after an interruption the walk goes on with exactly the addresses whose outcome is not.
 */
export class AddressIterator implements Iterator<string, undefined>, Iterable<string> {
  readonly #over: string;
  readonly #key: PermutationKey;
  readonly #addresses: Iterator<string, void>;
  /** Taken before an interruption, neither settled nor given since. */
  readonly #again: Set<string>;
  readonly #nextAgain: Iterator<string, void>;
  /** Whether it goes on where an interrupted walk stood. */
  readonly resumed: boolean;
  readonly #open = new Set<string>();
  #taken: number;
  #settled: number;

  /** @param restored the state of an interrupted walk; of no use when other addresses are to be walked meanwhile */
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

  /** Whether it was taken and its outcome is not known. */
  isOpen(address: string): boolean {
    return this.#open.has(address);
  }

  /** Its outcome is known, also of one that was taken before an interruption and not since. */
  settle(address: string): void {
    if (this.#open.delete(address) || this.#again.delete(address)) this.#settled += 1;
  }

  /** Addresses whose outcome is known. */
  get settled(): number {
    return this.#settled;
  }

  state(): IteratorState {
    return { over: this.#over, key: this.#key, taken: this.#taken, open: [...this.#open, ...this.#again] };
  }
}

/** Rules and links that changed make other positions of the same addresses. */
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
