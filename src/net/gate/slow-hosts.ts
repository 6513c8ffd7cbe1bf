/** A host with a response time above this gets the whole timeout, milliseconds. */
export const slowAnswerMs = 300;

/** Maximum number of slow hosts that are remembered. */
const maxSlowHosts = 65_536;

/** Hosts that take long to respond. */
export class SlowHosts {
  readonly #hosts = new Set<string>();

  has(host: string): boolean {
    return this.#hosts.has(host);
  }

  /** @param latencyMs of a response; Infinity = known to be slow */
  note(host: string, latencyMs: number): void {
    if (latencyMs > slowAnswerMs && this.#hosts.size < maxSlowHosts) this.#hosts.add(host);
  }
}
