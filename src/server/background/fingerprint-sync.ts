import { isSyncDue, syncFingerprints } from '../../actions/catalogs/sync-fingerprints.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay and interval of the check; a failed fetch is retried at the next one. */
const usualPace = { firstMs: 5000, betweenMs: 3_600_000 };

/**
 * Refreshes the rules of `fingerprint.cache.url` when they are due, only with `fingerprint.cache.auto_sync`. Reads the
 * settings at each check, so that a reload takes effect. No scan waits for it.
 */
export class FingerprintSync extends PeriodicTasks {
  readonly #config: Config;
  readonly #log: ServerLog;

  constructor(config: Config, log: ServerLog, pace = usualPace) {
    super((signal) => this.#look(signal), pace);
    this.#config = config;
    this.#log = log;
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (!this.#config.fingerprint.cache.auto_sync || !this.#config.workspace.enabled) return;
    try {
      if (!(await isSyncDue(this.#config))) return;
      const { state, source, set } = await syncFingerprints(this.#config, { force: false, signal });
      this.#log.info({ state, source, rules: set?.signatures ?? 0 }, 'fingerprint rules synced');
    } catch (err) {
      if (signal.aborted) return;
      const problem = err instanceof PortolanError ? { problem: err.message } : { err };
      this.#log.warn(problem, 'fingerprint sync failed, keeping the current rules');
    }
  }
}
