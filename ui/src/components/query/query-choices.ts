import { conditionText } from '../../../../src/domain/query/add-condition.ts';
import { type QueryCompletion, suggestionsFor } from '../../../../src/domain/query/complete-query.ts';
import { count } from '../../format/numbers.ts';
import type { Suggestion } from './query-props.ts';

/** One line of the list below the field. */
export interface Choice {
  /** Takes the place of what is typed. */
  insert: string;
  shown: string;
  /** Help of a field, or the number of rows with a value. */
  note: string;
  /** A value ends its condition; a field and an operator want one. */
  isComplete: boolean;
}

/** What fits at the cursor: values of the data first, then what the language knows. */
export function choicesOf(completion: QueryCompletion, found: readonly Suggestion[]): Choice[] {
  const known = suggestionsFor(completion).map(
    ({ insert, help }): Choice => ({
      insert,
      shown: insert,
      note: help.replaceAll('`', ''),
      isComplete: completion.kind !== 'field' && !/^[<>=]+$/.test(insert),
    }),
  );
  if (completion.kind === 'field') return known;
  const { field, typed, taken } = completion;
  const values = found
    .filter(({ value }) => value.toLowerCase().includes(typed.toLowerCase()) && !taken.includes(value))
    .map(
      (each): Choice => ({
        insert: conditionText({ field, value: each.value }).slice(field.length + 1),
        shown: each.value,
        note: each.count === undefined ? '' : count(each.count),
        isComplete: true,
      }),
    );
  return [...values, ...known.filter(({ insert }) => !values.some((value) => value.insert === insert))];
}
