import type { Config } from '../../config/schema.ts';
import { catalogVersion } from '../../knowledge/rules/catalog-version.ts';
import type { RuleCatalog } from '../../knowledge/rules/rule-catalog.ts';

/** The fingerprint rules of one scan: read on first use, and unchanged until its end. */
export class ScanFingerprints {
  readonly #config: Config;
  readonly #onProblem: (problem: string) => void;
  readonly #byFile = new Map<string, Promise<RuleCatalog>>();
  #version: string = catalogVersion;

  constructor(config: Config, onProblem: (problem: string) => void) {
    this.#config = config;
    this.#onProblem = onProblem;
  }

  /** Whether they were used. */
  get used(): boolean {
    return this.#byFile.size > 0;
  }

  /** Version for the results of the scan. */
  get version(): string {
    return this.#version;
  }

  /** @param rulesFile a file of additional rules, '' for none. @throws PortolanError `configuration` for that file */
  async of(rulesFile: string): Promise<RuleCatalog> {
    const known = this.#byFile.get(rulesFile);
    if (known) return known;
    const loading = rulesFile === '' ? this.#load() : this.#withFile(rulesFile);
    this.#byFile.set(rulesFile, loading);
    const { version } = await loading;
    if (version.length > this.#version.length) this.#version = version;
    return loading;
  }

  async #withFile(rulesFile: string): Promise<RuleCatalog> {
    const { withRulesFile } = await import('../../knowledge/rules/signature-file.ts');
    return await withRulesFile(await this.of(''), rulesFile);
  }

  async #load(): Promise<RuleCatalog> {
    const { loadFingerprints } = await import('./load-fingerprints.ts');
    const { catalogue, problems } = await loadFingerprints(this.#config);
    for (const problem of problems) this.#onProblem(problem);
    return catalogue;
  }
}
