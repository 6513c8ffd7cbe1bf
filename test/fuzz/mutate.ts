/** A number from 0 up to, and without, `below`. */
export type Pick = (below: number) => number;

/** A small reproducible generator of numbers (mulberry32). */
export function random(seed: number): Pick {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The seed of one batch: the same whoever runs it, and whatever ran before (FNV-1a). */
export function batchSeed(seed: number, parser: string, batch: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const char of `${parser} ${batch}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return hash;
}

/** Longest answer that is made. */
export const largestResponse = 128 * 1024;

/** Bytes that mean something in many protocols. */
const tokens = [
  '\r\n',
  '\n',
  '\r\n\r\n',
  '\0',
  '\0\0\0\0',
  '\xff\xff\xff\xff',
  '\x7f\xff\xff\xff',
  '\x80',
  ': ',
  '"',
  '\\',
  '{"',
  '[',
  '}]',
  '<',
  '</',
  '&#x',
  '<title>',
  '%s%n',
  '__proto__',
  '-1',
  '1e309',
  '\xc3\x28',
  '\xed\xa0\x80',
  '\xf0\x9f\x98\x80',
  '220-',
  '250 ',
  'a'.repeat(80),
].map((text) => Buffer.from(text, 'latin1'));

/** What a field of length, or a number in text, may lie. */
const lies = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000];
const greatLies = [0xff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
const numberTexts = [
  '0',
  '-1',
  '00000000000000000001',
  '4294967295',
  '4294967296',
  '9007199254740993',
  '18446744073709551616',
  'ffffffffffffffff',
  '9'.repeat(400),
  '1e400',
  'NaN',
];

/** Makes hostile answers out of true ones, the same ones for the same numbers. */
export class Mutator {
  readonly #corpus: readonly Buffer[];
  readonly #pick: Pick;

  constructor(corpus: readonly Buffer[], pick: Pick) {
    this.#corpus = corpus;
    this.#pick = pick;
  }

  next(): Buffer {
    const pick = this.#pick;
    if (pick(64) === 0) return this.#noise(pick(pick(8) === 0 ? 4096 : 64));
    let bytes: Buffer = Buffer.from(this.#seed());
    for (let left = 1 + pick(4); left > 0; left--) bytes = this.#changed(bytes);
    return bytes.length > largestResponse ? bytes.subarray(0, largestResponse) : bytes;
  }

  #seed(): Buffer {
    return this.#corpus[this.#pick(this.#corpus.length)] as Buffer;
  }

  #noise(length: number): Buffer {
    const noise = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) noise[at] = this.#pick(256);
    return noise;
  }

  /** May change the bytes themselves. */
  #changed(bytes: Buffer): Buffer {
    const pick = this.#pick;
    const at = pick(bytes.length + 1);
    switch (pick(12)) {
      case 0:
        if (at < bytes.length) bytes[at] = (bytes[at] as number) ^ (1 << pick(8));
        return bytes;
      case 1:
        if (at < bytes.length) bytes[at] = pick(256);
        return bytes;
      case 2:
        return bytes.subarray(0, at);
      case 3:
        return joined(bytes.subarray(0, at), bytes.subarray(at + pick(32)));
      case 4:
        return joined(bytes.subarray(0, at), this.#noise(pick(16)), bytes.subarray(at));
      case 5:
        return joined(bytes.subarray(0, at), tokens[pick(tokens.length)] as Buffer, bytes.subarray(at));
      case 6:
      case 7:
        return this.#withLie(bytes, at);
      case 8:
        return this.#repeated(bytes, at);
      case 9: {
        const other = this.#seed();
        return joined(bytes.subarray(0, at), other.subarray(pick(other.length + 1)));
      }
      case 10:
        return this.#withNumber(bytes, at);
      default: {
        const piece = bytes.subarray(at, at + 1 + pick(24));
        const to = pick(bytes.length + 1);
        return joined(bytes.subarray(0, to), piece, bytes.subarray(to + piece.length));
      }
    }
  }

  /** One, two, three or four bytes that may be a length, in one order or the other. */
  #withLie(bytes: Buffer, at: number): Buffer {
    const pick = this.#pick;
    const size = 1 + pick(4);
    if (at + size > bytes.length) return bytes;
    // Lengths stand in front of what they count, so a wrong one is often close to the right one.
    const near = [bytes.length - at, bytes.length - at - size, bytes.length][pick(3)] as number;
    const value =
      pick(3) === 0
        ? near + pick(5) - 2
        : pick(3) === 0
          ? (greatLies[pick(greatLies.length)] as number)
          : (lies[pick(lies.length)] as number);
    const kept = size === 4 ? value >>> 0 : (value >>> 0) % 2 ** (8 * size);
    if (pick(2) === 0) bytes.writeUIntBE(kept, at, size);
    else bytes.writeUIntLE(kept, at, size);
    return bytes;
  }

  #repeated(bytes: Buffer, at: number): Buffer {
    const pick = this.#pick;
    const piece = bytes.subarray(at, at + 1 + pick(pick(4) === 0 ? 256 : 16));
    if (piece.length === 0) return bytes;
    // A few answers are as long as anything that is read.
    const most = pick(256) === 0 ? largestResponse : pick(16) === 0 ? 4096 : 256;
    const times = 1 + pick(Math.max(1, Math.floor(most / piece.length)));
    return joined(bytes.subarray(0, at), Buffer.alloc(times * piece.length, piece), bytes.subarray(at));
  }

  /** Another number in place of the next one in the text. */
  #withNumber(bytes: Buffer, from: number): Buffer {
    const isDigit = (at: number) => (bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39;
    let start = from;
    while (start < bytes.length && !isDigit(start)) start += 1;
    if (start === bytes.length) return bytes;
    let end = start;
    while (end < bytes.length && isDigit(end)) end += 1;
    const text = numberTexts[this.#pick(numberTexts.length)] as string;
    return joined(bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end));
  }
}

/** What several changes have made long is cut between them. */
function joined(...parts: Buffer[]): Buffer {
  const whole = Buffer.concat(parts);
  return whole.length > largestResponse ? whole.subarray(0, largestResponse) : whole;
}
