/**
 * Lines of hosts and ports that need no parsing to be stored. Parsing a row and writing it again takes three times as long, and most of
 * a large record has been written by `rowLine` before.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const dot = 0x2e;
const minus = 0x2d;
const zero = 0x30;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Bytes of a string that stand for themselves: ASCII, as other texts have code points that a line must not have. */
const standsForItself = new Uint8Array(256);
for (let byte = 0x20; byte < 0x7f; byte++)
  if (byte !== quote && byte !== backslash) standsForItself[byte] = 1;

/** After a backslash; `\u` is apart. */
const escaped = new Uint8Array(256);
for (const letter of '"\\bfnrt') escaped[letter.charCodeAt(0)] = 1;

const [begin, ofHost, ofPort] = bytesOf('{"type":"', 'host","timestamp":', 'port","timestamp":');
const [hostField, portField] = bytesOf(',"host":', ',"port":');
const [tcp, udp] = bytesOf(',"protocol":"tcp"', ',"protocol":"udp"');
const [yes, no, nothing] = bytesOf('true', 'false', 'null');

/** Keys that a line has at its start or not at all: a second one would count for some readers, the first one for others. */
const reserved = bytesOf('type', 'timestamp', 'host', 'port', 'protocol', '__proto__');

/** Deeper values are left to the parser. */
const maxDepth = 16;
/** Longer numbers are left to the parser: they may lose digits, or be infinite. */
const maxDigits = 15;

/**
 * Checks bytes that anybody may have written, without memory for each line. A line that passes is strict JSON of ASCII characters without blanks, begins with the
 * identity of a host or a port and does not repeat it. All others take the slow way.
 */
export class PlainLines {
  readonly #bytes: Buffer;
  #at = 0;
  /** Of the line before. */
  #host = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * @param end position of its line break
   * @returns the host of a line that can be stored as it is; null for a line that has to be parsed
   */
  hostOf(start: number, end: number): string | null {
    this.#at = start;
    if (!this.#skip(begin)) return null;
    const isPort = this.#skip(ofPort);
    if (!isPort && !this.#skip(ofHost)) return null;
    if (!this.#string() || !this.#skip(hostField)) return null;
    const hostStart = this.#at + 1;
    if (!this.#string() || this.#hasEscape(hostStart, this.#at)) return null;
    const hostEnd = this.#at - 1;
    if (isPort && !this.#portAndProtocol()) return null;
    return this.#otherMembers() && this.#at === end ? this.#textOf(hostStart, hostEnd) : null;
  }

  /** Rows of one host mostly follow each other, and a million texts would be collected one after the other. */
  #textOf(start: number, end: number): string {
    const before = this.#host;
    let same = end - start === before.length;
    for (let at = 0; same && at < before.length; at++)
      same = this.#bytes[start + at] === before.charCodeAt(at);
    if (!same) this.#host = this.#bytes.toString('latin1', start, end);
    return this.#host;
  }

  #portAndProtocol(): boolean {
    if (!this.#skip(portField)) return false;
    const start = this.#at;
    if (!this.#number() || this.#at - start > 5) return false;
    return this.#skip(tcp) || this.#skip(udp);
  }

  /** What follows the identity, to the end of the object. */
  #otherMembers(): boolean {
    while (this.#take(comma)) {
      const start = this.#at + 1;
      if (!this.#string() || this.#isReserved(start, this.#at - 1)) return false;
      if (!this.#take(colon) || !this.#value(1)) return false;
    }
    return this.#take(closeBrace);
  }

  /** An escape may hide one. */
  #isReserved(start: number, end: number): boolean {
    if (this.#hasEscape(start, end)) return true;
    for (const key of reserved) if (key.length === end - start && this.#isAt(start, key)) return true;
    return false;
  }

  #hasEscape(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.#bytes[at] === backslash) return true;
    return false;
  }

  #value(depth: number): boolean {
    switch (this.#bytes[this.#at]) {
      case quote:
        return this.#string();
      case openBrace:
        return depth < maxDepth && this.#object(depth + 1);
      case openBracket:
        return depth < maxDepth && this.#array(depth + 1);
      default:
        return this.#skip(nothing) || this.#skip(no) || this.#skip(yes) || this.#number();
    }
  }

  #object(depth: number): boolean {
    this.#at += 1;
    if (this.#take(closeBrace)) return true;
    do {
      if (!this.#string() || !this.#take(colon) || !this.#value(depth)) return false;
    } while (this.#take(comma));
    return this.#take(closeBrace);
  }

  #array(depth: number): boolean {
    this.#at += 1;
    if (this.#take(closeBracket)) return true;
    do {
      if (!this.#value(depth)) return false;
    } while (this.#take(comma));
    return this.#take(closeBracket);
  }

  #string(): boolean {
    if (!this.#take(quote)) return false;
    const bytes = this.#bytes;
    let at = this.#at;
    for (;;) {
      while (standsForItself[bytes[at] as number] === 1) at += 1;
      if (bytes[at] !== backslash) break;
      const length = this.#escapeLength(at);
      if (length === 0) return false;
      at += length;
    }
    this.#at = at;
    return this.#take(quote);
  }

  /** 0 unless it is one that `rowLine` writes for ASCII: others may be halves of characters. */
  #escapeLength(at: number): number {
    const bytes = this.#bytes;
    if (escaped[bytes[at + 1] as number] === 1) return 2;
    return /^\\u00[01][0-9a-f]$/.test(bytes.toString('latin1', at, at + 6)) ? 6 : 0;
  }

  /** Without an exponent. Takes nothing if there is none. */
  #number(): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = bytes[start] === minus ? start + 1 : start;
    const first = at;
    while (isDigit(bytes[at])) at += 1;
    if (at === first || (bytes[first] === zero && at > first + 1)) return false;
    if (bytes[at] === dot) {
      const fraction = ++at;
      while (isDigit(bytes[at])) at += 1;
      if (at === fraction) return false;
    }
    if (at - start > maxDigits) return false;
    this.#at = at;
    return true;
  }

  #take(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** Takes nothing unless all of it is there. */
  #skip(expected: Buffer): boolean {
    if (!this.#isAt(this.#at, expected)) return false;
    this.#at += expected.length;
    return true;
  }

  #isAt(start: number, expected: Buffer): boolean {
    for (let at = 0; at < expected.length; at++) if (this.#bytes[start + at] !== expected[at]) return false;
    return true;
  }
}

function bytesOf<const T extends readonly string[]>(...texts: T): { [K in keyof T]: Buffer } {
  return texts.map((text) => Buffer.from(text)) as { [K in keyof T]: Buffer };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= zero + 9;
}
