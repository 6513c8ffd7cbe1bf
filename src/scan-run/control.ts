import { PauseGate } from '../net/gate/pause-gate.ts';
import { PacketRateLimiter } from '../net/gate/rate.ts';
import type { Listener } from '../net/local-listeners.ts';

/** Rules that came into force while a scan runs. */
export interface ScopeRules {
  allow: string[];
  deny: string[];
  blocklist: string[];
}

/** What whoever runs a scan may change while it runs. */
export class ScanControl {
  /** Held while the scan is paused. */
  readonly hold = new PauseGate();
  readonly rate: PacketRateLimiter;
  /** Listeners of the server, which no packet of the scan may reach. */
  readonly listeners: readonly Listener[];
  /** Time that the scan was paused in earlier runs, milliseconds; no limit counts it. */
  readonly pausedMs: number;
  readonly #rules: ScopeRules[] = [];
  #narrow: ((rules: ScopeRules) => Promise<void>) | null = null;

  /** @param options.rate packets per second that the scan asked for */
  constructor(options: { rate: number; listeners?: readonly Listener[]; pausedMs?: number }) {
    this.rate = new PacketRateLimiter({ rate: options.rate });
    this.listeners = options.listeners ?? [];
    this.pausedMs = options.pausedMs ?? 0;
  }

  /** From now on only what these rules permit too may be touched. */
  narrow(rules: ScopeRules): void {
    if (this.#narrow) void this.#narrow(rules);
    else this.#rules.push(rules);
  }

  /**
   * Hands on the rules that came so far and all that come later. Resolves when those that came so far hold.
   * @param narrow never rejects
   */
  async onNarrow(narrow: (rules: ScopeRules) => Promise<void>): Promise<void> {
    this.#narrow = narrow;
    await Promise.all(this.#rules.splice(0).map(narrow));
  }
}
