import { ceilingOf, type PacketRate, startRate } from '../domain/packet-rate.ts';
import { AdaptiveRate, leastRate } from '../net/adaptive/rate.ts';
import { PauseGate } from '../net/gate/pause-gate.ts';
import { PacketRateLimiter } from '../net/gate/rate.ts';
import type { Listener } from '../net/local-listeners.ts';

/** Scope rules that take effect while a scan runs. */
export interface ScopeRules {
  allow: string[];
  deny: string[];
  blocklist: string[];
}

/** Controls of a running scan. */
export class ScanControl {
  /** Closed while the scan is paused. */
  readonly hold = new PauseGate();
  /** What the scan may send at the most: the requested rate, and the share of it that the server assigns. */
  readonly #limit: PacketRateLimiter;
  /** What it sends: every packet takes a token of it. */
  readonly rate: PacketRateLimiter;
  /** Of a rate `auto`, else null. */
  readonly adaptive: AdaptiveRate | null;
  /** Listeners of the server; no packet of the scan may reach them. */
  readonly listeners: readonly Listener[];
  /** Time the scan was paused in earlier runs, milliseconds; not counted against limits. */
  readonly pausedMs: number;
  readonly #rules: ScopeRules[] = [];
  #narrow: ((rules: ScopeRules) => Promise<void>) | null = null;

  /**
   * @param options.rate requested by the scan
   * @param options.mostRate packets per second of all scans
   */
  constructor(options: {
    rate: PacketRate;
    mostRate: number;
    listeners?: readonly Listener[];
    pausedMs?: number;
  }) {
    const ceiling = ceilingOf(options.rate, options.mostRate);
    this.#limit = new PacketRateLimiter({ rate: ceiling });
    this.rate = this.#limit;
    this.adaptive = null;
    if (options.rate === 'auto') {
      const adaptive = new AdaptiveRate({ start: startRate, least: leastRate, most: ceiling });
      const rate = new PacketRateLimiter({ rate: adaptive.rate, ceiling, upstream: this.#limit });
      adaptive.onChange = (now) => rate.setRate(now);
      adaptive.isContended = () => rate.isContended;
      this.rate = rate;
      this.adaptive = adaptive;
    }
    this.listeners = options.listeners ?? [];
    this.pausedMs = options.pausedMs ?? 0;
  }

  /** Packets per second that it may send now. */
  get rateLimit(): number {
    return Math.min(this.rate.rate, this.#limit.rate);
  }

  /** @param rate packets per second that the scan may send at the most; 0 = none until the next call */
  setLimit(rate: number): void {
    this.#limit.setRate(rate);
  }

  /** From now on, these rules must permit an address too. */
  narrow(rules: ScopeRules): void {
    if (this.#narrow) void this.#narrow(rules);
    else this.#rules.push(rules);
  }

  /**
   * Passes on all past and future rule changes. Resolves when the past ones are in force.
   * @param narrow never rejects
   */
  async onNarrow(narrow: (rules: ScopeRules) => Promise<void>): Promise<void> {
    this.#narrow = narrow;
    await Promise.all(this.#rules.splice(0).map(narrow));
  }
}
