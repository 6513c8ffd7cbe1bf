import { classOf, type HostFinding, plainAction } from '../../domain/finding.ts';
import type { Endpoint } from '../../domain/host.ts';
import type { Producer } from '../../domain/producer.ts';
import type { Fingerprint } from '../../domain/service.ts';
import type { MatchedField } from './compiled-rules.ts';
import type { EvaluationRule } from './rule.ts';

/** What a rule found; `producer` names the plugin that brought the rule. */
export type RuleFinding = HostFinding & { producer?: Producer };

/** The claim about the product of a port, as far as findings need it. */
export type ProductClaim = Pick<Fingerprint, 'cpe' | 'version' | 'confidence' | 'revision'>;

/** Confidence of what the service itself shows; a claim about the product lowers it. */
const observedConfidence = 0.95;
/** Confidence of a version that a distribution may have patched. */
const patchedConfidence = 0.4;
/** Maximum length of evidence, characters. */
const evidenceLimit = 512;
/** Maximum length of one substituted value, characters. */
const valueLimit = 256;

const claimFields: ReadonlySet<string> = new Set(['product', 'vendor', 'version', 'cpe']);

/** @param matched the values that made the rule hold, the most telling first */
export function findingOfRule(
  rule: EvaluationRule,
  { host, port, protocol }: Endpoint,
  matched: readonly MatchedField[],
  claim: ProductClaim | null,
): RuleFinding {
  const byProduct = claim !== null && matched.some(({ field }) => claimFields.has(field));
  const patched =
    byProduct && claim.revision !== undefined && matched.some(({ field }) => field === 'version');
  const seen = byProduct ? Math.min(observedConfidence, claim.confidence) : observedConfidence;
  const confidence = patched ? Math.min(patchedConfidence, seen) : seen;
  const cpe = byProduct ? claim.cpe : null;
  return {
    host,
    port,
    protocol,
    id: rule.id,
    title: rule.name,
    severity: rule.severity,
    cvss: null,
    kev: false,
    epss: null,
    cpe,
    affected: null,
    detected: detectedOf(matched, byProduct ? claim.version : null),
    confidence,
    backport_note: patched
      ? `package revision ${claim.revision} seen: the distribution may have patched this version`
      : null,
    affected_from: null,
    fixed_in: null,
    ...(rule.action !== '' && { action: plainAction(rule.action) }),
    class: classOf({ cpe, confidence }),
    evidence: evidenceOf(rule, matched),
    remediation: rule.remediation,
    references: [...rule.references],
    plugin: rule.id,
    ...(rule.producer && { producer: rule.producer }),
  };
}

function detectedOf(matched: readonly MatchedField[], version: string | null): string | null {
  return version ?? matched[0]?.value.slice(0, valueLimit) ?? null;
}

/** The message, then each value that matched. */
function evidenceOf({ message }: EvaluationRule, matched: readonly MatchedField[]): string {
  const [first] = matched;
  const values: Record<string, string> = {
    value: first?.value.slice(0, valueLimit) ?? '',
    field: first?.field ?? '',
  };
  // One pass: a value that contains a placeholder is not substituted again.
  const text = message.replace(/\{\{ ?(value|field) ?\}\}/g, (_, name: string) => values[name] ?? '');
  const lines = matched.map(({ field, value }) => `${field}: ${value.slice(0, valueLimit)}`);
  return [text, ...lines].join('\n').slice(0, evidenceLimit).trim().toWellFormed();
}
