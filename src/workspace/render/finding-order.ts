import { type Finding, severities } from '../../domain/finding.ts';
import { rankFindings } from '../../knowledge/vulndb/verdict.ts';

/** Most urgent first: known to be exploited, then by severity, then by the ranking of findings. */
export function mostUrgentFirst<T>(items: readonly T[], findingOf: (item: T) => Finding): T[] {
  const ranked = rankFindings(items.map((item) => ({ ...urgencyOf(findingOf(item)), item })));
  return ranked
    .toSorted((a, b) => Number(b.kev) - Number(a.kev) || a.severity - b.severity)
    .map(({ item }) => item);
}

/** Rows of older records may lack fields. */
function urgencyOf({ id, severity, kev, epss, cvss, confidence }: Finding) {
  return {
    id,
    severity: severities.indexOf(severity),
    kev: kev ?? false,
    epss: epss ?? null,
    cvss: cvss ?? null,
    confidence: confidence ?? 0,
  };
}
