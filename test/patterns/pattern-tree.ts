/** A regular expression as a tree: as much of the syntax as the source uses. */
export type PatternNode =
  /** One character of a set. */
  | { type: 'one'; accepts: Characters; source: string }
  | { type: 'sequence'; nodes: PatternNode[] }
  | { type: 'choice'; options: PatternNode[] }
  | { type: 'repeat'; body: PatternNode; least: number; most: number; lazy: boolean }
  | { type: 'group'; body: PatternNode; number: number }
  | { type: 'look'; body: PatternNode; behind: boolean; negative: boolean }
  | { type: 'anchor'; sign: '^' | '$' | 'b' | 'B' }
  | { type: 'reference'; number: number };

/** @throws Error for syntax that the reader does not know */
export function readPattern(pattern: string, flags: string): PatternNode {
  const reader = new Reader(pattern, flags);
  const tree = reader.choice();
  if (!reader.atEnd) throw new Error(`unread: ${pattern}`);
  return tree;
}

class Reader {
  readonly #pattern: string;
  readonly #flags: string;
  readonly #names: string[];
  #at = 0;
  #groups = 0;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#flags = flags.replace(/[gyd]/g, '');
    this.#names = [...pattern.matchAll(/\((?:\?<(?![=!])(\w+)>|(?!\?))/g)].map((found) => found[1] ?? '');
  }

  get atEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as PatternNode) : { type: 'choice', options };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    while (!this.atEnd && !'|)'.includes(this.#pattern[this.#at] as string)) {
      nodes.push(this.#repetition(this.#piece()));
    }
    return { type: 'sequence', nodes };
  }

  #repetition(body: PatternNode): PatternNode {
    const found = this.#read(/([*+?])(\??)|\{(\d+)(,?)(\d*)\}(\??)/y);
    if (!found) return body;
    const [, sign, lazySign, least = '', comma, most, lazyCount] = found;
    const lazy = (lazySign || lazyCount) === '?';
    if (sign) {
      return { type: 'repeat', body, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, lazy };
    }
    return { type: 'repeat', body, least: +least, most: comma ? (most ? +most : Infinity) : +least, lazy };
  }

  #piece(): PatternNode {
    const anchor = this.#read(/[\^$]|\\([bB])/y);
    if (anchor) return { type: 'anchor', sign: (anchor[1] ?? anchor[0]) as '^' };
    if (this.#take('(')) return this.#group();
    const reference = this.#read(/\\(?:k<(\w+)>|([1-9]))/y);
    if (reference) {
      const number = reference[1] ? this.#names.indexOf(reference[1]) + 1 : Number(reference[2]);
      return { type: 'reference', number };
    }
    const escaped = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|[pP]\{[^}]*\}|c[A-Za-z]|[^])/y;
    const source = this.#take('[') ? this.#class() : (this.#read(escaped) ?? this.#read(/[^]/y))?.[0];
    if (source === undefined) throw new Error(`unread: ${this.#pattern}`);
    return { type: 'one', source, accepts: membership(source, this.#flags) };
  }

  #group(): PatternNode {
    const opening = this.#read(/\?(?:(<?[=!])|<(\w+)>|:)/y);
    const number = opening && !opening[2] ? 0 : ++this.#groups;
    const body = this.choice();
    if (!this.#take(')')) throw new Error(`unread: ${this.#pattern}`);
    const look = opening?.[1];
    if (look) return { type: 'look', body, behind: look.startsWith('<'), negative: look.endsWith('!') };
    return { type: 'group', body, number };
  }

  /** A class; in expressions with the flag `v` one may hold others. */
  #class(): string {
    const start = this.#at - 1;
    for (let depth = 1; depth > 0; this.#at++) {
      const character = this.#pattern[this.#at];
      if (character === undefined) throw new Error(`unread: ${this.#pattern}`);
      if (character === '\\') this.#at++;
      else if (character === '[' && this.#flags.includes('v')) depth++;
      else if (character === ']') depth--;
    }
    return this.#pattern.slice(start, this.#at);
  }

  #take(sign: string): boolean {
    if (this.#pattern[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #read(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern);
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** Characters that a piece of an expression accepts; the real engine is asked about each once. */
export class Characters {
  /** By code: 1 accepted, 2 not, 0 not asked yet. */
  readonly known = new Uint8Array(65_536);
  readonly #expression: RegExp;

  constructor(source: string, flags: string) {
    this.#expression = new RegExp(`^(?:${source})$`, flags.replace('m', ''));
  }

  has(code: number): boolean {
    if (this.known[code] === 0) this.known[code] = this.#expression.test(String.fromCharCode(code)) ? 1 : 2;
    return this.known[code] === 1;
  }
}

const memberships = new Map<string, Characters>();

function membership(source: string, flags: string): Characters {
  const key = `${flags} ${source}`;
  const known = memberships.get(key) ?? new Characters(source, flags);
  memberships.set(key, known);
  return known;
}
