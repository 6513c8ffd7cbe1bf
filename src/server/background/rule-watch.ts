import { stat } from 'node:fs/promises';
import type { Config } from '../../config/schema.ts';
import { installedFolders, listInstalled } from '../../engine/graph/installed-files.ts';
import type { Component } from '../components.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

/** Interval at which the rule files are looked at, milliseconds. */
const watchMs = 15_000;

/**
 * Reports rule files of the operator that are invalid: to the log when they change, and to health. Scans read the files
 * themselves.
 */
export class RuleWatch extends PeriodicTasks implements Component {
  readonly #config: Pick<Config, 'workspace'>;
  readonly #log: Pick<ServerLog, 'info' | 'warn'>;
  readonly #env: NodeJS.ProcessEnv;
  /** Names, sizes and times of the files at the last look. */
  #seen = '';
  #problems: readonly string[] = [];

  constructor(config: Pick<Config, 'workspace'>, log: Pick<ServerLog, 'info' | 'warn'>, env = process.env) {
    super(() => this.look(), { firstMs: 0, betweenMs: watchMs });
    this.#config = config;
    this.#log = log;
    this.#env = env;
  }

  /** For people; null when all is well. Names no file: only the log does. */
  get fault(): string | null {
    return this.#problems.length === 0
      ? null
      : `${this.#problems.length} of the files of evaluation rules have problems; see the log`;
  }

  /** Reads the files if they changed. Never rejects. */
  async look(): Promise<void> {
    try {
      const state = await this.#state();
      if (state === this.#seen) return;
      this.#seen = state;
      // Reading YAML takes memory that servers without rules of their own need not spend.
      const { loadRules } = await import('../../scan-run/catalogs/load-rules.ts');
      const { set, problems } = await loadRules(this.#config, { env: this.#env });
      this.#problems = problems;
      if (problems.length > 0) this.#log.warn({ problems }, 'evaluation rules rejected');
      else this.#log.info({ rules: set.rules.length }, 'evaluation rules read');
    } catch (error) {
      this.#log.warn({ reason: String(error) }, 'cannot read evaluation rules');
    }
  }

  async #state(): Promise<string> {
    const { enabled, dir } = this.#config.workspace;
    const folders = installedFolders(enabled ? dir : null, this.#env).rules;
    const lines: string[] = [];
    for (const folder of folders) {
      const { files, problems } = await listInstalled(folder.dir);
      lines.push(...problems);
      for (const file of files) {
        const facts = await stat(file).catch(() => null);
        lines.push(`${file} ${facts?.ino} ${facts?.size} ${facts?.mtimeMs}`);
      }
    }
    return lines.join('\n');
  }
}
