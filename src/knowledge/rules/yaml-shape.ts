import { CST, Lexer } from 'yaml';

/** Levels of brackets and braces within each other. */
const maxFlowDepth = 32;

/** `- - -`: levels that begin on one line. */
const maxLineDepth = 8;

/** Columns by which a line is indented: bounds the levels that follow from it. */
const maxIndent = 200;

/** Words and signs of one file: what a list of rules of the largest size has. */
const maxTokens = 500_000;

export interface ShapeProblem {
  /** From 1. */
  line: number;
  reason: string;
}

/**
 * Why a YAML text is not even parsed: the parser takes minutes for one that is nested thousands of levels deep. Looks
 * at the signs one by one and stops at the first that is too much; null = it may be parsed.
 */
export function shapeProblem(text: string): ShapeProblem | null {
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
