import { type FindingClass, type Severity, type SeverityCounts, severities } from '../../domain/finding.ts';
import type { Action } from '../../report/model/report.ts';

/** What removes some findings, as clients see it. */
export interface ListedFix {
  key: string;
  text: string;
  /** An update of a product. */
  update: boolean;
  /** Why it has its rank. */
  reason: string;
  severity: Severity;
  severity_counts: SeverityCounts;
  exploited: boolean;
  epss: number | null;
  cvss: number | null;
  /** Of its worst finding. */
  class: FindingClass;
  findings: number;
  hosts: number;
  /** The first hosts by address. */
  host_sample: { host: string; name: string | null }[];
}

/** Hosts of a fix that are named. */
export const maxSample = 8;

/** An action of the fix list of a report. */
export function listedFix(action: Action): ListedFix {
  const { key, text, update, reason, exploited, epss, cvss, findings, hosts } = action;
  const severity = severities.find((name) => action.severities[name] > 0) ?? 'info';
  const sample = new Map(action.places.map(({ host, name }) => [host, { host, name }]));
  return {
    key,
    text,
    update,
    reason,
    severity,
    severity_counts: action.severities,
    exploited,
    epss,
    cvss,
    class: action.class,
    findings,
    hosts,
    host_sample: [...sample.values()].slice(0, maxSample),
  };
}
