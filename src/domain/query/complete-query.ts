import { formatText } from './format-query.ts';
import {
  conditionOperators,
  type FieldName,
  isOrdered,
  type QueryField,
  queryFieldNames,
  queryFieldOf,
  queryFields,
} from './query-fields.ts';
import { closingQuote, type QueryToken, queryTokens, unquoted } from './query-tokens.ts';

/**
 * What is typed at the cursor, and the characters that a choice replaces (`to` exclusive). `operator`: an operator or a
 * value may follow.
 */
export type QueryCompletion =
  | { kind: 'field'; typed: string; from: number; to: number }
  | {
      kind: 'operator' | 'value';
      field: FieldName;
      /** The value up to the cursor, without quotes and wildcards. */
      typed: string;
      /** The other values of the condition. */
      taken: readonly string[];
      from: number;
      to: number;
    };

/** @returns null within free text in quotes */
export function completeQuery(text: string, cursor: number): QueryCompletion | null {
  const at = Math.max(0, Math.min(cursor, text.length));
  const token = queryTokens(text).find(({ kind, from, to }) => kind === 'run' && from <= at && at <= to);
  if (token === undefined) return { kind: 'field', typed: '', from: at, to: at };
  const run = text.slice(token.from, token.to);
  if (run.startsWith('"')) return null;
  const word = /^([a-z_][a-z0-9_-]*):/i.exec(run)?.[1];
  const colon = word === undefined ? null : token.from + word.length;
  const field = word === undefined ? null : queryFieldOf(word);
  if (field === null || colon === null || at <= colon)
    return {
      kind: 'field',
      typed: text.slice(token.from, colon === null ? at : Math.min(at, colon)),
      from: token.from,
      to: colon === null ? token.to : colon + 1,
    };
  return valueCompletion(text, at, token, field, colon + 1);
}

function valueCompletion(
  text: string,
  cursor: number,
  { to: end }: QueryToken,
  field: QueryField,
  start: number,
): QueryCompletion {
  const operator = /^(?:[<>]=?|=)/.exec(text.slice(start, end))?.[0] ?? '';
  const first = start + operator.length;
  const values = valueRanges(text, first, end);
  // With the cursor within an operator, the first value is next.
  const current = values.findLast(({ from }) => from <= cursor) ?? (values[0] as ValueRange);
  const { from, to } = current;
  const others = values.filter((value) => value !== current);
  return {
    kind: operator === '' && first === end && isOrdered(field) ? 'operator' : 'value',
    field: field.name,
    typed: plainText(text.slice(from, Math.max(from, cursor))),
    taken: others.map((value) => plainText(text.slice(value.from, value.to))).filter((value) => value !== ''),
    from,
    to,
  };
}

interface ValueRange {
  from: number;
  to: number;
}

/** The values between commas outside of quotes; at least one, which may be empty. */
function valueRanges(text: string, first: number, end: number): ValueRange[] {
  const ranges: ValueRange[] = [];
  let from = first;
  for (let at = first; at < end; at++) {
    if (text[at] === '"') at = Math.min(closingQuote(text, at) ?? end, end);
    else if (text[at] === ',') {
      ranges.push({ from, to: at });
      from = at + 1;
    }
  }
  return [...ranges, { from, to: end }];
}

function plainText(written: string): string {
  const bare = written.replace(/^\*/, '').replace(/\*$/, '');
  if (!bare.startsWith('"')) return bare;
  const close = closingQuote(bare, 0) ?? bare.length;
  return unquoted(bare.slice(1, close));
}

export interface QuerySuggestion {
  /** What replaces the characters of the completion. */
  insert: string;
  help: string;
}

/** What fits at the cursor by the table of fields alone; values of open fields come from facets. */
export function suggestionsFor(completion: QueryCompletion): QuerySuggestion[] {
  const typed = completion.typed.toLowerCase();
  if (completion.kind === 'field') return fieldSuggestions(typed);
  const { field, taken, kind } = completion;
  const values = [...queryFields[field].values, 'none']
    .filter((value) => value.startsWith(typed) && !taken.includes(value))
    .map((value) => ({
      insert: value === 'none' ? value : formatText(value),
      help: valueHelp(field, value),
    }));
  return kind === 'operator' ? [...values, ...operatorSuggestions] : values;
}

const operatorSuggestions: readonly QuerySuggestion[] = conditionOperators
  .filter((operator) => operator !== ':' && operator !== '=')
  .map((operator) => ({ insert: operator, help: 'Compare' }));

function valueHelp(field: FieldName, value: string): string {
  return value === 'none' ? `Without ${field}` : '';
}

/** Names that begin with the text first, then aliases, then names that contain it. */
function fieldSuggestions(typed: string): QuerySuggestion[] {
  const rank = ({ name, aliases }: QueryField) => {
    if (name.startsWith(typed)) return 0;
    if (aliases.some((alias) => alias.startsWith(typed))) return 1;
    return name.includes(typed) ? 2 : 3;
  };
  return queryFieldNames
    .map((name) => queryFields[name])
    .filter((field) => rank(field) < 3)
    .sort((one, other) => rank(one) - rank(other))
    .map(({ name, help }) => ({ insert: `${name}:`, help }));
}

/** The text and cursor after a choice. A blank follows a value at the end of the text. */
export function applyCompletion(
  text: string,
  { kind, from, to }: QueryCompletion,
  insert: string,
): { text: string; cursor: number } {
  const isValue = kind !== 'field' && !/^[<>=]+$/.test(insert);
  const rest = text.slice(to);
  const written = isValue && rest === '' ? `${insert} ` : insert;
  return { text: text.slice(0, from) + written + rest, cursor: from + written.length };
}
