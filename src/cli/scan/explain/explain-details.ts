import type {
  ExplainedClaim,
  ExplainedFinding,
  ExplainedPort,
} from '../../../actions/results/explain-port.ts';

/** Maximum length of a banner in text output, characters; JSON has all of it. */
const maxBannerText = 400;

/** Everything that is known of a port, conclusions indented below their evidence. Not printable yet. */
export function portDetails({ banner, truncated, claims, findings }: ExplainedPort): string[] {
  return [
    `banner: ${bannerText(banner)}${truncated ? ' (truncated)' : ''}`,
    ...claims.flatMap(claimLines),
    ...findings.flatMap(findingLines),
  ];
}

function bannerText(banner: string | null): string {
  if (banner === null || banner === '') return 'nothing';
  const text = banner.trimEnd();
  return JSON.stringify(text.length > maxBannerText ? `${text.slice(0, maxBannerText)}…` : text);
}

function claimLines(claim: ExplainedClaim): string[] {
  const { outcome, reason, match, product, version, revision, cpe, confidence, source, evidence, rule } =
    claim;
  const name = [product ?? 'no product', version, revision && `(${revision})`].filter(Boolean).join(' ');
  return [
    `${outcome}: ${match}, ${name}, ${confidence} sure: ${reason}`,
    `  read from ${rule?.source ?? source}: ${JSON.stringify(evidence)}`,
    ...(rule
      ? [`  by rule ${rule.id}${rule.pattern === null ? ' (not installed here)' : `: ${rule.pattern}`}`]
      : []),
    ...(cpe ? [`  as ${cpe}`] : []),
  ];
}

function findingLines(finding: ExplainedFinding): string[] {
  const { id, severity, title, rank, cvss, affected, detected, confidence, evidence, backport_note, plugin } =
    finding;
  return [
    `${id} ${severity}: ${title}`,
    `  ${rank}`,
    ...(cvss === null ? [] : [`  ${cvss.vector}`]),
    ...(affected === null ? [] : [`  affected: ${affected}; detected: ${detected ?? 'no version'}`]),
    `  ${finding.class}, ${confidence} sure, by ${plugin}, from ${JSON.stringify(evidence)}`,
    ...(backport_note === null || finding.reasons.includes(backport_note) ? [] : [`  ${backport_note}`]),
    ...finding.reasons.map((reason) => `  - ${reason}`),
  ];
}
