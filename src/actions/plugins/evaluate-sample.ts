import { PortolanError } from '../../domain/errors.ts';
import { readInstalled } from '../../engine/graph/installed-files.ts';
import { type ExplainedPart, explainRule } from '../../knowledge/evaluation-rules/explain-rule.ts';
import { factsOfEndpoint } from '../../knowledge/evaluation-rules/observed-facts.ts';
import type { EvaluationRule } from '../../knowledge/evaluation-rules/rule.ts';
import { RuleEvaluation } from '../../knowledge/evaluation-rules/rule-evaluation.ts';
import { rulesOfContents } from '../../plugins/rules/plugin-rules.ts';
import { readSample, type SamplePort } from '../../plugins/rules/rule-sample.ts';
import { openPlugin } from './open-plugin.ts';

/** Maximum size of a sample, bytes. */
const maxSampleBytes = 16 * 1024 * 1024;

/** One rule on one port. */
export interface RuleTrial {
  host: string;
  port: number;
  protocol: string;
  rule: string;
  fired: boolean;
  evidence: string | null;
  conditions: ExplainedPart[];
}

/**
 * Evaluates the rules of a file or package on the ports of a sample, also those that scans do not report.
 * @throws PortolanError `usage` for another kind of plugin or an unreadable sample, `configuration` for invalid rules
 */
export async function evaluateSample(file: string, sample: string): Promise<RuleTrial[]> {
  const { file: plugin, contents } = await openPlugin(file);
  if (plugin.kind !== 'rules')
    throw new PortolanError(
      'usage',
      `${file} is a plugin of kind ${plugin.kind}; only rules can be tried on a sample`,
    );
  const rules = rulesOfContents(contents, plugin.entry);
  const text = await readInstalled(sample, maxSampleBytes);
  if (Buffer.byteLength(text) > maxSampleBytes)
    throw new PortolanError('usage', `${sample}: larger than ${maxSampleBytes / 1024 / 1024} MiB`);
  return readSample(text).flatMap((port) => rules.map((rule) => tryRule(rule, port)));
}

function tryRule(rule: EvaluationRule, { endpoint, facts, hostFacts, claim }: SamplePort): RuleTrial {
  const evaluation = new RuleEvaluation([rule]);
  const early = evaluation.observe(endpoint, facts, claim ?? undefined);
  evaluation.observeHost(endpoint.host, hostFacts);
  const [finding] = [...early, ...[...evaluation.complete()].flat()];
  return {
    ...endpoint,
    rule: rule.id,
    fired: finding !== undefined,
    evidence: finding?.evidence ?? null,
    conditions: explainRule(rule, [...factsOfEndpoint(endpoint), ...facts, ...hostFacts]),
  };
}
