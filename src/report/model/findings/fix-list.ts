import {
  type FindingClass,
  noFindings,
  type Severity,
  type SeverityCounts,
  severities,
} from '../../../domain/finding.ts';
import type { Urgency } from '../../../domain/finding-order.ts';
import type { ClassCounts } from '../report.ts';
import { maxActions, type NamedAction, otherActions, remedyOf, updateText } from './actions.ts';
import { countClass, noClasses } from './class-counts.ts';
import { inReportOrder, type OrderedKind } from './kinds.ts';
import { byUrgency, type RankedAction, reasonOf, type UrgentAction } from './ranking.ts';
import { kindKey, type SeenFinding, worstSoFar } from './seen-finding.ts';
import { UpdateTarget } from './seen-versions.ts';

/** Findings that agree in all that the fix list looks at. */
export interface FindingGroup {
  finding: SeenFinding;
  findings: number;
  /** Number of its fix, and of its kind. */
  fix: number;
  kind: number;
}

/** An entry of the fix list. */
export interface RankedFix extends UrgentAction {
  key: string;
  update: boolean;
  reason: string;
  severity: Severity;
  /** Of its worst finding. */
  class: FindingClass;
  /** Number of the fix while it was counted. */
  number: number;
}

type CountedKind = OrderedKind & { title: string; counts: ClassCounts };

/**
 * The fix list of a report, from groups of findings instead of single ones: the same fixes, texts, order and reasons.
 * First add the groups, then the numbers of hosts, which depend on what the groups have in common.
 */
export class FixList {
  readonly #fixes: NamedAction[] = [];
  readonly #fixOf = new Map<string, number>();
  readonly #kinds: CountedKind[] = [];
  readonly #kindOf = new Map<string, number>();
  readonly #groups: FindingGroup[] = [];
  #others: number | null = null;

  add(finding: SeenFinding, findings: number): FindingGroup {
    const group = { finding, findings, fix: this.#fixNumber(finding), kind: this.#kindNumber(finding) };
    this.#groups.push(group);
    const kind = this.#kinds[group.kind] as CountedKind;
    kind.exploited ||= finding.exploited;
    if (finding.epss !== null) kind.epss = Math.max(kind.epss ?? 0, finding.epss);
    if (finding.cvss !== null) kind.cvss = { score: Math.max(kind.cvss?.score ?? 0, finding.cvss.score) };
    addClass(kind.counts, finding.class, findings);
    return group;
  }

  get fixes(): number {
    return this.#fixes.length;
  }

  get kinds(): number {
    return this.#kinds.length;
  }

  #fixNumber(finding: SeenFinding): number {
    const named = remedyOf(finding);
    const known = this.#fixOf.get(named.key);
    if (known !== undefined) return known;
    if (this.#fixes.length >= maxActions) {
      this.#others ??= this.#fixes.push(otherActions) - 1;
      return this.#others;
    }
    this.#fixOf.set(named.key, this.#fixes.length);
    return this.#fixes.push(named) - 1;
  }

  #kindNumber(finding: SeenFinding): number {
    const key = kindKey(finding);
    const known = this.#kindOf.get(key);
    if (known !== undefined) return known;
    this.#kindOf.set(key, this.#kinds.length);
    const { id, title, severity } = finding;
    const kind = {
      id,
      title,
      severity,
      exploited: false,
      epss: null,
      cvss: null,
      hosts: 0,
      counts: noClasses(),
    };
    return this.#kinds.push(kind) - 1;
  }

  /** @param hostsOfFix @param hostsOfKind different hosts by number */
  finish(hostsOfFix: ArrayLike<number>, hostsOfKind: ArrayLike<number>): RankedFix[] {
    for (const [number, kind] of this.#kinds.entries()) kind.hosts = hostsOfKind[number] ?? 0;
    const byFix = Map.groupBy(this.#groups, ({ fix }) => fix);
    const ranked = [...byFix].map(([number, groups]) =>
      this.#ranked(number, groups, hostsOfFix[number] ?? 0),
    );
    ranked.sort(byUrgency);
    return ranked.map((each) => ({ ...each.action, class: each.worst.class, reason: reasonOf(each) }));
  }

  #ranked(
    number: number,
    groups: readonly FindingGroup[],
    hosts: number,
  ): RankedAction & { action: Omit<RankedFix, 'reason' | 'class'> } {
    const named = this.#fixes[number] as NamedAction;
    const [classes, exploited, target] = [noClasses(), noClasses(), new UpdateTarget()];
    const counts: SeverityCounts = noFindings();
    let worst: Urgency | null = null;
    for (const { finding, findings } of groups) {
      counts[finding.severity] += findings;
      addClass(classes, finding.class, findings);
      if (finding.exploited) addClass(exploited, finding.class, findings);
      target.add(finding);
      worst = worstSoFar(worst, finding);
    }
    const kinds = [...new Set(groups.map(({ kind }) => this.#kinds[kind] as CountedKind))].sort(
      inReportOrder,
    );
    const backported = groups.some(({ finding }) => finding.backportNote !== null);
    const action = {
      number,
      key: named.key,
      update: named.update,
      text: named.update ? updateText(named, target, backported) : named.text,
      exploited: exploited.all > 0,
      epss: highest(groups.map(({ finding }) => finding.epss)),
      cvss: highest(groups.map(({ finding }) => finding.cvss?.score ?? null)),
      hosts,
      findings: classes.all,
      severities: counts,
      severity: severities.find((severity) => counts[severity] > 0) ?? 'info',
      classes,
      kinds,
    };
    return { action, exploited, worst: worst as unknown as Urgency };
  }
}

function addClass(counts: ClassCounts, name: FindingClass, findings: number): void {
  countClass(counts, name);
  counts[name] += findings - 1;
  counts.all += findings - 1;
}

function highest(scores: readonly (number | null)[]): number | null {
  return scores.reduce<number | null>(
    (most, score) => (score === null ? most : Math.max(most ?? 0, score)),
    null,
  );
}
