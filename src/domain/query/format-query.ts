import type { Query, QueryCondition, QueryValue } from './query.ts';
import { type QueryField, queryFields } from './query-fields.ts';

/** The text of a query, canonical: `parseQuery` reads the same query from it, positions aside. */
export function formatQuery(query: Query | null): string {
  return query === null ? '' : textOf(query);
}

function textOf(query: Query): string {
  switch (query.kind) {
    case 'and':
      return query.terms.map((term) => (term.kind === 'or' ? `(${textOf(term)})` : textOf(term))).join(' ');
    case 'or':
      return query.terms.map(textOf).join(' or ');
    case 'not':
      return isGroup(query.term) ? `not (${textOf(query.term)})` : `not ${textOf(query.term)}`;
    case 'condition':
      return formatCondition(query);
    case 'text':
      return plainTerm.test(query.text) && !keyword.test(query.text) ? query.text : quotedText(query.text);
  }
}

function isGroup({ kind }: Query): boolean {
  return kind === 'and' || kind === 'or';
}

/** Free text that cannot be read as anything else. */
const plainTerm = /^[\p{L}\p{N}._/@+][\p{L}\p{N}._/@+-]*$/u;
const keyword = /^(?:and|or|not)$/i;
/** Values that need no quotes. */
const plainValue = /^[^\s()",*\\<>=]+$/u;

/** `severity:>=high`, `port:22,80`. */
export function formatCondition({
  field,
  operator,
  values,
}: Pick<QueryCondition, 'field' | 'operator' | 'values'>): string {
  const written = values.map((value) => formatValue(value, queryFields[field]));
  return `${field}:${operator === ':' ? '' : operator}${written.join(',')}`;
}

function formatValue(value: QueryValue, field: QueryField): string {
  switch (value.kind) {
    case 'none':
      return 'none';
    case 'any':
      return '*';
    case 'text':
      return wildcardText(value, field);
    case 'numbers':
      return value.first === value.last ? String(value.first) : `${value.first}-${value.last}`;
    case 'word':
      return value.word;
    case 'boolean':
      return String(value.value);
    default:
      return formatText(value.text);
  }
}

function wildcardText({ text, match }: Extract<QueryValue, { kind: 'text' }>, field: QueryField): string {
  const plain = formatText(text);
  if (match === 'start') return `${plain}*`;
  if (match === 'end') return `*${plain}`;
  return match === 'part' && field.match !== 'part' ? `*${plain}*` : plain;
}

/** A text as a value of a condition: quoted where it would be read as something else. */
export function formatText(text: string): string {
  return plainValue.test(text) && text.toLowerCase() !== 'none' ? text : quotedText(text);
}

function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
