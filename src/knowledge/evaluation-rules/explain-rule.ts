import { visibleText } from '../../domain/text/visible.ts';
import { compilePredicate, type ObservedFact } from './predicate.ts';
import { type EvaluationRule, isRuleGroup, type RuleCondition, type RulePart } from './rule.ts';

/** Maximum length of a shown value, characters. */
const shownLength = 80;

/** A condition or group of a rule, and whether it holds. */
export interface ExplainedPart {
  /** Levels of groups above it. */
  depth: number;
  text: string;
  holds: boolean;
  /** What the field has; null for groups. */
  seen: string | null;
}

/** Every condition of a rule in its order, with what the facts of a port show. */
export function explainRule(
  { triggers, match }: EvaluationRule,
  facts: readonly ObservedFact[],
): ExplainedPart[] {
  return [...triggers.flatMap((trigger) => explainPart(trigger, facts, 0)), ...explainPart(match, facts, 0)];
}

function explainPart(part: RulePart, facts: readonly ObservedFact[], depth: number): ExplainedPart[] {
  if (!isRuleGroup(part)) return [explainCondition(part, facts, depth)];
  const inner = part.rules.map((rule) => explainPart(rule, facts, depth + 1));
  const states = inner.map(([first]) => first?.holds === true);
  const holds =
    part.logic === 'AND' ? states.every(Boolean) : states.some(Boolean) !== (part.logic === 'NOT');
  return [{ depth, text: part.logic, holds, seen: null }, ...inner.flat()];
}

function explainCondition(
  condition: RuleCondition,
  facts: readonly ObservedFact[],
  depth: number,
): ExplainedPart {
  const { field, operator, value } = condition;
  const own = facts.filter((fact) => fact.field === field);
  const absent = operator === 'exists' && value === false;
  const test = compilePredicate(condition);
  const hit = own.some((fact) => test(fact) !== null);
  const seen = own.flatMap(({ values }) => values.map(String)).join(', ');
  return {
    depth,
    text: `${field} ${operator} ${JSON.stringify(value)}`,
    holds: hit !== absent,
    seen: own.length === 0 ? 'nothing' : visibleText(seen.slice(0, shownLength)),
  };
}
