import type { Severity } from '../domain/finding.ts';

/** Weak cryptography as a check found it on one port. */
export interface Weakness {
  /** Stable: the name of the check. */
  id: string;
  title: string;
  severity: Severity;
  /** 0..1 */
  confidence: number;
  /** What was seen. */
  detected: string;
  /** The fact that proves it, as text. */
  evidence: string;
  remediation: string;
  references: readonly string[];
}

/** The words of a check, which are the same wherever it speaks. */
export type CheckText = Pick<Weakness, 'title' | 'severity' | 'remediation' | 'references'>;

/** Names that evidence lists. */
const shownLimit = 12;

/** `a, b, c and 4 more` */
export function listed(names: readonly string[]): string {
  const more = names.length - shownLimit;
  return more <= 0 ? names.join(', ') : `${names.slice(0, shownLimit).join(', ')} and ${more} more`;
}
