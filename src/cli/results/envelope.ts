import { PortolanError } from '../../domain/errors.ts';
import { unexpected } from '../session/client.ts';

/**
 * Extracts the value of `data` from a stream of `{"data": ..., "meta": ...}` in constant memory. `data` must be the
 * first member, as in every response of the API.
 */
export async function* unwrapData(chunks: AsyncIterable<string>): AsyncIterable<string> {
  const cutter = new DataCutter();
  for await (const chunk of chunks) {
    const part = cutter.feed(chunk);
    if (part !== '') yield part;
  }
  if (!cutter.complete) throw new PortolanError('network', 'the response ended before its data was complete');
}

const opening = /^\s*\{\s*"data"\s*:\s*/;
/** Maximum length of the opening; without it up to here, this is another document. */
const maxOpening = 256;

class DataCutter {
  complete = false;
  #head: string | null = '';
  #depth = 0;
  #inString = false;
  #escaped = false;

  feed(chunk: string): string {
    if (this.complete) return '';
    if (this.#head === null) return this.#value(chunk);
    this.#head += chunk;
    const match = opening.exec(this.#head);
    // A space may follow the colon; the value starts with the first character after it.
    if (!match || match[0].length === this.#head.length) {
      if (this.#head.length > maxOpening) throw unexpected('the server: it does not start with its data');
      return '';
    }
    const rest = this.#head.slice(match[0].length);
    this.#head = null;
    return this.#value(rest);
  }

  #value(text: string): string {
    for (let index = 0; index < text.length; index++) {
      if (!this.#ends(text.charCodeAt(index))) continue;
      this.complete = true;
      return text.slice(0, index + 1);
    }
    return text;
  }

  /** Follows strings and nesting; true at the bracket that closes the value. */
  #ends(unit: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (unit === 0x5c) this.#escaped = true;
      else if (unit === 0x22) this.#inString = false;
      return false;
    }
    if (unit === 0x22) this.#inString = true;
    else if (unit === 0x7b || unit === 0x5b) this.#depth++;
    else if (unit === 0x7d || unit === 0x5d) return --this.#depth === 0;
    return false;
  }
}
