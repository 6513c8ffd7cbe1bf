import { mergeRows } from '../../../domain/merge-rows.ts';
import { type Produced, producersOf } from '../../../domain/producer.ts';
import { type ResultRow, rowIdentity } from '../../../domain/result.ts';

/** Maximum number of rows that are kept for later ones of the same identity. */
const maxKept = 8192;

/** Rows as they are found, each with what earlier rows of its identity said; the oldest are forgotten. */
export class MergedRows {
  readonly #kept = new Map<string, { builtin: ResultRow | null; ofPlugins: ResultRow | null }>();

  /** @returns the row with what is known from earlier ones */
  add(row: ResultRow): ResultRow {
    const identity = rowIdentity(row);
    const parts = this.#kept.get(identity) ?? { builtin: null, ofPlugins: null };
    const part = producersOf(row as Produced).length > 0 ? 'ofPlugins' : 'builtin';
    parts[part] = mergeRows([...(parts[part] ? [parts[part]] : []), row]);
    this.#kept.delete(identity);
    this.#kept.set(identity, parts);
    if (this.#kept.size > maxKept) this.#forgetOldest();
    return mergeRows([parts.builtin, parts.ofPlugins].filter((one) => one !== null)) ?? row;
  }

  #forgetOldest(): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}
