/** The use of a metric in a PromQL expression. */
export interface MetricUse {
  name: string;
  matchers: { label: string; operator: string; value: string }[];
}

export interface Expression {
  metrics: MetricUse[];
  /** Labels of `by (…)` and `without (…)`. */
  grouping: string[];
}

const matcher = /([a-z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;
const keywords = new Set([
  'and',
  'or',
  'unless',
  'on',
  'ignoring',
  'bool',
  'offset',
  'group_left',
  'group_right',
]);

/** Metrics and labels of an expression of PromQL, as far as the shipped files use the language. */
export function readPromQl(text: string): Expression {
  const grouping: string[] = [];
  const ungrouped = text.replace(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, list: string) => {
    grouping.push(...list.split(',').map((label) => label.trim()));
    return ' ';
  });
  const metrics: MetricUse[] = [];
  // A name that no parenthesis follows; ranges and numbers such as 10e9 are none.
  const use = /(?<![\w.$])([a-zA-Z_:][\w:]*)\b(?!\s*\()(?:\s*\{([^}]*)\})?/g;
  for (const [, name = '', selector = ''] of ungrouped.replace(/\[[^\]]*\]/g, '').matchAll(use)) {
    if (keywords.has(name)) continue;
    const matchers = [...selector.matchAll(matcher)].map(([, label = '', operator = '', value = '']) => ({
      label,
      operator,
      value,
    }));
    metrics.push({ name, matchers });
  }
  return { metrics, grouping };
}
