/** Initial probes per second of a host. */
const firstPace = 50;

/** Maximum probes per second for one host, however fast it responds. */
const highestHostPace = 5000;

/** Minimum probes per second: Linux sends one ICMP error per second to one receiver. */
const slowestPace = 1;

/** Time limit for all tries of one host's ports, however rarely it responds; those with a payload come on top. */
const longestHostMs = 180_000;

/** Burst allowed after a time without probes, milliseconds. */
const slackMs = 10;

/** Consecutive responses that raise the rate, consecutive silent probes that lower it at once. */
const responsesToGrow = 5;
const silencesToBrake = 3;

/** Bounds of the time after which the missing ICMP error of a probe counts as suppressed. */
const shortestGiveUpMs = 50;
/** The upper bound, milliseconds. */
const longestGiveUpMs = 1000;

/**
 * Probe rate of one host. Systems limit the ICMP errors that indicate a closed UDP port (RFC 1812, 4.3.2.8); probed
 * faster than that, closed ports look silent. A host that sent such an error is probed as fast as its responses
 * arrive: slower if probes stay silent, faster if all get a response. A completely silent host reveals nothing, and
 * its rate stays.
 */
export class HostInterval {
  #perSecond: number;
  /** Minimum tries per second for ports that are not worth waiting for. */
  readonly #hurried: number;
  #nextAt = 0;
  #giveUpMs = longestGiveUpMs;
  #responses = 0;
  #silences = 0;
  #reportsClosed = false;

  /** @param tries of all its ports together */
  constructor(tries: number) {
    this.#hurried = Math.min(highestHostPace, (tries * 1000) / longestHostMs);
    this.#perSecond = Math.max(firstPace, this.#hurried);
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Age at which a probe without response is suspicious, milliseconds; Infinity while silence is normal. */
  get suspiciousAfterMs(): number {
    return this.#reportsClosed ? this.#giveUpMs : Infinity;
  }

  isDue(now: number): boolean {
    return now >= this.#nextAt;
  }

  /** @param patient the outcome of this probe is worth the time */
  spend(now: number, patient: boolean): void {
    const pace = patient ? this.#perSecond : Math.max(this.#perSecond, this.#hurried);
    this.#nextAt = Math.max(this.#nextAt, now - slackMs) + 1000 / pace;
  }

  answered(latencyMs: number, closed: boolean): void {
    this.#reportsClosed ||= closed;
    const giveUpMs = Math.min(longestGiveUpMs, Math.max(shortestGiveUpMs, 4 * latencyMs));
    const first = this.#responses === 0 && this.#silences === 0;
    this.#giveUpMs = first ? giveUpMs : this.#giveUpMs + (giveUpMs - this.#giveUpMs) / 4;
    this.#silences = 0;
    this.#responses += 1;
    if (this.#responses % responsesToGrow === 0) this.#set(this.#perSecond * 1.25);
  }

  /** A probe is older than `suspiciousAfterMs`. */
  stayedSilent(): void {
    this.#responses = 0;
    this.#silences += 1;
    this.#set(this.#perSecond * (this.#silences % silencesToBrake === 0 ? 0.25 : 0.8));
  }

  #set(perSecond: number): void {
    this.#perSecond = Math.min(highestHostPace, Math.max(slowestPace, perSecond));
  }
}
