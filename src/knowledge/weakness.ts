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
  /** The evidence, as text. */
  evidence: string;
  /** What removes it, in the imperative, at most 60 characters. Findings that one change removes have equal texts. */
  action: string;
  remediation: string;
  references: readonly string[];
}

/** The texts of a check, the same for every finding. */
export type CheckText = Pick<Weakness, 'title' | 'severity' | 'action' | 'remediation' | 'references'>;

/** Names listed in evidence. */
const shownLimit = 12;

/** `a, b, c and 4 more` */
export function listed(names: readonly string[]): string {
  const more = names.length - shownLimit;
  return more <= 0 ? names.join(', ') : `${names.slice(0, shownLimit).join(', ')} and ${more} more`;
}
