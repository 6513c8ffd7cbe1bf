import { formatCondition, formatText } from '../../../../src/domain/query/format-query.ts';
import { valueSatisfies } from '../../../../src/domain/query/match-query.ts';
import { parseQuery } from '../../../../src/domain/query/parse-query.ts';
import type { Query, QueryCondition } from '../../../../src/domain/query/query.ts';
import { queryFieldOf } from '../../../../src/domain/query/query-fields.ts';
import { QueryProblem } from '../../../../src/domain/query/query-problem.ts';

/** One condition of a query as a reader sees it: terms that all must hold. */
export interface Chip {
  /** Its text in the query. */
  text: string;
  /** `not …`. */
  isNegated: boolean;
  /** `port:` and `443`; absent for free text and groups. */
  parts?: { field: string; value: string };
}

export type ReadChips = { chips: readonly Chip[]; problem: null } | { chips: null; problem: QueryProblem };

/** The chips of a text, or why it is no query. */
export function readChips(text: string): ReadChips {
  try {
    return { chips: topTerms(parseQuery(text)).map((term) => chipOf(text, term)), problem: null };
  } catch (error) {
    if (error instanceof QueryProblem) return { chips: null, problem: error };
    throw error;
  }
}

function chipOf(text: string, term: Query): Chip {
  const own = text.slice(term.from, term.to);
  const isNegated = term.kind === 'not';
  const condition = isNegated ? term.term : term;
  const plain = text.slice(condition.from, condition.to);
  const shown = term.kind === 'or' && !own.startsWith('(') ? `(${own})` : own;
  if (condition.kind !== 'condition') return { text: shown, isNegated };
  const colon = plain.indexOf(':') + 1;
  return { text: shown, isNegated, parts: { field: plain.slice(0, colon), value: plain.slice(colon) } };
}

function topTerms(query: Query | null): readonly Query[] {
  if (query === null) return [];
  return query.kind === 'and' ? query.terms : [query];
}

/** A query of several conditions that all must hold. */
export function joinChips(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join(' ');
}

/** What a query says of one value of a field. */
export type ValueState = 'added' | 'excluded' | 'none';

/** Whether conditions at the top of a query let a value through, keep it out, or say nothing of its field. */
export function valueState(q: string, field: string, value: string): ValueState {
  const own = conditionsOn(q, field);
  if (own.excluded.some((condition) => satisfies(condition, value))) return 'excluded';
  if (own.added.length === 0) return 'none';
  return own.added.every((condition) => satisfies(condition, value)) ? 'added' : 'none';
}

/**
 * A click on a value: adds it beside other values of its field, or removes it when it is there. A comparison that
 * lets it through (`severity:>=high`) gives way to the value alone.
 */
export function clickValue(q: string, field: string, value: string): string {
  return edited(q, (terms) => {
    const kept = terms.filter((term) => !isExactly(term, field, value, true));
    const at = kept.findIndex((term) => term.kind === 'condition' && term.field === field);
    const written = valueText(field, value);
    if (at < 0) return [...texts(q, kept), `${field}:${written}`];
    const condition = kept[at] as QueryCondition;
    return texts(q, kept).flatMap((text, index) =>
      index === at ? valuesAfterClick(condition, text, value) : [text],
    );
  });
}

/** An Alt-click on a value: excludes it, or takes that back. */
export function excludeValue(q: string, field: string, value: string): string {
  return edited(q, (terms) => {
    const others = terms.filter((term) => !isExactly(term, field, value, true));
    if (others.length < terms.length) return texts(q, others);
    const rest = others.filter((term) => !isExactly(term, field, value, false));
    return [...texts(q, rest), `not ${field}:${valueText(field, value)}`];
  });
}

function valuesAfterClick(condition: QueryCondition, text: string, value: string): string[] {
  const { field, operator, values } = condition;
  const written = valueText(field, value);
  const single = values.map((each) => formatCondition({ field, operator: ':', values: [each] }));
  const isList = operator === ':' || operator === '=';
  if (!isList) return [`${field}:${written}`];
  const same = single.indexOf(`${field}:${written}`);
  if (same < 0) {
    const isInRange = satisfies(condition, value);
    return [isInRange ? `${field}:${written}` : `${text},${written}`];
  }
  const left = values.filter((_, index) => index !== same);
  return left.length === 0 ? [] : [formatCondition({ field, operator, values: left })];
}

/** Applies a change to the terms of a query; a text that is no query is left alone. */
function edited(q: string, change: (terms: readonly Query[]) => readonly string[]): string {
  try {
    return joinChips(change(topTerms(parseQuery(q))));
  } catch (error) {
    if (error instanceof QueryProblem) return q;
    throw error;
  }
}

function texts(q: string, terms: readonly Query[]): string[] {
  return terms.map((term) => chipOf(q, term).text);
}

function isExactly(term: Query, field: string, value: string, negated: boolean): boolean {
  const condition = negated ? (term.kind === 'not' ? term.term : null) : term;
  return (
    condition?.kind === 'condition' && formatCondition(condition) === `${field}:${valueText(field, value)}`
  );
}

function conditionsOn(q: string, field: string): { added: QueryCondition[]; excluded: QueryCondition[] } {
  const { added, excluded }: { added: QueryCondition[]; excluded: QueryCondition[] } = {
    added: [],
    excluded: [],
  };
  try {
    for (const term of topTerms(parseQuery(q))) {
      const condition = term.kind === 'not' ? term.term : term;
      if (condition.kind === 'condition' && condition.field === field) {
        (term.kind === 'not' ? excluded : added).push(condition);
      }
    }
  } catch (error) {
    if (!(error instanceof QueryProblem)) throw error;
  }
  return { added, excluded };
}

function satisfies(condition: QueryCondition, value: string): boolean {
  return condition.values.some((each) => each.kind === 'none')
    ? value === none
    : value !== none && valueSatisfies(condition, typedValue(condition.field, value));
}

/** The value of rows that have none: `product:none`. */
export const none = 'none';

function typedValue(field: string, value: string): string | number | boolean {
  const kind = queryFieldOf(field)?.kind;
  if (kind === 'port' || kind === 'number') return Number(value);
  return kind === 'boolean' ? value === 'true' : value;
}

/** @param value `none` for absent */
function valueText(field: string, value: string): string {
  const canonical = canonicalOf(field, value);
  return value === none ? none : (canonical ?? formatText(value));
}

/** As `formatCondition` writes it, so that it is found again; null for what does not parse. */
function canonicalOf(field: string, value: string): string | null {
  try {
    const query = parseQuery(`${field}:${formatText(value)}`);
    if (query?.kind !== 'condition') return null;
    return formatCondition(query).slice(query.field.length + 1);
  } catch (error) {
    if (error instanceof QueryProblem) return null;
    throw error;
  }
}
