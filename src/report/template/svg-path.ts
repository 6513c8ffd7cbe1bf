/** Largest number within a path, in units of the view box. */
const maxNumber = 1_000_000;

/** Digits behind the point: no number is written with an exponent. */
const decimals = 6;

/** Numbers that each command takes. */
const argumentCounts: Record<string, number> = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 };

const separators = new Set([' ', '\t', '\n', '\r', '\f', ',']);
const numberAt = /[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?/y;

/**
 * Path data, read and written anew: letters and numbers in one form, nothing of the text as it was.
 * @returns null if it cannot be read
 */
export function readPathData(text: string): string | null {
  const reader = new PathReader(text);
  return reader.read();
}

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): string | null {
    const parts: string[] = [];
    for (let command = this.#command(); command !== ''; command = this.#command()) {
      const count = argumentCounts[command.toUpperCase()];
      if (count === undefined || (parts.length === 0 && command.toUpperCase() !== 'M')) return null;
      const written = this.#segments(command, count);
      if (written === null) return null;
      parts.push(written);
    }
    return parts.length === 0 || this.#at < this.#text.length ? null : parts.join('');
  }

  /** The next letter; empty at the end or if there is none. */
  #command(): string {
    this.#skip();
    const letter = this.#text[this.#at] ?? '';
    if (!/^[A-Za-z]$/.test(letter)) return '';
    this.#at += 1;
    return letter;
  }

  /** One or more sets of numbers behind a command. */
  #segments(command: string, count: number): string | null {
    if (count === 0) return command;
    let written = '';
    let letter = command;
    do {
      const numbers = this.#numbers(command, count);
      if (numbers === null) return null;
      written += `${letter}${numbers.join(' ')}`;
      // Further pairs behind a move are lines.
      if (letter === 'M') letter = 'L';
      else if (letter === 'm') letter = 'l';
    } while (this.#hasNumber());
    return written;
  }

  #numbers(command: string, count: number): number[] | null {
    const numbers: number[] = [];
    for (let index = 0; index < count; index++) {
      const isFlag = command.toUpperCase() === 'A' && (index === 3 || index === 4);
      const number = isFlag ? this.#flag() : this.#number();
      if (number === null) return null;
      numbers.push(number);
    }
    return numbers;
  }

  /** Flags of arcs may stand together: `01`. */
  #flag(): number | null {
    this.#skip();
    const digit = this.#text[this.#at];
    if (digit !== '0' && digit !== '1') return null;
    this.#at += 1;
    return Number(digit);
  }

  #number(): number | null {
    this.#skip();
    numberAt.lastIndex = this.#at;
    const found = numberAt.exec(this.#text)?.[0];
    if (found === undefined) return null;
    this.#at += found.length;
    const number = Number(found);
    return Math.abs(number) <= maxNumber ? Number(number.toFixed(decimals)) : null;
  }

  #hasNumber(): boolean {
    this.#skip();
    return /^[\d.+-]$/.test(this.#text[this.#at] ?? '');
  }

  #skip(): void {
    while (separators.has(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
