import { unknownText } from '../../model/report-text.ts';

/** The pages of what the report refers to, from the first pass. */
export class Places {
  /** Of the whole report; 0 during the first pass. */
  pages = 0;
  readonly #pageOf = new Map<string, number>();

  record(name: string, page: number): void {
    if (!this.#pageOf.has(name)) this.#pageOf.set(name, page);
  }

  has(name: string): boolean {
    return this.#pageOf.has(name);
  }

  /** The page as text; `–` for what has no place, and during the first pass before it. */
  pageText(name: string): string {
    const page = this.#pageOf.get(name);
    return page === undefined ? unknownText : String(page);
  }
}
