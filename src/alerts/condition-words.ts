/** The operators for words; each as long as its word, so that positions stay. */
const operators: Record<string, string> = { and: '&& ', or: '||', not: '!  ' };

/**
 * Strings of CEL, comments, and words with what follows a dot or a letter. Within a string, a backslash escapes except
 * in a raw one.
 */
const token =
  /[bB]?[rR][bB]?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"[^"\n]*"?|'[^'\n]*'?)|[bB]?(?:"""(?:[^\\]|\\[^])*?(?:"""|$)|'''(?:[^\\]|\\[^])*?(?:'''|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?)|\/\/[^\n]*|\.?[A-Za-z_][A-Za-z0-9_]*/g;

/** Replaces the words `and`, `or` and `not` by the operators of CEL, never in a string. The length stays the same. */
export function translateWords(condition: string): string {
  return condition.replace(token, (text) =>
    Object.hasOwn(operators, text) ? (operators[text] ?? text) : text,
  );
}
