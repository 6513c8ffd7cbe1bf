import type { EvaluationRule } from './rule.ts';

/** The rules of a scan; ids are unique. */
export class RuleSet {
  readonly rules: readonly EvaluationRule[];

  constructor(rules: readonly EvaluationRule[]) {
    this.rules = rules;
  }

  /**
   * The rules that report findings, limited to ids and tags where some are given.
   * @returns the ids that no rule has as `unknown`
   */
  select(ids: readonly string[], tags: readonly string[]): { rules: EvaluationRule[]; unknown: string[] } {
    const all = ids.length === 0 || ids.includes('all');
    const known = new Set(this.rules.map(({ id }) => id));
    const rules = this.rules.filter(
      (rule) =>
        rule.type === 'evaluation' &&
        rule.reports &&
        (all || ids.includes(rule.id)) &&
        (tags.length === 0 || rule.tags.some((tag) => tags.includes(tag))),
    );
    return { rules, unknown: ids.filter((id) => id !== 'all' && !known.has(id)) };
  }
}
