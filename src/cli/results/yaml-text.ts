/**
 * Converts streamed JSON to YAML block style, with one scalar in memory at a time. Strings that are not safe as plain
 * scalars are double-quoted, and then ASCII except for printable letters.
 */
export async function* yamlOfJson(chunks: AsyncIterable<string>): AsyncIterable<string> {
  const writer = new YamlWriter();
  for await (const chunk of chunks) {
    const text = writer.feed(chunk);
    if (text !== '') yield text;
  }
  const rest = writer.end();
  if (rest !== '') yield rest;
}

/** An open object or list. */
interface Level {
  list: boolean;
  empty: boolean;
  /** Indentation of its members, spaces. */
  indent: number;
}

/** Strings, numbers and words; brackets, braces and colons are tokens of their own. */
const tokenPattern = /[\s,]+|[{}[\]:]|"(?:[^"\\]|\\.)*"|[\w.+-]+/y;

class YamlWriter {
  readonly #levels: Level[] = [];
  /** Input after the last complete token. */
  #rest = '';
  /** The next scalar of an object is a member's name. */
  #expectName = false;
  /** Position of the next value: after a name, after a dash, or at the start. */
  #place: 'name' | 'dash' | 'start' = 'start';

  feed(chunk: string): string {
    const text = this.#rest + chunk;
    let written = '';
    let position = 0;
    for (;;) {
      tokenPattern.lastIndex = position;
      const token = tokenPattern.exec(text)?.[0];
      // A number, word or string at the end may continue in the next chunk.
      if (
        token === undefined ||
        (position + token.length === text.length && /[\w"-]/.test(token[0] as string))
      )
        break;
      position += token.length;
      written += this.#token(token);
    }
    this.#rest = text.slice(position);
    return written;
  }

  end(): string {
    const last = this.#rest;
    this.#rest = '';
    return last.trim() === '' ? '' : this.#token(last);
  }

  #token(token: string): string {
    switch (token[0]) {
      case '{':
      case '[':
        return this.#open(token === '[');
      case '}':
      case ']':
        return this.#close();
      case ':':
        this.#expectName = false;
        return '';
      case ' ':
      case ',':
      case '\n':
      case '\r':
      case '\t':
        return '';
      default:
        return this.#scalar(token);
    }
  }

  #open(list: boolean): string {
    const before = this.#before();
    const outer = this.#levels.at(-1);
    this.#levels.push({ list, empty: true, indent: outer ? outer.indent + 2 : 0 });
    this.#expectName = !list;
    // The first member starts a new line after a name; that of a list element follows the dash.
    this.#place = outer === undefined ? 'start' : outer.list ? 'dash' : 'name';
    return before;
  }

  #close(): string {
    const level = this.#levels.pop();
    this.#expectName = this.#levels.at(-1)?.list === false;
    if (!level?.empty) return '';
    const nothing = level.list ? '[]' : '{}';
    return `${this.#place === 'start' ? '' : ' '}${nothing}\n`;
  }

  #scalar(token: string): string {
    const level = this.#levels.at(-1);
    if (level && !level.list && this.#expectName) {
      const start = this.#memberStart(level);
      this.#place = 'name';
      return `${start}${scalarText(token)}:`;
    }
    const before = this.#before();
    this.#expectName = level?.list === false;
    return `${before}${before === '' && this.#levels.length === 0 ? '' : ' '}${scalarText(token)}\n`;
  }

  /** Prefix of a value: the dash of a list element. */
  #before(): string {
    const level = this.#levels.at(-1);
    if (!level?.list) return '';
    return `${this.#memberStart(level)}-`;
  }

  /** Line break and indentation of a member; an element's first member follows its dash on the same line. */
  #memberStart(level: Level): string {
    const first = level.empty;
    level.empty = false;
    if (first && this.#place === 'dash') return ' ';
    const lineBreak = first && this.#place === 'name' ? '\n' : '';
    return lineBreak + ' '.repeat(level.indent);
  }
}

/** Words that YAML 1.1 or 1.2 parsers do not read as strings. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const plain = /^[A-Za-z][\w ./-]*$/;

function scalarText(token: string): string {
  if (token[0] !== '"') return token;
  const text = JSON.parse(token) as string;
  if (plain.test(text) && !reserved.test(text) && !text.endsWith(' ')) return text;
  return quoted(text);
}

/** Characters to escape in a double-quoted scalar: quotes, and everything unprintable. */
const escapes = /["\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}]/gu;

function quoted(text: string): string {
  return `"${text.toWellFormed().replace(escapes, escaped)}"`;
}

const short: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  const hex = code.toString(16);
  if (character in short) return short[character] as string;
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
