import type { Config } from '../../config/schema.ts';
import type { RuleSet } from '../../knowledge/evaluation-rules/rule-set.ts';
import type { PluginFile } from '../../plugins/plugin.ts';

/** The declarative rules of one scan: read on first use, and unchanged until its end. */
export class ScanRules {
  readonly #config: Pick<Config, 'workspace'>;
  readonly #plugins: readonly PluginFile[];
  readonly #onProblem: (problem: string) => void;
  #loading: Promise<RuleSet> | null = null;

  constructor(
    config: Pick<Config, 'workspace'>,
    plugins: readonly PluginFile[],
    onProblem: (problem: string) => void,
  ) {
    this.#config = config;
    this.#plugins = plugins;
    this.#onProblem = onProblem;
  }

  all(): Promise<RuleSet> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<RuleSet> {
    const { loadRules } = await import('./load-rules.ts');
    const { set, problems } = await loadRules(this.#config, { plugins: this.#plugins });
    for (const problem of problems) this.#onProblem(problem);
    return set;
  }
}
