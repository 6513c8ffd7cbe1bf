/** Probes per second that a host gets until it shows what it bears. */
const firstPace = 50;

/** Most probes per second for one host, however fast it answers. */
const highestHostPace = 5000;

/** Fewest probes per second: Linux sends one ICMP error a second to one receiver. */
const slowestPace = 1;

/** Time in which all tries for the ports of one host are made, however rarely it answers; those with a payload come on top. */
const longestHostMs = 180_000;

/** A host that was not asked for a while may catch up this much at once. */
const slackMs = 10;

/** Answers in a row that make the pace faster, silent probes in a row that brake at once. */
const answersToGrow = 5;
const silencesToBrake = 3;

/** Bounds of the time after which an unanswered probe counts as one whose ICMP error was held back. */
const shortestPatienceMs = 50;
const longestPatienceMs = 1000;

/**
 * How fast one host is probed. Systems limit the ICMP errors that tell a closed UDP port (RFC 1812, 4.3.2.8); probed
 * faster than that, closed ports look silent. A host that sent such an error is probed as fast as its answers arrive:
 * slower when probes stay silent, faster when all are answered. Of a host that is silent altogether nothing is learned,
 * and its pace stays.
 */
export class HostInterval {
  #perSecond: number;
  /** Fewest tries per second of ports that are not worth patience. */
  readonly #hurried: number;
  #nextAt = 0;
  #patienceMs = longestPatienceMs;
  #answers = 0;
  #silences = 0;
  #tellsClosed = false;

  /** @param tries of all its ports together */
  constructor(tries: number) {
    this.#hurried = Math.min(highestHostPace, (tries * 1000) / longestHostMs);
    this.#perSecond = Math.max(firstPace, this.#hurried);
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** Age at which an unanswered probe is suspicious, milliseconds; Infinity while silence means nothing. */
  get suspiciousAfterMs(): number {
    return this.#tellsClosed ? this.#patienceMs : Infinity;
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
    this.#tellsClosed ||= closed;
    const patience = Math.min(longestPatienceMs, Math.max(shortestPatienceMs, 4 * latencyMs));
    const first = this.#answers === 0 && this.#silences === 0;
    this.#patienceMs = first ? patience : this.#patienceMs + (patience - this.#patienceMs) / 4;
    this.#silences = 0;
    this.#answers += 1;
    if (this.#answers % answersToGrow === 0) this.#set(this.#perSecond * 1.25);
  }

  /** A probe is older than `suspiciousAfterMs`. */
  stayedSilent(): void {
    this.#answers = 0;
    this.#silences += 1;
    this.#set(this.#perSecond * (this.#silences % silencesToBrake === 0 ? 0.25 : 0.8));
  }

  #set(perSecond: number): void {
    this.#perSecond = Math.min(highestHostPace, Math.max(slowestPace, perSecond));
  }
}
