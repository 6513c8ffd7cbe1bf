import type { Severity } from '../../domain/finding.ts';
import type { Producer } from '../../domain/producer.ts';

export const orderOperators = ['gt', 'gte', 'lt', 'lte', 'between'] as const;
export const versionOperators = [
  'version_eq',
  'version_lt',
  'version_gt',
  'version_lte',
  'version_gte',
  'version_between',
] as const;
export const ruleOperators = [
  'equals',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  ...orderOperators,
  ...versionOperators,
  'exists',
  'in',
  'notIn',
] as const;
export type RuleOperator = (typeof ruleOperators)[number];

/** Only `evaluation` reports findings; rules of the other types are checked and then ignored. */
export const ruleTypes = ['evaluation', 'output', 'integration'] as const;
export type RuleType = (typeof ruleTypes)[number];

export const ruleLogics = ['AND', 'OR', 'NOT'] as const;
export type RuleLogic = (typeof ruleLogics)[number];

export type RuleScalar = string | number | boolean;
export type RuleValue = RuleScalar | readonly RuleScalar[];

export interface RuleCondition {
  field: string;
  operator: RuleOperator;
  value: RuleValue;
}

/** `NOT` holds if none of its parts does. */
export interface RuleGroup {
  logic: RuleLogic;
  rules: readonly RulePart[];
}

export type RulePart = RuleCondition | RuleGroup;

/** A declarative rule about one port, as its reader has checked it. */
export interface EvaluationRule {
  id: string;
  name: string;
  version: string;
  type: RuleType;
  author: string | null;
  severity: Severity;
  cve: readonly string[];
  tags: readonly string[];
  references: readonly string[];
  /** All must hold before `match` counts. */
  triggers: readonly RuleCondition[];
  match: RuleGroup;
  /** False: scans do not report it; trials of the rule show it all the same. */
  reports: boolean;
  /** May contain `{{value}}` and `{{field}}`. */
  message: string;
  /** What removes the finding, in the imperative; empty if the rule names nothing. */
  action: string;
  remediation: string;
  /** The plugin that brought it; absent for rules of the program and of the operator's folders. */
  producer?: Producer;
}

export function isRuleGroup(part: RulePart): part is RuleGroup {
  return 'logic' in part;
}
