import { versionKey } from '../version-order.ts';
import { addressKey, foldText, isInOrder, textMatches, wordRank } from './compare-values.ts';
import { emptyRow, type IndexedRow, type IndexedValue } from './indexed-row.ts';
import type { Query, QueryCondition, QueryValue } from './query.ts';
import { type ConditionOperator, type FieldKind, queryFields } from './query-fields.ts';
import { containsText } from './search-text.ts';

/** Whether a tuple satisfies a query; the reference for every other implementation. Null matches everything. */
export function matchQuery(query: Query | null, row: IndexedRow): boolean {
  if (query === null) return true;
  switch (query.kind) {
    case 'and':
      return query.terms.every((term) => matchQuery(term, row));
    case 'or':
      return query.terms.some((term) => matchQuery(term, row));
    case 'not':
      return !matchQuery(query.term, row);
    case 'text':
      return containsText(row, query.text);
    case 'condition':
      return matchCondition(query, row);
  }
}

function matchCondition({ field, operator, values }: QueryCondition, row: IndexedRow): boolean {
  const present = presentValues(row[field]);
  return values.some((value) => {
    if (value.kind === 'none') return present.length === 0;
    if (value.kind === 'any') return present.length > 0;
    if (field === 'host') return matchHost(value, operator, row);
    if (field === 'version') return matchVersion(value, operator, row);
    return present.some((one) => matchValue(one, operator, value));
  });
}

type PresentValue = string | number | boolean;

function presentValues(value: IndexedValue): readonly PresentValue[] {
  if (value === null) return [];
  return typeof value === 'object' ? value : [value];
}

function matchValue(present: PresentValue, operator: ConditionOperator, value: QueryValue): boolean {
  switch (value.kind) {
    case 'text':
      return textMatches(foldText(String(present)), foldText(value.text), value.match);
    case 'numbers':
      return typeof present === 'number' && isInOrder(present, operator, value.first, value.last);
    case 'boolean':
      return present === value.value;
    case 'word':
      return matchWord(String(present), operator, value.word);
    case 'time':
      return matchTime(String(present), operator, value);
    default:
      return false;
  }
}

function matchWord(present: string, operator: ConditionOperator, word: string): boolean {
  const [left, right] = [wordRank(present), wordRank(word)];
  if (left === null || right === null) return present === word;
  return isInOrder(left, operator, right, right);
}

/** The end of the time is exclusive. */
function matchTime(
  present: string,
  operator: ConditionOperator,
  { from, to }: Extract<QueryValue, { kind: 'time' }>,
): boolean {
  switch (operator) {
    case '>':
      return present >= to;
    case '<=':
      return present < to;
    case '>=':
      return present >= from;
    case '<':
      return present < from;
    default:
      return present >= from && present < to;
  }
}

/** Texts match the address and the names, ranges the address. Addresses of another family are in no order. */
function matchHost(value: QueryValue, operator: ConditionOperator, { host, name }: IndexedRow): boolean {
  if (value.kind === 'text')
    return [...(host === null ? [] : [host]), ...name].some((text) => matchValue(text, ':', value));
  if (value.kind !== 'addresses' || host === null) return false;
  const key = addressKey(host);
  return key !== null && key[0] === value.first[0] && isInOrder(key, operator, value.first, value.last);
}

/** By the scheme of the product; a text that is no version equals only itself. */
function matchVersion(value: QueryValue, operator: ConditionOperator, row: IndexedRow): boolean {
  const { version, version_scheme: scheme } = row;
  if (version === null) return false;
  if (value.kind !== 'version') return matchValue(version, operator, value);
  const isEquality = operator === ':' || operator === '=';
  if (isEquality && foldText(version) === foldText(value.text)) return true;
  const [present, wanted] = [versionKey(version, scheme), versionKey(value.text, scheme)];
  return present !== null && wanted !== null && isInOrder(present, operator, wanted, wanted);
}

/** Value of a field as a facet or a table cell has it. Null = none. */
export type FieldValue = string | number | boolean | null;

/** Whether one value of a field satisfies a condition on that field. */
export function valueSatisfies(condition: QueryCondition, value: FieldValue): boolean {
  const { kind, list } = queryFields[condition.field];
  const typed = typeof value === 'string' ? typedValue(value, kind) : value;
  const present = !list ? typed : typed === null ? [] : [String(typed)];
  return matchCondition(condition, { ...emptyRow, [condition.field]: present });
}

function typedValue(text: string, kind: FieldKind): FieldValue {
  if (kind === 'port' || kind === 'number') return Number(text);
  return kind === 'boolean' ? text === 'true' : text;
}
