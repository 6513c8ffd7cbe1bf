import { formatCondition, formatText } from './format-query.ts';
import { type FieldValue, valueSatisfies } from './match-query.ts';
import { parseQuery } from './parse-query.ts';
import type { Query, QueryCondition, QueryValue } from './query.ts';
import type { ConditionOperator, FieldName } from './query-fields.ts';
import { type TopCondition, topConditionOf, topTerms } from './query-terms.ts';
import { queryTokens } from './query-tokens.ts';

/** A condition on one value, as a click on a facet or a table cell means it. */
export interface SingleCondition {
  field: FieldName;
  /** Null = none. */
  value: FieldValue;
  /** Default `:`. */
  operator?: ConditionOperator;
}

/** A top term of a query: what a chip shows. */
export interface QueryTerm extends Partial<TopCondition> {
  text: string;
}

/** The terms of a query that must all hold, in order. @throws QueryProblem */
export function queryTermsOf(text: string): QueryTerm[] {
  return partsOf(text).map(({ text: source, query }) => ({ text: source, ...topConditionOf(query) }));
}

/** The query without the term at a position in `queryTermsOf`. @throws QueryProblem */
export function removeTerm(text: string, index: number): string {
  return joined(partsOf(text).filter((_, at) => at !== index));
}

/**
 * The query narrowed to a value; a value of a field that the query names already is one more choice
 * (`port:22` becomes `port:22,80`). An exclusion of the value goes.
 * @throws QueryProblem
 */
export function addCondition(text: string, wanted: SingleCondition): string {
  return withValue(text, wanted, false);
}

/** The query without tuples of this value: `not port:22`. @throws QueryProblem */
export function excludeCondition(text: string, wanted: SingleCondition): string {
  return withValue(text, wanted, true);
}

/** The query without a condition on the value, be it wanted or excluded. @throws QueryProblem */
export function removeCondition(text: string, wanted: SingleCondition): string {
  const condition = readCondition(wanted);
  return joined(partsOf(text).flatMap((part) => withoutValue(part, condition)));
}

/**
 * What a query says about a value of a field, in its top terms: `included` by all conditions on the field, `excluded` by
 * a negation, `outside` of what is included, null without a condition on the field. @throws QueryProblem
 */
export function valueState(
  text: string,
  field: FieldName,
  value: FieldValue,
): 'included' | 'excluded' | 'outside' | null {
  const conditions = topTerms(parseQuery(text))
    .map(topConditionOf)
    .filter((top) => top?.condition.field === field)
    .filter((top) => top !== null);
  const failed = conditions.find(({ condition, negated }) => valueSatisfies(condition, value) === negated);
  if (failed) return failed.negated ? 'excluded' : 'outside';
  // `not port:22` alone does not include the other ports.
  return conditions.some(({ negated }) => !negated) ? 'included' : null;
}

/** Longest value of a condition that is made from a result, characters; it stands for all that begin so. */
const maxValueText = 200;

/** The text of a condition on one value. A value that no query can contain is cut, with a wildcard. */
export function conditionText({ field, value, operator = ':' }: SingleCondition): string {
  const prefix = `${field}:${operator === ':' ? '' : operator}`;
  if (value === null || value === '') return `${prefix}none`;
  if (typeof value !== 'string') return prefix + String(value);
  const writable = writableText(value);
  if (writable === value) return prefix + formatText(value);
  const start = writable === '' ? '' : formatText(writable);
  return `${field}:${start}*`;
}

function writableText(value: string): string {
  const end = value.search(/\p{Cc}|\p{Cs}/u);
  return value.slice(0, Math.min(end < 0 ? value.length : end, maxValueText)).toWellFormed();
}

// --- terms as text and as query ---------------------------------------------------------------------------------

interface TermPart {
  text: string;
  query: Query;
}

function partsOf(text: string): TermPart[] {
  const query = parseQuery(text);
  return topTerms(query).map((term) => {
    const source = text.slice(term.from, term.to);
    const isBare = term.kind === 'or' && !isEnclosed(source);
    return { text: isBare ? `(${source})` : source, query: term };
  });
}

/** Whether one pair of parentheses encloses a whole text. */
function isEnclosed(text: string): boolean {
  const tokens = queryTokens(text);
  let depth = 0;
  return tokens.every(({ kind }, index) => {
    if (kind !== 'run') depth += kind === 'open' ? 1 : -1;
    return depth > 0 || index === tokens.length - 1;
  });
}

function joined(parts: readonly TermPart[]): string {
  const [only] = parts;
  if (only?.query.kind !== 'or' || parts.length > 1) return parts.map(({ text }) => text).join(' ');
  // Parentheses around the whole query say nothing.
  let { text } = only;
  while (isEnclosed(text)) text = text.slice(1, -1).trim();
  return text;
}

function readCondition(wanted: SingleCondition): QueryCondition {
  return parseQuery(conditionText(wanted)) as QueryCondition;
}

function withValue(text: string, wanted: SingleCondition, negated: boolean): string {
  const condition = readCondition(wanted);
  const parts = partsOf(text).flatMap((part) =>
    topConditionOf(part.query)?.negated === negated ? [part] : withoutValue(part, condition),
  );
  const at = parts.findIndex(({ query }) => {
    const top = topConditionOf(query);
    return top?.negated === negated && isExtensible(top.condition, condition);
  });
  if (at < 0) return joined([...parts, partOf(condition, negated)]);
  const known = topConditionOf((parts[at] as TermPart).query)?.condition as QueryCondition;
  return joined(parts.with(at, partOf(united(known, condition), negated)));
}

/** Whether a further value makes sense: it is one more choice. */
function isExtensible(known: QueryCondition, { field, operator }: QueryCondition): boolean {
  const isChoice = operator === ':' || operator === '=';
  return known.field === field && known.operator === operator && isChoice;
}

function united(known: QueryCondition, added: QueryCondition): QueryCondition {
  const more = added.values.filter((value) => !known.values.some((one) => isSameValue(one, value)));
  return { ...known, values: [...known.values, ...more] };
}

function withoutValue(part: TermPart, removed: QueryCondition): TermPart[] {
  const top = topConditionOf(part.query);
  if (top?.condition.field !== removed.field || top.condition.operator !== removed.operator) return [part];
  const { condition, negated } = top;
  const values = condition.values.filter((value) => !removed.values.some((one) => isSameValue(one, value)));
  if (values.length === condition.values.length) return [part];
  return values.length === 0 ? [] : [partOf({ ...condition, values }, negated)];
}

function partOf(condition: QueryCondition, negated: boolean): TermPart {
  const query: Query = negated ? { kind: 'not', term: condition, from: 0, to: 0 } : condition;
  return { text: `${negated ? 'not ' : ''}${formatCondition(condition)}`, query };
}

function isSameValue(one: QueryValue, other: QueryValue): boolean {
  return JSON.stringify(one).toLowerCase() === JSON.stringify(other).toLowerCase();
}
