import { RE2JS } from 're2js';

/**
 * Patterns run on text that a hostile target wrote, so they are matched in linear time (RE2) and on at most this many
 * characters. One character stands for one byte of the response (latin1).
 */
export const matchInputLimit = 4096;

export interface Matcher {
  /** The first match, or null. Ignores `text` beyond `matchInputLimit` characters. */
  match(text: string): PatternMatch | null;
}

export interface PatternMatch {
  /** The matched text. */
  text: string;
  /** Groups by name and by number, without those that did not participate in the match. */
  groups: Map<string, string>;
}

/**
 * Compiles a pattern in RE2 syntax. Flag `i` ignores case, `s` lets `.` match line ends, `m` makes `^` and `$` line
 * anchors.
 *
 * @throws Error for an invalid pattern or flag
 */
export function compileMatcher(pattern: string, flags = ''): Matcher {
  const expression = RE2JS.compile(pattern, flagBits(flags));
  const names = Object.keys(expression.namedGroups());
  const count = expression.groupCount();
  return {
    match(text) {
      const input = text.length > matchInputLimit ? text.slice(0, matchInputLimit) : text;
      const matcher = expression.matcher(input);
      if (!matcher.find()) return null;
      const groups = new Map<string, string>();
      for (let number = 1; number <= count; number++) {
        const value = matcher.group(number);
        if (value) groups.set(String(number), value);
      }
      for (const name of names) {
        const value = matcher.group(name);
        if (value) groups.set(name, value);
      }
      return { text: matcher.group() ?? '', groups };
    },
  };
}

function flagBits(flags: string): number {
  let bits = 0;
  for (const flag of flags) {
    if (flag === 'i') bits |= RE2JS.CASE_INSENSITIVE;
    else if (flag === 's') bits |= RE2JS.DOTALL;
    else if (flag === 'm') bits |= RE2JS.MULTILINE;
    else throw new Error(`unknown flag "${flag}"; known flags are i, s and m`);
  }
  return bits;
}
