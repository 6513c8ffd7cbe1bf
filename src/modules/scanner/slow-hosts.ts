/** Maximum number of remembered hosts. */
const maxHosts = 65_536;

/** Response time from which a host counts as slow, as a share of the timeout. */
const slowShare = 0.25;

/** Unidentified ports per host that are probed again. */
const maxUnknownRetries = 8;

/** A host with more open ports may be a tarpit: its unidentified ports are not probed again. */
const maxProbedPorts = 16;

/** Services that may greet late and are waited for at the same time, in all. */
const maxLateGreetings = 16;

/** Hosts with slow responses: silence of their ports may mean that a probe timed out. */
export class SlowHosts {
  readonly #slow = new Set<string>();
  readonly #probed = new Map<string, number>();
  readonly #unknownRetries = new Map<string, number>();
  #lateGreetings = 0;

  note(host: string, responseMs: number, timeoutMs: number): void {
    if (responseMs >= slowShare * timeoutMs && this.#slow.size < maxHosts) this.#slow.add(host);
  }

  has(host: string): boolean {
    return this.#slow.has(host);
  }

  /** Records that a port is being probed. */
  probing(host: string): void {
    if (this.#probed.size < maxHosts) this.#probed.set(host, (this.#probed.get(host) ?? 0) + 1);
  }

  /**
   * Whether there is time for a service that greets late; not at hosts with many open ports, nor for many at a time.
   * `greetingEnded` follows.
   */
  awaitGreeting(host: string): boolean {
    if (this.#lateGreetings >= maxLateGreetings || (this.#probed.get(host) ?? 0) > maxProbedPorts)
      return false;
    this.#lateGreetings += 1;
    return true;
  }

  greetingEnded(): void {
    this.#lateGreetings -= 1;
  }

  /** Whether one more unidentified port of the host may be probed again. */
  retryUnknown(host: string): boolean {
    const before = this.#unknownRetries.get(host) ?? 0;
    if (before >= maxUnknownRetries || (this.#probed.get(host) ?? 0) > maxProbedPorts) return false;
    this.#unknownRetries.set(host, before + 1);
    return true;
  }
}
