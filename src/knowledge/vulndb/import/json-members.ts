import { FeedProblem } from './feed-bytes.ts';

/** Maximum size of one member, bytes; the largest package of Debian's tracker takes some 10 MiB. */
export const maxMemberBytes = 32 * 1024 * 1024;
/** Maximum nesting of brackets. */
const maxMemberDepth = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings = new Set([0x5b, 0x7b]);
const closings = new Set([0x5d, 0x7d]);
const blanks = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * The members of a document that is one large object, one at a time.
 * @throws FeedProblem where the text is not JSON, is cut off, or a member is above its cap
 */
export async function* jsonMembers(bytes: AsyncIterable<Buffer>): AsyncGenerator<[string, unknown]> {
  const members = new MemberSplitter();
  for await (const chunk of bytes) {
    members.push(chunk);
    yield* members.take();
  }
  members.end();
  yield* members.take();
}

class MemberSplitter {
  #members: [string, unknown][] = [];
  #parts: Buffer[] = [];
  #size = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closed = false;

  take(): [string, unknown][] {
    return this.#members.splice(0);
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inString = false;
      } else if (byte === quote) {
        this.#inString = true;
      } else if (openings.has(byte)) {
        if (this.#closed || ++this.#depth > maxMemberDepth) throw new FeedProblem('is not one JSON object');
        if (this.#depth === 1) start = at + 1;
      } else if (closings.has(byte)) {
        if (--this.#depth < 0) throw new FeedProblem('has an unmatched closing bracket');
        if (this.#depth > 0) continue;
        this.#keep(chunk, start, at);
        this.#finish();
        this.#closed = true;
        start = at + 1;
      } else if (byte === comma && this.#depth === 1) {
        this.#keep(chunk, start, at);
        this.#finish();
        start = at + 1;
      } else if (this.#depth === 0 && !blanks.has(byte)) throw new FeedProblem('is not one JSON object');
    }
    if (this.#depth > 0) this.#keep(chunk, start, chunk.length);
  }

  end(): void {
    if (!this.#closed) throw new FeedProblem('is truncated');
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    this.#size += end - start;
    if (this.#size > maxMemberBytes)
      throw new FeedProblem(`has a member larger than ${maxMemberBytes} bytes`);
    if (end > start) this.#parts.push(chunk.subarray(start, end));
  }

  #finish(): void {
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#size = 0;
    if (text.trim() === '') return;
    try {
      this.#members.push(...Object.entries(JSON.parse(`{${text}}`) as object));
    } catch {
      throw new FeedProblem('is not JSON');
    }
  }
}
