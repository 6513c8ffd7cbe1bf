import type { ConditionOperator, FieldName } from './query-fields.ts';

/** A parsed query. Every part knows its characters in the text: `from` inclusive, `to` exclusive, from 0. */
export type Query = QueryGroup | QueryNegation | QueryCondition | QueryText;

interface Span {
  from: number;
  to: number;
}

/** At least two terms; a group has no term of its own kind. With its parentheses. */
export interface QueryGroup extends Span {
  kind: 'and' | 'or';
  terms: readonly Query[];
}

export interface QueryNegation extends Span {
  kind: 'not';
  term: Query;
}

/** `port:22,80`: one of the values matches. `<` and `>` have one value. */
export interface QueryCondition extends Span {
  kind: 'condition';
  field: FieldName;
  operator: ConditionOperator;
  values: readonly QueryValue[];
}

/** Free text: found in any text of the tuple (`searchText`), without regard to case. */
export interface QueryText extends Span {
  kind: 'text';
  text: string;
}

/** How a text matches: as `TextMatch`, or by a wildcard, at its start or end. */
export type ValueMatch = 'whole' | 'words' | 'part' | 'start' | 'end';

export type QueryValue =
  /** The field has no value. */
  | { kind: 'none' }
  /** The field has some value. */
  | { kind: 'any' }
  | { kind: 'text'; text: string; match: ValueMatch }
  /** Of `port` and `number`, both inclusive. */
  | { kind: 'numbers'; first: number; last: number }
  /** Keys as of `addressKey`, of one family, both inclusive. `text`: canonical spelling. */
  | { kind: 'addresses'; text: string; first: string; last: string }
  | { kind: 'version'; text: string }
  /** Of `severity`, `class` and `choice`. */
  | { kind: 'word'; word: string }
  | { kind: 'boolean'; value: boolean }
  /** ISO 8601 UTC with milliseconds; `to` is exclusive. `text`: as written. */
  | { kind: 'time'; text: string; from: string; to: string };
