import { type PermutationKey, permutation } from '../../net/packets/frame/permutation.ts';

/** Ports in random order, some of them before the others. */
export class PortOrder {
  readonly length: number;
  /** Number of positions before those of the other ports. */
  readonly leading: number;
  readonly #leading: Uint16Array;
  readonly #others: Uint16Array;

  /** @param leads whether a port comes before those that do not */
  constructor(ports: readonly number[], key: PermutationKey, leads: (port: number) => boolean) {
    const shuffled = Uint16Array.from(permutation(ports.length, key), (index) => ports[index] as number);
    this.length = ports.length;
    this.#leading = shuffled.filter(leads);
    this.leading = this.#leading.length;
    this.#others = shuffled.filter((port) => !leads(port));
  }

  /** @param first start position of a host: hosts are not all probed on the same port at the same time */
  at(position: number, first: number): number {
    const { length } = this.#leading;
    if (position < length) return this.#leading[(first + position) % length] as number;
    return this.#others[(first + position) % this.#others.length] as number;
  }
}
