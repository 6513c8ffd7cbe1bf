import { FeedProblem } from './feed-bytes.ts';

/** A value of a feed, and the member whose list contained it; '' = a top-level value. */
export interface FeedItem {
  member: string;
  value: unknown;
}

/** Maximum size of one record, and of everything around the records, bytes. */
export const maxRecordBytes = 8 * 1024 * 1024;
/** Maximum nesting of brackets. */
const maxDepth = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const byteOrderMark = new Set([0xef, 0xbb, 0xbf]);

/** Error text of a broken document, without its content. */
function broken(line: number, reason: string): FeedProblem {
  return new FeedProblem(`is invalid in line ${line}: ${reason}`);
}

/**
 * Reads JSON of any length, one record at a time: the elements of the named lists of the document, the elements of a
 * document that is a list itself, and top-level values in sequence (a single record, JSON Lines). The rest of the
 * document comes last, with those lists empty.
 *
 * @throws FeedProblem where the text is not JSON, is cut off, or a record is above its cap
 */
export async function* jsonItems(
  bytes: AsyncIterable<Buffer>,
  lists: ReadonlySet<string>,
): AsyncGenerator<FeedItem> {
  const splitter = new Splitter(lists);
  for await (const chunk of bytes) {
    splitter.push(chunk);
    yield* splitter.take();
  }
  splitter.end();
  yield* splitter.take();
}

/** Parser state: position within the document. */
type Place = 'between' | 'value' | 'list';

class Splitter {
  readonly #lists: ReadonlySet<string>;
  #items: FeedItem[] = [];
  #place: Place = 'between';
  #depth = 0;
  /** Depth at which the current value began; its text ends at the return to it. */
  #base = 0;
  #inString = false;
  #escaped = false;
  #line = 1;
  /** Text of the current value. */
  #parts: Buffer[] = [];
  #size = 0;
  /** The document around a list: its text without the elements. */
  #frame: string[] = [];
  #frameSize = 0;
  #member = '';
  /** Bytes since the last value. */
  #gap = 0;
  /** In a list: what may come next. */
  #expect: 'first' | 'element' | 'comma' = 'first';
  /** Of a document that is an object: offset of its last string in the current text; -1 = none yet. */
  #stringStart = -1;

  constructor(lists: ReadonlySet<string>) {
    this.#lists = lists;
  }

  take(): FeedItem[] {
    return this.#items.splice(0);
  }

  /** @throws FeedProblem */
  push(chunk: Buffer): void {
    let start = 0;
    let at = 0;
    const end = chunk.length;
    while (at < end) {
      if (this.#inString) {
        at = this.#passString(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      if (byte === 0x0a) this.#line++;
      if (this.#place === 'value') {
        if (byte === quote) {
          this.#inString = true;
          if (this.#depth === 1 && this.#base === 0) {
            this.#stringStart = this.#size + at - start;
          }
        } else if (byte === openBrace || byte === openBracket) {
          const member = byte === openBracket ? this.#listHere(chunk, start, at) : null;
          if (member === null) this.#deeper();
          else {
            this.#keepFrame(chunk, start, at + 1);
            this.#enterList(member);
            start = at + 1;
          }
        } else if (byte === closeBrace || byte === closeBracket) {
          this.#depth--;
          if (this.#depth < this.#base) throw broken(this.#line, 'unmatched closing bracket');
          if (this.#depth === this.#base) {
            this.#keep(chunk, start, at + 1);
            this.#finish();
            start = at + 1;
          }
        }
        at++;
      } else {
        const begins = this.#place === 'list' ? this.#inList(byte) : this.#between(byte);
        // A value begins with this byte; other bytes between values are dropped.
        start = begins ? at : at + 1;
        this.#gap = begins ? 0 : this.#gap + 1;
        if (this.#gap > maxRecordBytes) throw broken(this.#line, 'too much white space');
        at++;
      }
    }
    if (this.#place === 'value') this.#keep(chunk, start, end);
  }

  /** @throws FeedProblem */
  end(): void {
    if (this.#place !== 'between') throw new FeedProblem(`is truncated in line ${this.#line}`);
  }

  #passString(chunk: Buffer, from: number): number {
    let at = from;
    const end = chunk.length;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    for (; at < end; at++) {
      const byte = chunk[at];
      if (byte === backslash) {
        if (at + 1 === end) {
          this.#escaped = true;
          return end;
        }
        at++;
      } else if (byte === quote) {
        this.#inString = false;
        return at + 1;
      }
    }
    return end;
  }

  /**
   * Between documents: blanks, or the beginning of one.
   *
   * @returns whether a value begins here
   */
  #between(byte: number): boolean {
    if (isBlank(byte) || byteOrderMark.has(byte)) return false;
    if (byte === openBrace) return this.#begin(0);
    if (byte !== openBracket) throw broken(this.#line, 'expected a JSON object or list');
    this.#enterList('');
    return false;
  }

  /** Between the elements of a list. @returns whether a value begins here */
  #inList(byte: number): boolean {
    if (isBlank(byte)) return false;
    if (byte === openBrace && this.#expect !== 'comma') return this.#begin(this.#depth);
    if (byte === comma && this.#expect === 'comma') this.#expect = 'element';
    else if (byte === closeBracket && this.#expect !== 'element') this.#leaveList();
    else throw broken(this.#line, 'expected an object in the list');
    return false;
  }

  #begin(base: number): true {
    this.#place = 'value';
    this.#base = base;
    this.#deeper();
    return true;
  }

  #deeper(): void {
    this.#depth++;
    if (this.#depth > maxDepth) throw broken(this.#line, `more than ${maxDepth} nested brackets`);
  }

  /** The list that a bracket opens, if it is one that is read element by element. */
  #listHere(chunk: Buffer, start: number, at: number): string | null {
    if (this.#depth !== 1 || this.#base !== 0 || this.#stringStart < 0) return null;
    const text = this.#textFrom(this.#stringStart, chunk, start, at);
    const [, name] = /^"([A-Za-z_]{1,64})"\s*:\s*$/.exec(text) ?? [];
    return name !== undefined && this.#lists.has(name) ? name : null;
  }

  /** The end of the current text, from an offset; '' when it is out of reach. */
  #textFrom(from: number, chunk: Buffer, start: number, at: number): string {
    const length = this.#size + at - start - from;
    if (length > 256) return '';
    const tail = [chunk.subarray(start, at)];
    let held = at - start;
    for (let index = this.#parts.length - 1; index >= 0 && held < length; index--) {
      const part = this.#parts[index] as Buffer;
      tail.unshift(part);
      held += part.length;
    }
    return Buffer.concat(tail)
      .subarray(held - length)
      .toString('latin1');
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (end <= start) return;
    this.#size += end - start;
    if (this.#size + (this.#base === 0 ? this.#frameSize : 0) > maxRecordBytes) {
      throw broken(this.#line, `a record is larger than ${maxRecordBytes} bytes`);
    }
    this.#parts.push(chunk.subarray(start, end));
  }

  #text(): string {
    const text = (
      this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    ).toString();
    this.#parts = [];
    this.#size = 0;
    return text;
  }

  #keepFrame(chunk: Buffer, start: number, end: number): void {
    this.#keep(chunk, start, end);
    this.#frameSize += this.#size;
    this.#frame.push(this.#text());
  }

  #enterList(member: string): void {
    this.#deeper();
    this.#place = 'list';
    this.#member = member;
    this.#expect = 'first';
    this.#stringStart = -1;
  }

  #leaveList(): void {
    this.#depth--;
    if (this.#member === '') {
      this.#place = 'between';
      return;
    }
    this.#frame.push(']');
    this.#frameSize++;
    this.#member = '';
    this.#place = 'value';
    this.#base = 0;
  }

  /** The current value is complete. */
  #finish(): void {
    if (this.#base > 0) {
      this.#items.push({ member: this.#member, value: this.#parse(this.#text()) });
      this.#place = 'list';
      this.#expect = 'comma';
      return;
    }
    const text = this.#frame.join('') + this.#text();
    this.#frame = [];
    this.#frameSize = 0;
    this.#stringStart = -1;
    this.#items.push({ member: '', value: this.#parse(text) });
    this.#place = 'between';
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw broken(this.#line, 'not JSON');
    }
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
