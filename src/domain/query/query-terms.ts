import type { Query, QueryCondition } from './query.ts';
import type { FieldName } from './query-fields.ts';

/** The terms that must all hold: those of `and`, or the whole query. */
export function topTerms(query: Query | null): readonly Query[] {
  if (query === null) return [];
  return query.kind === 'and' ? query.terms : [query];
}

/** A condition among the top terms, `negated` behind `not`. */
export interface TopCondition {
  condition: QueryCondition;
  negated: boolean;
}

/** The condition that a top term is, or null for a group or free text. */
export function topConditionOf(term: Query): TopCondition | null {
  if (term.kind === 'condition') return { condition: term, negated: false };
  if (term.kind !== 'not' || term.term.kind !== 'condition') return null;
  return { condition: term.term, negated: true };
}

/** The query without its top conditions on one field: what the facet of that field counts under. */
export function withoutField(query: Query | null, field: FieldName): Query | null {
  const terms = topTerms(query);
  const rest = terms.filter((term) => topConditionOf(term)?.condition.field !== field);
  if (rest.length === terms.length) return query;
  const [first, ...others] = rest;
  if (first === undefined) return null;
  const { from, to } = query as Query;
  return others.length === 0 ? first : { kind: 'and', terms: rest, from, to };
}
