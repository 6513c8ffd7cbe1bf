import { showVulndb, vulndbAge } from '../../actions/catalogs/show-vulndb.ts';
import { syncVulndb } from '../../actions/catalogs/sync-vulndb.ts';
import { syncSources, throughProxy, vulndbSources } from '../../actions/catalogs/vulndb-sources.ts';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { vulndbFolder } from '../../scan-run/catalogs/vulndb-folder.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Initial delay, interval of the check, and pause before a failed source is retried. */
const usualPace = { firstMs: 5000, betweenMs: 600_000, retryMs: 3_600_000 };

/** Servers must not all ask at the same moment: the age at which one refreshes its data is up to this much higher. */
const maxJitterMs = 3_600_000;

/** Time and chance. */
export interface SyncClock {
  now(): number;
  /** 0 to 1. */
  random(): number;
}

const systemClock: SyncClock = { now: Date.now, random: Math.random };

/**
 * Refreshes the vulnerability data when it is older than `vulndb.ttl`, only with `vulndb.auto_sync`, and when a client
 * asks for it. Reads the settings at each check, so that a reload takes effect. No scan waits for it. A sync that is
 * aborted leaves the current data.
 */
export class VulndbSync extends PeriodicTasks {
  readonly #config: Config;
  readonly #log: ServerLog;
  readonly #pace: typeof usualPace;
  readonly #clock: SyncClock;
  readonly #jitterMs: number;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  /** Why the last sync, or a source of it, failed. */
  #problems: string[] = [];
  /** Milliseconds of the clock. */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(config: Config, log: ServerLog, pace = usualPace, clock = systemClock) {
    super(() => this.#look(), pace);
    this.#config = config;
    this.#log = log;
    this.#pace = pace;
    this.#clock = clock;
    this.#jitterMs = clock.random() * maxJitterMs;
  }

  override start(): void {
    this.#tellAge();
    super.start();
  }

  override async close(): Promise<void> {
    this.#stop.abort();
    await super.close();
    await this.#running;
  }

  get state(): { syncing: boolean; sync_problems: string[] } {
    return { syncing: this.#running !== null, sync_problems: this.#problems };
  }

  /** Syncs now; one that runs already goes on. */
  request(): void {
    void this.#syncOnce();
  }

  async #look(): Promise<void> {
    try {
      if (this.#clock.now() >= this.#notBefore && this.#isDue()) await this.#syncOnce();
    } catch (err) {
      this.#fail(err);
    }
  }

  async #syncOnce(): Promise<void> {
    this.#running ??= this.#sync(this.#stop.signal)
      .catch((err: unknown) => this.#fail(err))
      .finally(() => {
        this.#running = null;
      });
    await this.#running;
  }

  #fail(err: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#notBefore = this.#clock.now() + this.#pace.retryMs;
    const problem = err instanceof PortolanError ? { problem: err.message } : { err };
    this.#problems = [
      err instanceof PortolanError ? err.message : 'The sync failed; see the log of the server.',
    ];
    this.#log.warn(problem, 'vulnerability data sync failed, keeping the current data');
  }

  /** Once, at the start: data that is old, or that lacks what a sync fetches. */
  #tellAge(): void {
    const { auto_sync, ttl } = this.#config.vulndb;
    if (auto_sync || !this.#isKept()) return;
    try {
      const dir = vulndbFolder(this.#config);
      const age = vulndbAge(dir, this.#clock.now());
      const { lacks } = showVulndb(dir);
      if (age !== null && age <= ttl && lacks === null) return;
      const facts = {
        age_days: age === null ? null : Math.floor(age / 86_400_000),
        ...(lacks !== null && { lacks }),
      };
      this.#log.warn(facts, 'vulnerability data is old: run portolan vulndb sync, or set vulndb.auto_sync');
    } catch (err) {
      this.#log.warn({ err }, 'cannot read the vulnerability data');
    }
  }

  /** Without a workspace there is nothing to refresh, unless vulndb.dir is set. */
  #isKept(): boolean {
    return this.#config.workspace.enabled || this.#config.vulndb.dir !== '';
  }

  #isDue(): boolean {
    const { auto_sync, ttl } = this.#config.vulndb;
    if (!auto_sync || !this.#isKept()) return false;
    const age = vulndbAge(vulndbFolder(this.#config), this.#clock.now());
    // Guards against a clock that was set back.
    return age === null || age > ttl + this.#jitterMs || age < 0;
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
    this.#problems = synced.flatMap(({ error }) => error ?? []);
    if (this.#problems.length > 0) this.#notBefore = this.#clock.now() + this.#pace.retryMs;
    for (const problem of this.#problems)
      this.#log.warn({ problem }, 'a source of vulnerability data failed, keeping its old data');
  }
}
