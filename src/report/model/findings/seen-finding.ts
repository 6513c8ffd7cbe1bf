import { createHash } from 'node:crypto';
import { classOf, type FindingAction, type FindingClass, type Severity } from '../../../domain/finding.ts';
import { byWorst, countsAs, type Urgency } from '../../../domain/finding-order.ts';
import type { Protocol } from '../../../domain/host.ts';
import { producersOf } from '../../../domain/producer.ts';
import type { VulnerabilityRow } from '../../../domain/result.ts';
import { completeRow } from '../../../workspace/record/row-line.ts';
import { detachedStart } from '../bounded.ts';

/** A finding as the report counts it, with checked fields. */
export interface SeenFinding {
  /** Of limited length: a longer one ends with a part of its SHA-256. */
  id: string;
  title: string;
  severity: Severity;
  class: FindingClass;
  exploited: boolean;
  epss: number | null;
  cvss: { version: string; score: number; vector: string } | null;
  cpe: string | null;
  affected: string | null;
  detected: string | null;
  affectedFrom: string | null;
  fixedIn: string | null;
  backportNote: string | null;
  evidence: string;
  remediation: string;
  references: string[];
  foundBy: string[];
  action: FindingAction | null;
  port: number | null;
  protocol: Protocol | null;
  /** Product of the service on its port. */
  product: string | null;
}

/** Longest ID of a finding, characters. */
const maxIdLength = 200;

/** @param product of the service on the port of the finding */
export function readFinding(row: VulnerabilityRow, product: string | null): SeenFinding {
  const { port, protocol, vulnerability } = completeRow(row);
  const { cvss, epss, action } = vulnerability;
  return {
    id: shortId(textOf(vulnerability.id)),
    title: textOf(vulnerability.title) || textOf(vulnerability.id),
    severity: countsAs(vulnerability),
    class: classOf(vulnerability),
    exploited: vulnerability.kev === true,
    epss: scoreOf(epss?.score),
    cvss: cvss && readCvss(cvss),
    cpe: optionalText(vulnerability.cpe),
    affected: optionalText(vulnerability.affected),
    detected: optionalText(vulnerability.detected),
    affectedFrom: optionalText(vulnerability.affected_from),
    fixedIn: optionalText(vulnerability.fixed_in),
    backportNote: optionalText(vulnerability.backport_note),
    evidence: textOf(vulnerability.evidence),
    remediation: textOf(vulnerability.remediation),
    references: Array.isArray(vulnerability.references) ? vulnerability.references.filter(isText) : [],
    foundBy: [
      ...(vulnerability.plugin ? [textOf(vulnerability.plugin)] : []),
      ...producersOf(row).map(({ name, version }) => `plugin ${name} ${version}`),
    ],
    action: action && isText(action.key) && isText(action.text) ? action : null,
    port,
    protocol,
    product,
  };
}

/** The worse of a finding and the worst one so far. */
export function worstSoFar(worst: Urgency | null, finding: SeenFinding): Urgency {
  const urgency = { ...finding, cvss: finding.cvss?.score ?? null };
  return worst === null || byWorst(urgency, worst) < 0 ? urgency : worst;
}

/** The ID of a finding as it stands in the report. */
export function shortId(id: string): string {
  if (id.length <= maxIdLength) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${detachedStart(id, maxIdLength - 17)}…${digest}`;
}

/** Findings with the same key are of one kind. */
export function kindKey({ id, severity }: { id: string; severity: Severity }): string {
  return `${severity} ${id}`;
}

function readCvss({ version, score, vector }: { version: string; score: number; vector: string }) {
  const known = scoreOf(score);
  return known === null ? null : { version: textOf(version), score: known, vector: textOf(vector) };
}

function scoreOf(score: unknown): number | null {
  return typeof score === 'number' && Number.isFinite(score) ? score : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function textOf(value: unknown): string {
  return isText(value) ? value : '';
}

function optionalText(value: unknown): string | null {
  return isText(value) && value !== '' ? value : null;
}
