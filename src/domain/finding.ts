export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];
export type SeverityCounts = Record<Severity, number>;

/** An invalid severity, as rows of older versions or of plugins may have one, counts as the lowest. */
export function knownSeverity(severity: Severity): Severity {
  return severities.includes(severity) ? severity : 'info';
}

export function noFindings(): SeverityCounts {
  return { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
}

/**
 * Certainty of a verdict, highest first. `certain`: the service itself shows it, or the exact version does and no
 * distribution patches it; `possible`: it may well be fixed.
 */
export const findingClasses = ['certain', 'likely', 'possible'] as const;
export type FindingClass = (typeof findingClasses)[number];

/** Confidence from which an observed fact is certain. */
const certainFrom = 0.9;
/** Confidence from which a verdict is likely. */
const likelyFrom = 0.5;

/** The class of a finding; without one (older records, external modules) it follows from the confidence. */
export function classOf(finding: Partial<Pick<Finding, 'class' | 'cpe' | 'confidence'>>): FindingClass {
  const named = findingClasses.find((name) => name === finding.class);
  if (named !== undefined) return named;
  const { cpe = null, confidence = 0 } = finding;
  // The version of a product alone never proves a flaw.
  if (cpe === null && confidence >= certainFrom) return 'certain';
  return confidence >= likelyFrom ? 'likely' : 'possible';
}

/** A vulnerability with its evidence (key `vulnerabilities`, identity: id, host, port). */
export interface Finding {
  id: string;
  title: string;
  severity: Severity;
  cvss: { version: string; score: number; vector: string } | null;
  kev: boolean;
  epss: { score: number; percentile: number } | null;
  cpe: string | null;
  affected: string | null;
  detected: string | null;
  /** 0..1 */
  confidence: number;
  backport_note: string | null;
  /** First affected and first fixed version, as far as the range of `affected` names them. */
  affected_from?: string | null | undefined;
  fixed_in?: string | null | undefined;
  /** Absent in older records, and where no module names one. */
  action?: FindingAction | undefined;
  class: FindingClass;
  evidence: string;
  remediation: string;
  references: string[];
  plugin: string;
}

/** What removes a finding; one action removes all findings with its key. */
export interface FindingAction {
  /** `update openbsd:openssh`, `tls-versions` */
  key: string;
  /** Imperative, without a full stop: `Update OpenSSH`, `Turn off Telnet`. */
  text: string;
  /** An update: the highest `fixed_in` of its findings completes the text. */
  update: boolean;
}

/** Longest text and key of an action, characters. */
export const maxActionLength = 120;

/** An action other than an update. Checks and rules with equal texts share the action. */
export function plainAction(text: string): FindingAction {
  const plain = text.trim().slice(0, maxActionLength);
  return { key: plain.toLowerCase(), text: plain, update: false };
}

export interface HostFinding extends Finding {
  host: string;
  port: number | null;
  protocol: 'tcp' | 'udp' | null;
}
