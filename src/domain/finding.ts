export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];
export type SeverityCounts = Record<Severity, number>;

export function noFindings(): SeverityCounts {
  return { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
}

/** A flaw with what proves it (key `vulnerabilities`, identity: id, host, port). */
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
  evidence: string;
  remediation: string;
  references: string[];
  plugin: string;
}

export interface HostFinding extends Finding {
  host: string;
  port: number | null;
  protocol: 'tcp' | 'udp' | null;
}
