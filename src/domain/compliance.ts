import type { Severity } from './finding.ts';

/** A control that a host fails (key `compliance_violations`, identity: host, port, framework, control). */
export interface ComplianceViolation {
  host: string;
  /** Null = the host as a whole. */
  port: number | null;
  /** `cis`, `pci`, `nist` */
  framework: string;
  /** Number of the control in its framework: `3.10`, `SC-8`. */
  control: string;
  title: string;
  /** What fails it. */
  description: string;
  severity: Severity;
  finding_ids: string[];
}

/**
 * A control that a host passes as far as the scan can tell, or that was not assessed (key `compliance_controls`,
 * identity: host, framework, control).
 */
export interface ComplianceControl {
  /** Null = the same for every host of the scan. */
  host: string | null;
  framework: string;
  control: string;
  title: string;
  status: 'pass' | 'not_assessed';
  reason: string;
}
