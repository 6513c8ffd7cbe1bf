import { parseRow } from '../../workspace/record/row-line.ts';

/** What a row of a worker is about. */
export interface RowSubject {
  type: string;
  /** Null for a row about no host. */
  host: string | null;
}

const types = ['host', 'port', 'vulnerability', 'compliance', 'extra', 'error', 'summary'];

/** Longer lines are parsed, bytes: V8 keeps a stack for an expression that may have to go back. */
const mostBytes = 64 * 1024;

/**
 * A row as this program writes it (`rowLine`): JSON of RFC 8259 without `\u`, without escapes in names, at most three levels
 * deep, whose identity comes first and is not named again. Matching it takes a third of the time of parsing and leaves few
 * objects behind. No two alternatives begin with the same character, so that the time grows with the length only.
 */
export const plainRow = plainRowPattern();

function plainRowPattern(): RegExp {
  const plain = String.raw`[^"\\\u0000-\u001f]*`;
  const text = String.raw`"${plain}(?:\\["\\/bfnrt]${plain})*"`;
  const scalar = String.raw`(?:${text}|-?(?:0|[1-9]\d{0,15})(?:\.\d{1,17})?|true|false|null)`;
  const list = (value: string) => String.raw`\[(?:${value}(?:,${value})*)?\]`;
  const members = (value: string) => String.raw`\{(?:"${plain}":${value}(?:,"${plain}":${value})*)?\}`;
  const either = (value: string) => `(?:${scalar}|${list(value)}|${members(value)})`;
  const value = either(either(scalar));
  const identity = String.raw`"type":"(${types.join('|')})","timestamp":"${plain}"(?:,"host":(?:"(${plain})"|null))?`;
  return new RegExp(String.raw`\{${identity}(?:,"(?!(?:type|timestamp|host)")${plain}":${value})*\}`, 'y');
}

const ascii = /^[\0-\x7f]*$/;

/** Bytes of rows that are made a text at once: each row by itself, or all of a block, would be most of the garbage of a server. */
const textBytes = 32 * 1024;

/** What the rows of a block are about. */
export class RowSubjects {
  readonly #lines: Buffer;
  /** A part of the lines, with a character for each byte. */
  #text = '';
  #textStart = 0;

  /** @param lines JSON Lines, UTF-8 */
  constructor(lines: Buffer) {
    this.#lines = lines;
  }

  /** Null for an invalid line. Fastest for one row after the other. @param end without its line break */
  of(start: number, end: number): RowSubject | null {
    return (end - start <= mostBytes && this.#plainSubject(start, end)) || this.#parsedSubject(start, end);
  }

  #plainSubject(start: number, end: number): RowSubject | null {
    if (start < this.#textStart || end > this.#textStart + this.#text.length) {
      this.#text = this.#lines.toString('latin1', start, Math.max(end, start + textBytes));
      this.#textStart = start;
    }
    plainRow.lastIndex = start - this.#textStart;
    const [, type, host = null] = plainRow.exec(this.#text) ?? [];
    if (type === undefined || plainRow.lastIndex !== end - this.#textStart) return null;
    return host === null || ascii.test(host) ? { type, host } : null;
  }

  #parsedSubject(start: number, end: number): RowSubject | null {
    return parsedSubject(this.#lines.toString('utf8', start, end));
  }
}

function parsedSubject(line: string): RowSubject | null {
  const row = parseRow(line) as { type?: unknown; timestamp?: unknown; host?: unknown } | null;
  if (row === null || typeof row !== 'object' || typeof row.timestamp !== 'string') return null;
  const { type, host = null } = row;
  if (typeof type !== 'string' || !types.includes(type)) return null;
  return host === null || typeof host === 'string' ? { type, host } : null;
}
