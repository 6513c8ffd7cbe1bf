import { setTimeout as sleep } from 'node:timers/promises';
import { isSyncDue, syncFingerprints } from '../actions/sync-fingerprints.ts';
import type { Config } from '../config/schema.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ServerLog } from './log.ts';

/** Time from the start to the first look, and between looks; a fetch that failed is tried again at the next one. */
const firstLookMs = 5000;
const betweenLooksMs = 3_600_000;

/**
 * Fetches the rules of `fingerprint.cache.url` when they are due and `fingerprint.cache.auto_sync` is on; else it contacts
 * nobody. Settings are read at each look, so that a reload holds. No scan waits for it.
 */
export class FingerprintSync {
  readonly #config: Config;
  readonly #log: ServerLog;
  readonly #closing = new AbortController();
  readonly #pace: { firstMs: number; betweenMs: number };
  #looks: Promise<void> = Promise.resolve();

  constructor(config: Config, log: ServerLog, pace = { firstMs: firstLookMs, betweenMs: betweenLooksMs }) {
    this.#config = config;
    this.#log = log;
    this.#pace = pace;
  }

  start(): void {
    this.#looks = this.#run();
  }

  /** Breaks a fetch off and waits until nothing of it is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looks;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    await wait(this.#pace.firstMs);
    while (!signal.aborted) {
      await this.#look();
      await wait(this.#pace.betweenMs);
    }
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    if (!this.#config.fingerprint.cache.auto_sync || !this.#config.workspace.enabled) return;
    try {
      if (!(await isSyncDue(this.#config))) return;
      const { state, source, set } = await syncFingerprints(this.#config, { force: false, signal });
      this.#log.info({ state, source, rules: set?.signatures ?? 0 }, 'fingerprint rules are fetched');
    } catch (err) {
      if (signal.aborted) return;
      const problem = err instanceof PortolanError ? { problem: err.message } : { err };
      this.#log.warn(problem, 'fingerprint rules could not be fetched; those in force stay');
    }
  }
}
