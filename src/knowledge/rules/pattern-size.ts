/**
 * Number of instructions of a pattern (RE2 syntax) with repetitions expanded: the upper bound of the cost of compiling
 * it and of matching each character. A rough count, never below the number of its characters that match.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the open groups, the outermost first. */
  const sizes = [0];
  let last = 0;
  const add = (size: number) => {
    sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + size;
    last = size;
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === '\\') {
      index++;
      add(1);
    } else if (character === '[') {
      index = endOfClass(pattern, index);
      add(1);
    } else if (character === '(') {
      sizes.push(0);
    } else if (character === ')' && sizes.length > 1) {
      add(sizes.pop() ?? 0);
    } else if (character === '{') {
      const [all = '', least, most] =
        /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(pattern.slice(index, index + 12)) ?? [];
      if (all === '') add(1);
      else {
        const times = Math.max(Number(least), Number(most || 0), 1);
        sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + last * (times - 1);
        last *= times;
        index += all.length - 1;
      }
    } else add(1);
  }
  return sizes.reduce((sum, size) => sum + size, 0);
}

function endOfClass(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === '^') index++;
  if (pattern[index] === ']') index++;
  for (; index < pattern.length && pattern[index] !== ']'; index++) {
    if (pattern[index] === '\\') index++;
    else if (pattern.startsWith('[:', index)) index = Math.max(index, pattern.indexOf(':]', index) + 1);
  }
  return index;
}
