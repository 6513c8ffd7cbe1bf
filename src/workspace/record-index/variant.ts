import {
  classOf,
  type Finding,
  type FindingAction,
  type FindingClass,
  type Severity,
} from '../../domain/finding.ts';
import { countsAs } from '../../domain/finding-order.ts';
import type { VulnerabilityRow } from '../../domain/result.ts';

/** Characters of a text in a variant: more than the fix list shows. */
const maxLength = 400;

/** What the fix list looks at in a finding. Findings that agree in all of it are of one variant. */
export interface FindingVariant {
  id: string;
  title: string;
  severity: Severity;
  class: FindingClass;
  kev: boolean;
  cvss: number | null;
  epss: number | null;
  cpe: string | null;
  affected: string | null;
  fixed_in: string | null;
  /** It may be fixed by the distribution. */
  backported: boolean;
  action: FindingAction | null;
  /** Only without an action. */
  remediation: string;
  product: string | null;
}

/** The variant of a finding as a text. @param product of the service on its port */
export function variantText({ vulnerability }: VulnerabilityRow, product: () => string | null): string {
  const { id, title, kev, cvss, epss, cpe, affected, fixed_in, backport_note, action } = vulnerability;
  const named = action ?? null;
  const variant: FindingVariant = {
    id: start(id) ?? '',
    title: start(title) ?? '',
    severity: countsAs(vulnerability),
    class: classOf(vulnerability),
    kev: kev === true,
    cvss: scoreOf(cvss?.score),
    epss: scoreOf(epss?.score),
    cpe: start(cpe),
    affected: start(affected),
    fixed_in: start(fixed_in),
    backported: (backport_note ?? null) !== null,
    action: named && {
      key: start(named.key) ?? '',
      text: start(named.text) ?? '',
      update: named.update === true,
    },
    remediation: named ? '' : (start(vulnerability.remediation) ?? ''),
    product: named ? null : start(product()),
  };
  return JSON.stringify(variant);
}

export function readVariant(text: string): FindingVariant {
  return JSON.parse(text) as FindingVariant;
}

function start(text: Finding['cpe'] | undefined): string | null {
  return typeof text === 'string' ? text.slice(0, maxLength) : null;
}

function scoreOf(score: unknown): number | null {
  return typeof score === 'number' && Number.isFinite(score) ? score : null;
}
