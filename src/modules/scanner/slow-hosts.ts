/** Most hosts that are remembered. */
const maxHosts = 65_536;

/** Response time from which a host counts as slow, as a share of the timeout. */
const slowShare = 0.25;

/** Ports of one host that named no service and are probed once more. */
const maxUnknownRetries = 8;

/** Hosts whose responses took long: silence of their ports may mean that a probe had no time. */
export class SlowHosts {
  readonly #slow = new Set<string>();
  readonly #unknownRetries = new Map<string, number>();

  note(host: string, responseMs: number, timeoutMs: number): void {
    if (responseMs >= slowShare * timeoutMs && this.#slow.size < maxHosts) this.#slow.add(host);
  }

  has(host: string): boolean {
    return this.#slow.has(host);
  }

  /** Whether one more port of the host that named no service may be probed again: a host full of them costs no multiple. */
  retryUnknown(host: string): boolean {
    const before = this.#unknownRetries.get(host) ?? 0;
    if (before >= maxUnknownRetries || (before === 0 && this.#unknownRetries.size >= maxHosts)) return false;
    this.#unknownRetries.set(host, before + 1);
    return true;
  }
}
