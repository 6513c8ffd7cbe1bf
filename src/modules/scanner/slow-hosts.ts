/** Most hosts that are remembered. */
const maxHosts = 65_536;

/** Response time from which a host counts as slow, as a share of the timeout. */
const slowShare = 0.25;

/** Ports of one host that named no service and are probed once more. */
const maxUnknownRetries = 8;

/** A host with more open ports may accept every port: those that named no service are not probed again. */
const maxProbedPorts = 16;

/** Hosts whose responses took long: silence of their ports may mean that a probe had no time. */
export class SlowHosts {
  readonly #slow = new Set<string>();
  readonly #probed = new Map<string, number>();
  readonly #unknownRetries = new Map<string, number>();

  note(host: string, responseMs: number, timeoutMs: number): void {
    if (responseMs >= slowShare * timeoutMs && this.#slow.size < maxHosts) this.#slow.add(host);
  }

  has(host: string): boolean {
    return this.#slow.has(host);
  }

  /** Takes note of a port that is probed. */
  probing(host: string): void {
    if (this.#probed.size < maxHosts) this.#probed.set(host, (this.#probed.get(host) ?? 0) + 1);
  }

  /** Whether one more port of the host that named no service may be probed again. */
  retryUnknown(host: string): boolean {
    const before = this.#unknownRetries.get(host) ?? 0;
    if (before >= maxUnknownRetries || (this.#probed.get(host) ?? 0) > maxProbedPorts) return false;
    this.#unknownRetries.set(host, before + 1);
    return true;
  }
}
