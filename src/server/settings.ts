import type { LoadedConfig } from '../config/load.ts';
import { type Config, isReloadable } from '../config/schema.ts';
import { configPaths, setValueAt, valueAt } from '../config/tree.ts';
import { PortolanError } from '../domain/errors.ts';
import type { ReloadReport } from '../workspace/reload-notice.ts';
import type { ServerLog } from './logging/log.ts';

/**
 * Reload step of one part of the server. Checks the new settings and returns a function that applies them, or nothing
 * if there is nothing to apply. Changes are applied only if every step succeeds, so a step must not change anything
 * itself. Runs at every reload: files that settings name may have changed although the settings have not.
 *
 * @param alertFiles possible files of alert rules, see `LoadedConfig`
 * @throws PortolanError if the new settings, or the files that they name, are invalid
 */
export type ReloadStep = (
  next: Config,
  changed: ReadonlySet<string>,
  alertFiles: readonly string[],
) => Promise<Commit> | Commit;
/** Must not throw. May return what has changed beside the settings: one that names a file, or what is in a folder. */
type Commit = (() => string | readonly string[] | undefined) | (() => void) | undefined;

export interface ReloadObserver {
  begin?(): void;
  end?(report: ReloadReport): void;
}

/**
 * Settings of a running server. There is one `Config` object for its whole life: a reload changes its values, so
 * everybody who has the object or a section of it sees them. Steps update what is derived from them.
 */
export class Settings {
  readonly #config: Config;
  readonly #origins: Map<string, string>;
  readonly #read: (() => Promise<LoadedConfig>) | null;
  readonly #log: ServerLog;
  readonly #steps = new Map<string, ReloadStep>();
  readonly #observers: ReloadObserver[] = [];
  /** Reloads run one after another: the last one requested sees the newest files. */
  #running: Promise<unknown> = Promise.resolve();

  /** @param read reads the settings from their source; null if there is none */
  constructor(
    { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
    read: (() => Promise<LoadedConfig>) | null,
    log: ServerLog,
  ) {
    this.#config = config;
    this.#origins = new Map(origins);
    this.#read = read;
    this.#log = log;
  }

  get config(): Config {
    return this.#config;
  }

  /** Where the values in force come from, as in `LoadedConfig`. */
  get origins(): Map<string, string> {
    return this.#origins;
  }

  /** @param name of the part, for the log */
  onReload(name: string, step: ReloadStep): void {
    this.#steps.set(name, step);
  }

  observe(observer: ReloadObserver): void {
    this.#observers.push(observer);
  }

  /** Reads the settings again and applies what needs no restart; all or nothing. Never throws. */
  reload(): Promise<ReloadReport> {
    const run = this.#running.then(() => this.#reload());
    this.#running = run;
    return run;
  }

  async #reload(): Promise<ReloadReport> {
    for (const observer of this.#observers) observer.begin?.();
    const report = await this.#tryReload().catch((error: unknown) => refused(problemsOf(error)));
    this.#report(report);
    for (const observer of this.#observers) observer.end?.(report);
    return report;
  }

  async #tryReload(): Promise<ReloadReport> {
    if (!this.#read) return refused(['this server has no configuration to reload']);
    const { config: read, origins, warnings, alertFiles } = await this.#read();
    const different = configPaths(this.#config, read).filter(
      (path) => JSON.stringify(valueAt(this.#config, path)) !== JSON.stringify(valueAt(read, path)),
    );
    const changed = different.filter(isReloadable);
    const next = structuredClone(this.#config);
    for (const path of changed) setValueAt(next, path, valueAt(read, path));
    const commits = await this.#prepare(next, new Set(changed), alertFiles);
    for (const path of changed) {
      setValueAt(this.#config, path, valueAt(read, path));
      this.#origins.set(path, origins.get(path) ?? 'default');
    }
    const files = commits.flatMap((commit) => commit() ?? []);
    const waiting = different.filter((path) => !isReloadable(path));
    const inForce = [...new Set([...changed, ...files])];
    return { ok: true, changed: inForce, needs_restart: waiting, warnings, problems: [] };
  }

  /** Checks every step, to report all problems at once. */
  async #prepare(...[next, changed, alertFiles]: Parameters<ReloadStep>): Promise<NonNullable<Commit>[]> {
    const commits: NonNullable<Commit>[] = [];
    const problems: string[] = [];
    for (const [name, step] of this.#steps) {
      try {
        const commit = await step(next, changed, alertFiles);
        if (commit) commits.push(commit);
      } catch (error) {
        if (!(error instanceof PortolanError)) this.#log.error({ err: error, part: name }, 'reload failed');
        problems.push(...problemsOf(error).map((problem) => `${name}: ${problem}`));
      }
    }
    if (problems.length > 0) throw new PortolanError('configuration', problems.join('\n'), { problems });
    return commits;
  }

  #report({ ok, changed, needs_restart, warnings, problems }: ReloadReport): void {
    for (const warning of warnings) this.#log.warn(warning);
    for (const problem of problems) this.#log.error(`configuration: ${problem}`);
    for (const key of needs_restart) this.#log.warn(`${key} changed, which needs a restart`);
    if (ok) this.#log.info({ changed }, 'configuration reloaded');
    else this.#log.error('configuration reload rejected, keeping the old settings');
  }
}

function refused(problems: string[]): ReloadReport {
  return { ok: false, changed: [], needs_restart: [], warnings: [], problems };
}

/** Problems that operators can fix; internal errors are only logged. */
function problemsOf(error: unknown): string[] {
  if (!(error instanceof PortolanError)) return ['internal error; see the log'];
  const { problems } = error.details;
  return Array.isArray(problems) ? problems.map(String) : [error.message];
}
