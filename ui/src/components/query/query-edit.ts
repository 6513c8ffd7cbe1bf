import {
  addCondition,
  excludeCondition,
  type QueryTerm,
  queryTermsOf,
  removeCondition,
  type SingleCondition,
  valueState,
} from '../../../../src/domain/query/add-condition.ts';
import type { FieldValue } from '../../../../src/domain/query/match-query.ts';
import { queryFieldOf } from '../../../../src/domain/query/query-fields.ts';
import { QueryProblem } from '../../../../src/domain/query/query-problem.ts';

export type { FieldValue };

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
    return { chips: queryTermsOf(text).map(chipOf), problem: null };
  } catch (error) {
    if (error instanceof QueryProblem) return { chips: null, problem: error };
    throw error;
  }
}

function chipOf({ text, condition, negated = false }: QueryTerm): Chip {
  const isNegated = negated || /^not\s/i.test(text);
  if (condition === undefined) return { text, isNegated };
  const plain = negated ? text.replace(/^not\s+/i, '').replace(/^[(\s]+|[)\s]+$/g, '') : text;
  const colon = plain.indexOf(':') + 1;
  return { text, isNegated, parts: { field: plain.slice(0, colon), value: plain.slice(colon) } };
}

/** A query of several conditions that all must hold. */
export function joinChips(texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ');
}

/** What a query says of one value of a field: lets it through, keeps it out, or nothing. */
export type ValueMark = 'added' | 'excluded' | 'none';

/** @param value null stands for rows without one */
export function markOf(q: string, field: string, value: FieldValue): ValueMark {
  const wanted = singleOf(field, value);
  if (wanted === null) return 'none';
  const state = unlessProblem(() => valueState(q, wanted.field, wanted.value), null);
  if (state === 'included') return 'added';
  return state === 'excluded' ? 'excluded' : 'none';
}

/** A click on a value: adds it beside other values of its field, or removes it when it is there. */
export function clickValue(q: string, field: string, value: FieldValue): string {
  const wanted = singleOf(field, value);
  if (wanted === null) return q;
  return unlessProblem(() => {
    if (markOf(q, field, value) !== 'added') return addCondition(q, wanted);
    const without = removeCondition(q, wanted);
    // A comparison lets it through, `severity:>=high`: then the value alone.
    return without === joinChips(queryTermsOf(q).map(({ text }) => text)) ? addCondition(q, wanted) : without;
  }, q);
}

/** An Alt-click on a value: excludes it, or takes that back. */
export function excludeValue(q: string, field: string, value: FieldValue): string {
  const wanted = singleOf(field, value);
  if (wanted === null) return q;
  const isExcluded = markOf(q, field, value) === 'excluded';
  return unlessProblem(() => (isExcluded ? removeCondition(q, wanted) : excludeCondition(q, wanted)), q);
}

/** @returns null for a field that the language does not have */
function singleOf(field: string, value: FieldValue): SingleCondition | null {
  const known = queryFieldOf(field);
  return known === null ? null : { field: known.name, value: typedValue(known.kind, value) };
}

function typedValue(kind: string, value: FieldValue): FieldValue {
  if (typeof value !== 'string') return value;
  if (kind === 'port' || kind === 'number') return Number(value);
  return kind === 'boolean' ? value === 'true' : value;
}

/** A text that is no query is left alone: the bar shows what is wrong with it. */
function unlessProblem<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof QueryProblem) return otherwise;
    throw error;
  }
}
