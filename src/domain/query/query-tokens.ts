/** A piece of a query: a parenthesis, or a run of characters up to a blank or parenthesis outside of quotes. */
export interface QueryToken {
  kind: 'open' | 'close' | 'run';
  from: number;
  /** Exclusive. */
  to: number;
  /** Position of a quote that is not closed. */
  openQuote: number | null;
}

/** Splits any text, also an unfinished one. Takes linear time. */
export function queryTokens(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  for (let at = 0; at < text.length; ) {
    const character = text[at] as string;
    if (isBlank(character)) {
      at += 1;
      continue;
    }
    const token = character === '(' || character === ')' ? parenthesis(character, at) : runAt(text, at);
    tokens.push(token);
    at = token.to;
  }
  return tokens;
}

function parenthesis(character: string, from: number): QueryToken {
  return { kind: character === '(' ? 'open' : 'close', from, to: from + 1, openQuote: null };
}

function runAt(text: string, from: number): QueryToken {
  let at = from;
  while (at < text.length) {
    const character = text[at] as string;
    if (character === '"') {
      const close = closingQuote(text, at);
      if (close === null) return { kind: 'run', from, to: text.length, openQuote: at };
      at = close + 1;
    } else if (isBlank(character) || character === '(' || character === ')') break;
    else at += 1;
  }
  return { kind: 'run', from, to: at, openQuote: null };
}

/** Position of the quote that closes the one at `open`, or null. `\"` and `\\` are escapes. */
export function closingQuote(text: string, open: number): number | null {
  for (let at = open + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '"') return at;
    if (character === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at += 1;
  }
  return null;
}

/** The text between two quotes. Only quotes and backslashes are escaped: `\x00` in a banner stays as it is. */
export function unquoted(inner: string): string {
  return inner.replace(/\\(["\\])/g, '$1');
}

function isBlank(character: string): boolean {
  return character.trim() === '';
}
