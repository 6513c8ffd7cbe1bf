import { nearest } from '../../domain/text/nearest.ts';
import { compareVersions } from '../../domain/version-order.ts';
import {
  type FieldType,
  operatorsOf,
  ruleField,
  ruleFields,
} from '../../knowledge/evaluation-rules/fields.ts';
import { type RuleOperator, type RuleScalar, ruleOperators } from '../../knowledge/evaluation-rules/rule.ts';
import { compileMatcher } from '../../knowledge/rules/matcher.ts';
import { patternSize } from '../../knowledge/rules/pattern-size.ts';

/** Maximum length of a value, characters. */
const maxValueLength = 1000;
/** Maximum number of values of `in` and `notIn`. */
const maxValues = 200;
/** Maximum instructions of a pattern: each costs time on every character of a response. */
const maxPatternSize = 1000;

interface ConditionProblem {
  part: 'field' | 'operator' | 'value';
  reason: string;
}

/** Why a condition makes no sense, or null. */
export function conditionProblem(field: unknown, operator: unknown, value: unknown): ConditionProblem | null {
  const known = typeof field === 'string' ? ruleField(field) : null;
  if (known === null) return { part: 'field', reason: unknownField(field) };
  const named = ruleOperators.find((one) => one === operator);
  if (named === undefined) {
    const guess = nearest(String(operator).slice(0, 40), ruleOperators);
    const hint = guess ? `did you mean ${guess}?` : `known: ${ruleOperators.join(', ')}`;
    return { part: 'operator', reason: `is not an operator; ${hint}` };
  }
  const fitting = operatorsOf[known.type];
  if (!fitting.includes(named)) {
    const reason = `${named} does not fit ${String(field)}, which is ${typeTexts[known.type]}; fitting: ${fitting.join(', ')}`;
    return { part: 'operator', reason };
  }
  const reason = valueProblem(named, known.type, value);
  return reason === null ? null : { part: 'value', reason };
}

const typeTexts: Record<FieldType, string> = {
  text: 'text',
  number: 'a number',
  flag: 'true or false',
  version: 'a version',
  date: 'a date',
  any: 'of any type',
};

function unknownField(field: unknown): string {
  const name = String(field).slice(0, 80);
  if (name.startsWith('http.headers.'))
    return 'header names are lower-case letters, digits, dashes and underscores';
  const guess = nearest(name, Object.keys(ruleFields));
  return `is not a field${guess ? `; did you mean ${guess}?` : ''}`;
}

/** Elements of the value by operator; others take one. */
const pairs: ReadonlySet<RuleOperator> = new Set(['between', 'version_between']);
const lists: ReadonlySet<RuleOperator> = new Set(['in', 'notIn']);

function valueProblem(operator: RuleOperator, type: FieldType, value: unknown): string | null {
  if (operator === 'exists') return typeof value === 'boolean' ? null : 'must be true or false';
  if (pairs.has(operator)) {
    if (!Array.isArray(value) || value.length !== 2)
      return 'must be a list of the lowest and the highest value';
    return firstProblem(value, operator, type) ?? pairProblem(operator, value as RuleScalar[]);
  }
  if (lists.has(operator)) {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxValues)
      return `must be a list of 1 to ${maxValues} values`;
    return firstProblem(value, operator, type);
  }
  return elementProblem(value, operator, type);
}

function firstProblem(values: readonly unknown[], operator: RuleOperator, type: FieldType): string | null {
  return (
    values.map((value) => elementProblem(value, operator, type)).find((problem) => problem !== null) ?? null
  );
}

function pairProblem(operator: RuleOperator, [low, high]: RuleScalar[]): string | null {
  const order =
    operator === 'version_between'
      ? (compareVersions(String(low), String(high)) ?? 0)
      : Number(orderOf(low) > orderOf(high));
  return order > 0 ? 'the lowest value comes first' : null;
}

function orderOf(value: RuleScalar | undefined): number {
  return typeof value === 'number' ? value : Date.parse(String(value));
}

function elementProblem(value: unknown, operator: RuleOperator, type: FieldType): string | null {
  if (typeof value === 'string' && value.length > maxValueLength)
    return `is longer than ${maxValueLength} characters`;
  if (operator.startsWith('version_')) return versionProblem(value);
  if (operator === 'matches') return patternProblem(value);
  if (type === 'number') return typeof value === 'number' ? null : 'must be a number';
  if (type === 'flag') return typeof value === 'boolean' ? null : 'must be true or false';
  if (type === 'date') return dateProblem(value);
  if (type === 'any' && !textual.has(operator)) {
    const right = typeof value === 'number' || (typeof value === 'boolean' && !ordering.has(operator));
    return right || (typeof value === 'string' && !ordering.has(operator)) ? null : 'must be a number';
  }
  if (typeof value !== 'string') return 'must be text; quote it';
  return value === '' && textual.has(operator) ? 'must not be empty' : null;
}

const textual: ReadonlySet<RuleOperator> = new Set(['contains', 'startsWith', 'endsWith', 'matches']);
const ordering: ReadonlySet<RuleOperator> = new Set(['gt', 'gte', 'lt', 'lte', 'between']);

function versionProblem(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a version in quotes, such as "2.4.58"';
  return compareVersions(value, value) === null ? 'is not a version' : null;
}

function dateProblem(value: unknown): string | null {
  const right = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,12}Z)?$/.test(value);
  return right && !Number.isNaN(Date.parse(value)) ? null : 'must be a date such as "2026-01-31"';
}

function patternProblem(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return 'must be a pattern in RE2 syntax';
  if (patternSize(value) > maxPatternSize)
    return `has more than ${maxPatternSize} steps once its repetitions are written out`;
  try {
    compileMatcher(value);
    return null;
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : String(error)}`;
  }
}
