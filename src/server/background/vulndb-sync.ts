import { vulndbAge } from '../../actions/catalogs/show-vulndb.ts';
import { syncVulndb } from '../../actions/catalogs/sync-vulndb.ts';
import { syncSources, throughProxy, vulndbSources } from '../../actions/catalogs/vulndb-sources.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { vulndbFolder } from '../../scan-run/catalogs/vulndb-folder.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay, interval of the check, and pause before a failed source is retried. */
const usualPace = { firstMs: 5000, betweenMs: 600_000, retryMs: 3_600_000 };

/**
 * Refreshes the vulnerability data when it is older than `vulndb.ttl`, only with `vulndb.auto_sync`. Reads the settings
 * at each check, so that a reload takes effect. No scan waits for it. A sync that is aborted leaves the current data.
 */
export class VulndbSync extends PeriodicTasks {
  readonly #config: Config;
  readonly #log: ServerLog;
  readonly #pace: typeof usualPace;
  /** Monotonic milliseconds. */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(config: Config, log: ServerLog, pace = usualPace) {
    super((signal) => this.#look(signal), pace);
    this.#config = config;
    this.#log = log;
    this.#pace = pace;
  }

  async #look(signal: AbortSignal): Promise<void> {
    try {
      if (performance.now() >= this.#notBefore && this.#isDue()) await this.#sync(signal);
    } catch (err) {
      if (signal.aborted) return;
      this.#notBefore = performance.now() + this.#pace.retryMs;
      const problem = err instanceof PortolanError ? { problem: err.message } : { err };
      this.#log.warn(problem, 'vulnerability data sync failed, keeping the current data');
    }
  }

  /** Without a workspace there is nothing to refresh, unless vulndb.dir is set. */
  #isDue(): boolean {
    const { vulndb, workspace } = this.#config;
    if (!vulndb.auto_sync || (!workspace.enabled && vulndb.dir === '')) return false;
    const age = vulndbAge(vulndbFolder(this.#config));
    // Guards against a clock that was set back.
    return age === null || age > vulndb.ttl || age < 0;
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const { manifest, synced } = await throughProxy(() =>
      syncVulndb({
        dir: vulndbFolder(this.#config),
        urls: vulndbSources(this.#config),
        nvdApiKey: this.#config.vulndb.nvd_api_key,
        sources: syncSources,
        since: null,
        force: false,
        signal,
        onProgress: (text) => this.#log.debug(text),
      }),
    );
    if (signal.aborted) return;
    if (manifest) this.#log.info(manifest.counts, 'vulnerability data synced');
    for (const { error } of synced) {
      if (error === null) continue;
      this.#notBefore = performance.now() + this.#pace.retryMs;
      this.#log.warn({ problem: error }, 'a source of vulnerability data failed, keeping its old data');
    }
  }
}
