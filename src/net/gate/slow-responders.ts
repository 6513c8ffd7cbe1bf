/** A host with a response time above this gets the whole timeout, milliseconds. */
export const slowResponseMs = 300;

/** Maximum number of slow hosts that are remembered. */
const maxSlowResponders = 65_536;

/** Hosts that take long to respond. */
export class SlowResponders {
  readonly #hosts = new Set<string>();

  has(host: string): boolean {
    return this.#hosts.has(host);
  }

  /** @param latencyMs of a response; Infinity = known to be slow */
  note(host: string, latencyMs: number): void {
    if (latencyMs > slowResponseMs && this.#hosts.size < maxSlowResponders) this.#hosts.add(host);
  }
}
