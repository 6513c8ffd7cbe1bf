import {
  classOf,
  type Finding,
  type FindingClass,
  findingClasses,
  knownSeverity,
  type Severity,
  severities,
} from './finding.ts';

/** What decides which of two findings is the worse one. */
export interface Urgency {
  severity: Severity;
  class: FindingClass;
  /** Known to be exploited. */
  exploited: boolean;
  epss: number | null;
  cvss: number | null;
}

/** Fields of a finding that its urgency is read from; rows of older records and of plugins may lack some. */
export type RankedFields = Pick<Finding, 'id' | 'severity'> &
  Partial<Pick<Finding, 'class' | 'cpe' | 'confidence' | 'kev' | 'backport_note'>> & {
    epss?: { score: number } | null;
    cvss?: { score: number } | null;
  };

/**
 * The severity with which a finding counts in orders and totals: one that is only possible, and that a distribution may
 * have fixed, is medium at most. Its `severity` stays that of its score.
 */
export function countsAs(finding: Omit<RankedFields, 'id'>): Severity {
  const severity = knownSeverity(finding.severity);
  const mayBeFixed = Boolean(finding.backport_note) && classOf(finding) === 'possible';
  return mayBeFixed && (severity === 'critical' || severity === 'high') ? 'medium' : severity;
}

export function urgencyOf(finding: Omit<RankedFields, 'id'>): Urgency {
  return {
    severity: countsAs(finding),
    class: classOf(finding),
    exploited: finding.kev === true,
    epss: finding.epss?.score ?? null,
    cvss: finding.cvss?.score ?? null,
  };
}

/**
 * The one order of findings, worst first: by severity; within one the exploited ones that are at least likely, then
 * certain before likely before possible; then EPSS and CVSS, where an unknown score comes last.
 */
export function byWorst(one: Urgency, other: Urgency): number {
  return (
    urgencyRank(one) - urgencyRank(other) ||
    (other.epss ?? -1) - (one.epss ?? -1) ||
    (other.cvss ?? -1) - (one.cvss ?? -1)
  );
}

/** Ranks of one severity: exploited, certain, likely, possible. */
const ranksOfSeverity = 1 + findingClasses.length;
/** Ranks of all findings: 0 is the worst. */
export const urgencyRanks = severities.length * ranksOfSeverity;

/** Place of severity, exploitation and class in the order of findings; 0 is the worst. */
export function urgencyRank(finding: Pick<Urgency, 'severity' | 'class' | 'exploited'>): number {
  const raised = finding.exploited && finding.class !== 'possible';
  const within = raised ? 0 : 1 + findingClasses.indexOf(finding.class);
  return severities.indexOf(finding.severity) * ranksOfSeverity + within;
}

/** Findings of a record in the one order, equal ones by their ids. */
export function worstFirst<T>(items: readonly T[], findingOf: (item: T) => RankedFields): T[] {
  return items
    .map((item) => ({ item, id: findingOf(item).id, urgency: urgencyOf(findingOf(item)) }))
    .sort((a, b) => byWorst(a.urgency, b.urgency) || byId(a.id, b.id))
    .map(({ item }) => item);
}

/** Created once, at the first use: `localeCompare` with options takes ten times as long. */
let byNumber: Intl.Collator | null = null;

/** `CVE-2020-900` before `CVE-2020-10000`. */
export function byId(one: string, other: string): number {
  byNumber ??= new Intl.Collator('en', { numeric: true });
  return byNumber.compare(one, other) || (one < other ? -1 : Number(one > other));
}
