/** Maximum number of alternative literals; a pattern that needs more counts as one without any. */
const mostAlternatives = 32;

/** Characters kept of a literal: more hardly make patterns more distinct. */
const longestLiteral = 12;

/** Maximum nesting of groups; deeper ones contribute no literal. */
const deepestGroup = 50;

/**
 * Literals of which at least one occurs in every match of a pattern (RE2 syntax), in lower case and ASCII; null when
 * none can be derived. Case is ignored, so they are valid for all flags of the pattern. Most patterns are skipped by
 * them without a match attempt.
 */
export function requiredLiterals(pattern: string): string[] | null {
  try {
    const reader = new PatternReader(pattern);
    const found = reader.alternatives(0);
    return reader.atEnd ? found : null;
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

/** The pattern contains a construct that this parser does not support. */
class Unreadable extends Error {}

/** The literal that one part of a pattern requires. */
type Demand =
  | { type: 'character'; text: string }
  /** Matches some text, but no certain literal. */
  | { type: 'anything' }
  /** An assertion, such as `^`: consumes no character. */
  | { type: 'place' }
  | { type: 'group'; literals: string[] | null };

const places = new Set(['A', 'b', 'B', 'z']);
const classes = new Set(['d', 'D', 's', 'S', 'w', 'W', 'C']);
const controls: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', a: '\x07' };

class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get atEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  /** Parses up to the end of the pattern or of the group. */
  alternatives(depth: number): string[] | null {
    if (depth > deepestGroup) throw new Unreadable();
    let all: Set<string> | null = new Set();
    for (;;) {
      const literals = this.#sequence(depth);
      all = literals === null || all === null ? null : new Set([...all, ...literals]);
      if (all !== null && all.size > mostAlternatives) all = null;
      if (this.#pattern[this.#at] !== '|') return all === null ? null : [...all];
      this.#at++;
    }
  }

  #sequence(depth: number): string[] | null {
    const best = new BestDemand();
    let run = '';
    const endRun = () => {
      best.offer([run]);
      run = '';
    };
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at] as string)) {
      const demand = this.#piece(depth);
      const { least, most } = this.#repetition();
      if (demand.type === 'place') continue;
      if (demand.type === 'character' && least > 0) {
        run += demand.text;
        if (most > 1) endRun();
        continue;
      }
      endRun();
      if (demand.type === 'group' && least > 0 && demand.literals) best.offer(demand.literals);
    }
    endRun();
    return best.literals;
  }

  #piece(depth: number): Demand {
    const character = this.#pattern[this.#at++] as string;
    if (character === '(') return this.#group(depth);
    if (character === '[') return this.#class();
    if (character === '\\') return this.#escape();
    if (character === '^' || character === '$') return { type: 'place' };
    if (character === '.') return { type: 'anything' };
    if ('*+?'.includes(character)) throw new Unreadable();
    return literal(character);
  }

  #group(depth: number): Demand {
    if (this.#pattern[this.#at] === '?') {
      const opening = /^\?(?:P?<[A-Za-z_]\w*>|[imsU-]*:|[imsU-]+\))/.exec(
        this.#pattern.slice(this.#at, this.#at + 80),
      );
      if (!opening) throw new Unreadable();
      this.#at += opening[0].length;
      if (opening[0].endsWith(')')) return { type: 'place' };
    }
    const literals = this.alternatives(depth + 1);
    if (this.#pattern[this.#at++] !== ')') throw new Unreadable();
    return { type: 'group', literals };
  }

  #class(): Demand {
    if (this.#pattern[this.#at] === '^') this.#at++;
    if (this.#pattern[this.#at] === ']') this.#at++;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ']') {
      if (this.#pattern.startsWith('[:', this.#at)) {
        const end = this.#pattern.indexOf(':]', this.#at);
        if (end > 0) this.#at = end + 1;
      } else if (this.#pattern[this.#at] === '\\') this.#at++;
      this.#at++;
    }
    if (this.#pattern[this.#at++] !== ']') throw new Unreadable();
    return { type: 'anything' };
  }

  #escape(): Demand {
    const escaped = this.#pattern[this.#at++];
    if (escaped === undefined) throw new Unreadable();
    if (places.has(escaped)) return { type: 'place' };
    if (classes.has(escaped)) return { type: 'anything' };
    if (controls[escaped] !== undefined) return literal(controls[escaped]);
    if (escaped === 'x') return this.#hexadecimal();
    if (escaped === 'p' || escaped === 'P') {
      const name = /^(?:\{[^}]{1,40}\}|[A-Z])/.exec(this.#pattern.slice(this.#at, this.#at + 44));
      if (!name) throw new Unreadable();
      this.#at += name[0].length;
      return { type: 'anything' };
    }
    if (/[A-Za-z0-9]/.test(escaped)) throw new Unreadable();
    return literal(escaped);
  }

  #hexadecimal(): Demand {
    const digits = /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(
      this.#pattern.slice(this.#at, this.#at + 10),
    );
    if (!digits) throw new Unreadable();
    this.#at += digits[0].length;
    const code = Number.parseInt(digits[1] ?? digits[2] ?? '', 16);
    return code < 128 ? literal(String.fromCharCode(code)) : { type: 'anything' };
  }

  #repetition(): { least: number; most: number } {
    const found = /^(?:([*+?])|\{(\d{1,4})(,?)(\d{0,4})\})\??/.exec(
      this.#pattern.slice(this.#at, this.#at + 14),
    );
    if (!found) return { least: 1, most: 1 };
    this.#at += found[0].length;
    if (/^[*+?{]/.test(this.#pattern.slice(this.#at, this.#at + 1))) throw new Unreadable();
    const [, sign, least = '1', comma, most] = found;
    if (sign) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const bound = comma ? (most ? Number(most) : Number.POSITIVE_INFINITY) : Number(least);
    return { least: Number(least), most: bound };
  }
}

/** A literal character; one beyond ASCII ends the literal, so that all literals fit a small alphabet. */
function literal(character: string): Demand {
  return character.charCodeAt(0) < 128 && character.length === 1
    ? { type: 'character', text: character.toLowerCase() }
    : { type: 'anything' };
}

/** The most selective requirement: the one whose shortest literal is longest. */
class BestDemand {
  literals: string[] | null = null;
  #score = 0;

  offer(literals: string[]): void {
    const cut = [...new Set(literals.map((text) => text.slice(0, longestLiteral)))];
    const score = Math.min(...cut.map(({ length }) => length)) - cut.length / 100;
    if (!(score > this.#score)) return;
    this.#score = score;
    this.literals = cut;
  }
}
