import { isSyncDue, syncFingerprints } from '../../actions/catalogs/sync-fingerprints.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Time from the start to the first look, and between looks; a fetch that failed is tried again at the next one. */
const usualPace = { firstMs: 5000, betweenMs: 3_600_000 };

/**
 * Fetches the rules of `fingerprint.cache.url` when they are due and `fingerprint.cache.auto_sync` is on; else it contacts
 * nobody. Settings are read at each look, so that a reload holds. No scan waits for it.
 */
export class FingerprintSync {
  readonly #config: Config;
  readonly #log: ServerLog;
  readonly #looks: PeriodicTasks;

  constructor(config: Config, log: ServerLog, pace = usualPace) {
    this.#config = config;
    this.#log = log;
    this.#looks = new PeriodicTasks((signal) => this.#look(signal), pace);
  }

  start(): void {
    this.#looks.start();
  }

  /** Breaks a fetch off and waits until nothing of it is under way. */
  async close(): Promise<void> {
    await this.#looks.close();
  }

  async #look(signal: AbortSignal): Promise<void> {
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
