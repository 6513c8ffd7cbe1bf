import type { CveRecord } from '../cve-record.ts';
import { shaped } from './generation-format.ts';
import { type PackedConfiguration, unpackConfigurations } from './record-code.ts';

/** A record whose long parts are read on first access. */
export class StoredRecord implements CveRecord {
  readonly id: string;
  readonly published: string;
  readonly modified: string;
  readonly cvss: CveRecord['cvss'];
  readonly cwe: string[];
  readonly rejected = false;
  readonly source: string;
  readonly #packed: string | 0;
  readonly #whole: () => CveRecord;

  constructor(
    id: string,
    published: string,
    modified: string,
    cvss: CveRecord['cvss'],
    cwe: string[],
    source: string,
    packed: string | 0,
    whole: () => CveRecord,
  ) {
    this.id = id;
    this.published = published;
    this.modified = modified;
    this.cvss = cvss;
    this.cwe = cwe;
    this.source = source;
    this.#packed = packed;
    this.#whole = whole;
  }

  get title(): string | null {
    return this.#whole().title;
  }

  get description(): string {
    return this.#whole().description;
  }

  get references(): string[] {
    return this.#whole().references;
  }

  get configurations(): CveRecord['configurations'] {
    const packed = this.#packed;
    if (packed === 0) return this.#whole().configurations;
    return shaped(() => unpackConfigurations(JSON.parse(packed) as PackedConfiguration[]));
  }

  /** Includes the parts that are read on access. */
  toJSON(): CveRecord {
    const { id, title, description, published, modified, cvss, cwe, references, configurations } = this;
    const { rejected, source } = this;
    return {
      id,
      title,
      description,
      published,
      modified,
      cvss,
      cwe,
      references,
      configurations,
      rejected,
      source,
    };
  }
}
