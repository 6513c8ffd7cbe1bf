import { CST, Lexer } from 'yaml';

/** Maximum nesting of brackets and braces. */
const maxFlowDepth = 32;

/** Maximum levels that begin on one line: `- - -`, `a: a: a:`. */
const maxLineDepth = 8;

/** Maximum indentation, columns: bounds the levels that follow from it. */
const maxIndent = 200;

/** Maximum number of tokens of one file, where its reader has no other; the largest allowed list of rules stays below it. */
const maxFileTokens = 500_000;

export interface ShapeProblem {
  /** From 1. */
  line: number;
  reason: string;
}

/**
 * Why a YAML text must not be parsed: the parser takes minutes for a text that is nested thousands of levels deep.
 * Scans the characters and stops at the first excess; null = safe to parse.
 */
export function shapeProblem(text: string, maxTokens = maxFileTokens): ShapeProblem | null {
  let line = 1;
  let flow = 0;
  let onLine = 0;
  let atLineStart = true;
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > maxTokens) return { line, reason: `has more than ${maxTokens} tokens` };
    const type = CST.tokenType(token);
    if (type === 'flow-seq-start' || type === 'flow-map-start') flow++;
    else if (type === 'flow-seq-end' || type === 'flow-map-end') flow--;
    else if (type === 'seq-item-ind' || type === 'explicit-key-ind') onLine++;
    else if (type === 'map-value-ind' && flow <= 0) onLine++;
    const indented = type === 'space' && atLineStart && flow <= 0 && token.length > maxIndent;
    if (flow > maxFlowDepth || onLine > maxLineDepth || indented) {
      return { line, reason: 'is nested too deeply' };
    }
    atLineStart = token.endsWith('\n');
    if (!token.includes('\n')) continue;
    onLine = 0;
    line += token.split('\n').length - 1;
  }
  return null;
}
