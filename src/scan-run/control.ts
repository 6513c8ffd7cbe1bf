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
  readonly rate: PacketRateLimiter;
  /** Listeners of the server; no packet of the scan may reach them. */
  readonly listeners: readonly Listener[];
  /** Time the scan was paused in earlier runs, milliseconds; not counted against limits. */
  readonly pausedMs: number;
  readonly #rules: ScopeRules[] = [];
  #narrow: ((rules: ScopeRules) => Promise<void>) | null = null;

  /** @param options.rate packets per second requested by the scan */
  constructor(options: { rate: number; listeners?: readonly Listener[]; pausedMs?: number }) {
    this.rate = new PacketRateLimiter({ rate: options.rate });
    this.listeners = options.listeners ?? [];
    this.pausedMs = options.pausedMs ?? 0;
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
