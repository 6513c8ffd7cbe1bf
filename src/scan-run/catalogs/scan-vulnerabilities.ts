import type { Config } from '../../config/schema.ts';
import type { CveSource } from '../../knowledge/vulndb/cve-record.ts';
import { vulndbFolder } from './vulndb-folder.ts';

/** The vulnerability data of one scan: opened on first use, and unchanged until its end. */
export class ScanVulnerabilities {
  readonly #config: Pick<Config, 'vulndb' | 'workspace'>;
  readonly #onProblem: (problem: string) => void;
  #source: Promise<CveSource> | null = null;
  #generation: string | null = null;
  #version: string | null = null;
  #close: () => void = () => undefined;

  /** @param onProblem called if the imported data is unusable and the builtin catalog replaces it */
  constructor(config: Pick<Config, 'vulndb' | 'workspace'>, onProblem: (problem: string) => void) {
    this.#config = config;
    this.#onProblem = onProblem;
  }

  /** The imported data with the builtin catalog, or the latter alone. */
  source(): Promise<CveSource> {
    this.#source ??= this.#open();
    return this.#source;
  }

  /** Version of the data that the scan uses; null = not used. */
  get version(): string | null {
    return this.#version;
  }

  /** Generation of the imported data that the scan uses; null = none, or not used. */
  get generation(): string | null {
    return this.#generation;
  }

  close(): void {
    this.#close();
  }

  async #open(): Promise<CveSource> {
    const [{ openVulndb }, { withBuiltin }] = await Promise.all([
      import('../../knowledge/vulndb/generation/generation.ts'),
      import('../../knowledge/vulndb/with-builtin.ts'),
    ]);
    try {
      const imported = await openVulndb(vulndbFolder(this.#config));
      if (imported) {
        this.#generation = imported.version;
        this.#close = () => imported.close();
      }
      return this.#use(withBuiltin(imported));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#onProblem(`imported vulnerability data not used: ${reason}`);
      return this.#use(withBuiltin(null));
    }
  }

  #use(source: CveSource): CveSource {
    this.#version = source.version;
    return source;
  }
}
