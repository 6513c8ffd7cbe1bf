import { RE2JS } from 're2js';

/**
 * Patterns run on text that a hostile target wrote, so they are matched in linear time (RE2) and on at most this
 * many characters. One character stands for one byte of the answer (latin1).
 */
export const matchInputLimit = 4096;

/** A compiled pattern. */
export interface Matcher {
  /** The first match, or null. `text` beyond `matchInputLimit` characters is not looked at. */
  match(text: string): PatternMatch | null;
}

export interface PatternMatch {
  /** The text that matched. */
  text: string;
  /** Named groups; those that took no part in the match are absent. */
  groups: Map<string, string>;
}

/**
 * Compiles a pattern in RE2 syntax. Flag `i` ignores case, `s` lets `.` match line ends, `m` makes `^` and `$`
 * line anchors.
 * @throws Error when the pattern or a flag is not valid
 */
export function compileMatcher(pattern: string, flags = ''): Matcher {
  const expression = RE2JS.compile(pattern, flagBits(flags));
  const names = Object.keys(expression.namedGroups());
  const ignoreCase = flags.includes('i');
  const literal = ignoreCase ? requiredLiteral(pattern).toLowerCase() : requiredLiteral(pattern);
  return {
    match(text) {
      const input = text.length > matchInputLimit ? text.slice(0, matchInputLimit) : text;
      if (literal !== '' && !(ignoreCase ? input.toLowerCase() : input).includes(literal)) return null;
      const matcher = expression.matcher(input);
      if (!matcher.find()) return null;
      const groups = new Map<string, string>();
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

/**
 * The longest run of plain characters that every match must contain, or '' when none can be told. It lets most
 * patterns be skipped without running them. Only the top level of the pattern is read: what stands inside groups
 * and classes is never counted, and a pattern with a top-level alternative has no required literal.
 */
export function requiredLiteral(pattern: string): string {
  // An inline `i` flag changes what follows it.
  if (/\(\?[a-zA-Z]*i/.test(pattern)) return '';
  const runs: string[] = [];
  let run = '';
  let depth = 0;
  const endRun = () => {
    runs.push(run);
    run = '';
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] as string;
    if (character === '[') {
      index = endOfClass(pattern, index);
      endRun();
    } else if (character === '\\') {
      index++;
      const escaped = pattern[index] ?? '';
      if (depth === 0 && /[^A-Za-z0-9]/.test(escaped)) run += escaped;
      else endRun();
      // \x41, \x{41} and \pL: what follows the letter belongs to the escape.
      if (/[xpPQ]/.test(escaped)) return '';
    } else if (character === '(') {
      depth++;
      endRun();
    } else if (character === ')') {
      depth--;
      endRun();
    } else if (depth > 0) {
      // Inside a group nothing is required for certain.
    } else if (character === '|') {
      return '';
    } else if (character === '?' || character === '*' || character === '{') {
      run = run.slice(0, -1);
      endRun();
      if (character === '{') index = Math.max(index, pattern.indexOf('}', index));
    } else if (character === '+' || character === '.' || character === '^' || character === '$') {
      endRun();
    } else {
      run += character;
    }
  }
  endRun();
  return runs.reduce((longest, candidate) => (candidate.length > longest.length ? candidate : longest), '');
}

function endOfClass(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === '^') index++;
  if (pattern[index] === ']') index++;
  while (index < pattern.length && pattern[index] !== ']') {
    if (pattern[index] === '\\') index++;
    else if (pattern.startsWith('[:', index)) index = Math.max(index, pattern.indexOf(':]', index) + 1);
    index++;
  }
  return index;
}
