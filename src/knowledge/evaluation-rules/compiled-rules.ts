import { ruleField } from './fields.ts';
import { compilePredicate, type ObservedFact, type Predicate } from './predicate.ts';
import {
  type EvaluationRule,
  isRuleGroup,
  type RuleCondition,
  type RuleGroup,
  type RuleLogic,
} from './rule.ts';

interface Leaf {
  field: string;
  /** Index into the hits of a port. */
  number: number;
  /** The value may change until everything about the port is known. */
  late: boolean;
  /** Holds without a value instead of with one. */
  absent: boolean;
}

interface Group {
  logic: RuleLogic;
  parts: readonly (Leaf | Group)[];
}

export interface CompiledRule {
  rule: EvaluationRule;
  number: number;
  triggers: Group;
  match: Group;
}

/** What matched, by number of the condition. */
export type Hits = Map<number, string>;

export interface MatchedField {
  field: string;
  value: string;
}

/** Fields whose values add up over the responses of a port; of others the last record counts. */
const adding: ReadonlySet<string> = new Set(['banner', 'http.body']);

/** Rules with their conditions compiled; equal conditions of several rules are tested once. */
export class CompiledRules {
  readonly all: readonly CompiledRule[];
  readonly #numbers = new Map<string, number>();
  readonly #byField = new Map<string, { number: number; test: Predicate }[]>();
  /** Rules by number of a condition. */
  readonly #users = new Map<number, CompiledRule[]>();

  constructor(rules: readonly EvaluationRule[]) {
    this.all = rules.map((rule, number) => {
      const triggers = this.#group({ logic: 'AND', rules: rule.triggers });
      const compiled = { rule, number, triggers, match: this.#group(rule.match) };
      for (const leaf of leavesOf([compiled.triggers, compiled.match])) this.#addUser(leaf.number, compiled);
      return compiled;
    });
  }

  /** Whether a rule reads a field. */
  reads(field: string): boolean {
    return this.#byField.has(field);
  }

  /** Notes what the fact makes hold. @returns the rules that may hold now */
  observe(facts: readonly ObservedFact[], hits: Hits): Set<CompiledRule> {
    const touched = new Set<CompiledRule>();
    for (const fact of facts) {
      for (const { number, test } of this.#byField.get(fact.field) ?? []) {
        const shown = test(fact);
        if (shown === null) {
          if (!adding.has(fact.field)) hits.delete(number);
          continue;
        }
        hits.set(number, shown);
        for (const rule of this.#users.get(number) ?? []) touched.add(rule);
      }
    }
    return touched;
  }

  #group({ logic, rules }: RuleGroup): Group {
    return {
      logic,
      parts: rules.map((part) => (isRuleGroup(part) ? this.#group(part) : this.#leaf(part))),
    };
  }

  #leaf(condition: RuleCondition): Leaf {
    const { field, operator, value } = condition;
    const absent = operator === 'exists' && value === false;
    const tested: RuleCondition = absent ? { field, operator, value: true } : condition;
    const key = JSON.stringify([field, operator, tested.value]);
    const number = this.#numbers.get(key) ?? this.#add(key, tested);
    return { field, number, absent, late: ruleField(field)?.late === true };
  }

  #add(key: string, condition: RuleCondition): number {
    const number = this.#numbers.size;
    this.#numbers.set(key, number);
    const tests = this.#byField.get(condition.field) ?? [];
    this.#byField.set(condition.field, tests);
    tests.push({ number, test: compilePredicate(condition) });
    return number;
  }

  #addUser(number: number, rule: CompiledRule): void {
    const users = this.#users.get(number);
    if (!users) this.#users.set(number, [rule]);
    else if (!users.includes(rule)) users.push(rule);
  }
}

/**
 * Whether a rule holds; null = not decided yet.
 * @param complete everything about the port is known: what was not seen is absent
 */
export function ruleHolds({ triggers, match }: CompiledRule, hits: Hits, complete: boolean): boolean | null {
  return groupHolds({ logic: 'AND', parts: [triggers, match] }, hits, complete);
}

/** The values that make a rule hold, those of `match` before those of the triggers. */
export function matchedFields({ triggers, match }: CompiledRule, hits: Hits): MatchedField[] {
  const found = new Map<string, MatchedField>();
  for (const { field, number, absent } of leavesOf([match, triggers], false)) {
    const value = hits.get(number);
    if (value !== undefined && !absent && !found.has(field)) found.set(field, { field, value });
  }
  return [...found.values()];
}

function groupHolds({ logic, parts }: Group, hits: Hits, complete: boolean): boolean | null {
  const states = parts.map((part) =>
    'logic' in part ? groupHolds(part, hits, complete) : leafHolds(part, hits, complete),
  );
  if (logic === 'AND') return states.includes(false) ? false : states.includes(null) ? null : true;
  const any = states.includes(true) || (states.includes(null) ? null : false);
  return logic === 'NOT' && any !== null ? !any : any;
}

function leafHolds({ number, late, absent }: Leaf, hits: Hits, complete: boolean): boolean | null {
  const hit = hits.has(number);
  if (complete) return hit !== absent;
  return hit && !late ? !absent : null;
}

/** @param negated also those below `NOT`, which make a rule hold by not holding themselves */
function leavesOf(groups: readonly Group[], negated = true): Leaf[] {
  return groups.flatMap(({ logic, parts }) => {
    if (logic === 'NOT' && !negated) return [];
    return parts.flatMap((part) => ('logic' in part ? leavesOf([part], negated) : [part]));
  });
}
