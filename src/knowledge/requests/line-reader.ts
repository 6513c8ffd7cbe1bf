import type { ResponseReader } from './response-form.ts';

/** Maximum lines of a multi-line response. */
export const maxLines = 100;

export class LineReader implements ResponseReader {
  capped = false;
  #isLast: (line: string, first: boolean) => boolean;
  #start = 0;
  #searched = 0;
  #lines = 0;

  /** @param isLast whether a line, without its line end, is the last one */
  constructor(isLast: (line: string, first: boolean) => boolean) {
    this.#isLast = isLast;
  }

  end(bytes: Buffer): number {
    for (;;) {
      const feed = bytes.indexOf(0x0a, this.#searched);
      if (feed < 0) {
        this.#searched = bytes.length;
        return 0;
      }
      // The start of a line is enough to decide.
      const line = bytes
        .toString('latin1', this.#start, Math.min(feed, this.#start + 512))
        .replace(/\r$/, '');
      const first = this.#lines === 0;
      this.#lines += 1;
      this.#start = feed + 1;
      this.#searched = feed + 1;
      if (this.#isLast(line, first)) return this.#start;
      if (this.#lines >= maxLines) {
        this.capped = true;
        return this.#start;
      }
    }
  }
}
