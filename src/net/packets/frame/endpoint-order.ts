import { mix, type PermutationKey, permutationShape } from './permutation.ts';

/** Hosts x ports, an endpoint being host index x ports + port index. */
export interface EndpointShape {
  hosts: number;
  ports: number;
  /** Number of ports, from the first on, whose endpoints come before all others. */
  leading: number;
}

/**
 * The endpoints of hosts x ports, each exactly once: those of the leading ports in random order, then the others. The
 * order depends only on the key and the counter, so an iteration resumes by its counter, and nothing is made per packet.
 */
export class EndpointOrder {
  /** Counters from 0 up to it: those of the leading ports. */
  readonly head: number;
  /** All counters. */
  readonly length: number;
  readonly #key: PermutationKey;
  readonly #ports: number;
  readonly #leading: number;
  readonly #headSize: number;
  readonly #headMask: number;
  readonly #headShift: number;
  readonly #size: number;
  readonly #mask: number;
  readonly #shift: number;

  constructor({ hosts, ports, leading }: EndpointShape, key: PermutationKey) {
    this.#key = key;
    this.#ports = ports;
    // Where all of them lead, or none, there is one part.
    this.#leading = leading < ports ? leading : 0;
    this.#headSize = hosts * this.#leading;
    ({ mask: this.#headMask, shift: this.#headShift } = permutationShape(this.#headSize));
    this.#size = hosts * ports;
    ({ mask: this.#mask, shift: this.#shift } = permutationShape(this.#size));
    this.head = this.#leading === 0 ? 0 : this.#headMask + 1;
    this.length = this.head + this.#mask + 1;
  }

  /** The endpoint of a counter; -1 = none. */
  at(counter: number): number {
    if (counter < this.head) {
      const place = mix(counter, this.#key, this.#headMask, this.#headShift);
      if (place >= this.#headSize) return -1;
      const host = Math.floor(place / this.#leading);
      return host * this.#ports + place - host * this.#leading;
    }
    const endpoint = mix(counter - this.head, this.#key, this.#mask, this.#shift);
    return endpoint < this.#size && endpoint % this.#ports >= this.#leading ? endpoint : -1;
  }
}
