import { formatText } from '../../../../src/domain/query/format-query.ts';
import { queryFieldNames, queryFieldOf, queryFields } from '../../../../src/domain/query/query-fields.ts';
import { queryTokens } from '../../../../src/domain/query/query-tokens.ts';
import type { Suggestion } from './query-props.ts';

/** What can be completed at the cursor. */
export type Completion =
  | { kind: 'field'; word: string; from: number; to: number }
  | { kind: 'value'; field: string; word: string; from: number; to: number };

/** One line of the list below the field. */
export interface Choice {
  /** Takes the place of `from` to `to`. */
  text: string;
  shown: string;
  /** Help of a field, or the number of rows with a value. */
  note: string;
  /** A value is complete, a field wants one. */
  isComplete: boolean;
}

/** Characters of a value that may stand before the part that is completed. */
const behindOperator = /^(?:[<>]=?|=)?(?:.*,)?/s;

/** What the text at the cursor could become; null where nothing fits, as within quoted free text. */
export function completionAt(text: string, cursor: number): Completion | null {
  const token = queryTokens(text).find(
    ({ kind, from, to }) => kind === 'run' && from <= cursor && cursor <= to,
  );
  if (token === undefined) return { kind: 'field', word: '', from: cursor, to: cursor };
  const run = text.slice(token.from, token.to);
  const colon = run.indexOf(':');
  if (run.startsWith('"')) return null;
  if (colon < 0 || token.from + colon >= cursor) {
    return { kind: 'field', word: text.slice(token.from, cursor), from: token.from, to: token.to };
  }
  const field = queryFieldOf(run.slice(0, colon));
  if (field === null) return null;
  const start = token.from + colon + 1;
  const typed = text.slice(start, cursor);
  const skipped = behindOperator.exec(typed)?.[0].length ?? 0;
  const from = start + skipped;
  const word = text.slice(from, cursor).replace(/^"/, '');
  return { kind: 'value', field: field.name, word, from, to: token.to };
}

/** Fields whose name begins with or contains a word. */
export function fieldChoices(word: string): Choice[] {
  const wanted = word.toLowerCase();
  const named = queryFieldNames.map((name) => queryFields[name]);
  const names = ({ name, aliases }: (typeof named)[number]) => [name, ...aliases];
  const begins = named.filter((field) => names(field).some((each) => each.startsWith(wanted)));
  const contains = named.filter((field) => !begins.includes(field) && field.name.includes(wanted));
  return [...begins, ...contains].map(({ name, help }) => ({
    text: `${name}:`,
    shown: `${name}:`,
    note: help.replaceAll('`', ''),
    isComplete: false,
  }));
}

/** Values that the language itself knows of a field. */
export function knownValues(field: string, word: string): Suggestion[] {
  const values = queryFieldOf(field)?.values ?? [];
  return values.filter((value) => value.startsWith(word.toLowerCase())).map((value) => ({ value }));
}

export function valueChoices(suggestions: readonly Suggestion[]): Choice[] {
  return suggestions.map(({ value, count }) => ({
    text: formatText(value),
    shown: value,
    note: count === undefined ? '' : count.toLocaleString('en-US'),
    isComplete: true,
  }));
}

/** The text with a choice in it, and where the cursor stands then. */
export function withChoice(
  text: string,
  { from, to }: Completion,
  choice: Choice,
): { text: string; cursor: number } {
  const before = `${text.slice(0, from)}${choice.text}`;
  return { text: before + text.slice(to), cursor: before.length };
}
