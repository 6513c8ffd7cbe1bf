import { type FindingClass, findingClasses, severities } from '../../../domain/finding.ts';
import { oneLine, textOrder } from '../bounded.ts';
import type { Action, ClassCounts, FindingKind } from '../report.ts';
import { capitalText, cvssText, epssText, listText, numberText } from '../report-text.ts';
import { classesText } from './class-counts.ts';

/** EPSS from which exploitation is likely enough to lead whatever the severity: about one CVE in twenty has it. */
const likelyEpss = 0.1;

/** Longest title in a reason, characters. */
const maxReasonTitle = 120;

/** What the rank of an action and its reason depend on. */
export type UrgentAction = Pick<
  Action,
  'text' | 'exploited' | 'epss' | 'cvss' | 'hosts' | 'findings' | 'severities' | 'classes'
> & {
  /** In the order of the report. */
  kinds: readonly Pick<FindingKind, 'id' | 'title' | 'exploited'>[];
};

/** An action with what its rank depends on. */
export interface RankedAction {
  action: UrgentAction;
  /** Exploited findings. */
  exploited: ClassCounts;
  /** The most certain class of its worst findings. */
  bestClass: FindingClass;
}

/**
 * The order of the fix list. People trust a list whose first lines are what attackers use, and which then goes by
 * severity:
 *
 * 1. known exploited actions, by EPSS, CVSS and number of hosts;
 * 2. actions with an EPSS of at least 0.1, in the same order;
 * 3. all others by their worst severity, so that a critical misconfiguration, which has no score, stands above a CVE
 *    of low severity. Within a severity, what the service itself shows (certain) comes before what its version
 *    suggests; then EPSS, CVSS, hosts, findings.
 *
 * A score that is not known is not low: within its group it comes first.
 */
export function byUrgency(one: RankedAction, other: RankedAction): number {
  const [a, b] = [one.action, other.action];
  const group = groupOf(a);
  if (group !== groupOf(b)) return group - groupOf(b);
  const bySeverity =
    group < severityGroup
      ? 0
      : worstRank(a) - worstRank(b) ||
        findingClasses.indexOf(one.bestClass) - findingClasses.indexOf(other.bestClass);
  return (
    bySeverity ||
    (b.epss ?? 1) - (a.epss ?? 1) ||
    (b.cvss ?? 10) - (a.cvss ?? 10) ||
    b.hosts - a.hosts ||
    b.findings - a.findings ||
    textOrder(a.text, b.text)
  );
}

const severityGroup = 2;

function groupOf(action: UrgentAction): number {
  if (action.exploited) return 0;
  return isLikelyExploited(action) ? 1 : severityGroup;
}

/** Not known to be exploited, but likely to be soon. */
export function isLikelyExploited({ exploited, epss }: Pick<Action, 'exploited' | 'epss'>): boolean {
  return !exploited && (epss ?? 0) >= likelyEpss;
}

function worstRank({ severities: counts }: UrgentAction): number {
  return severities.findIndex((severity) => counts[severity] > 0);
}

/** Why an action has its rank. @param leading the first of those that are not known exploited but have a high EPSS */
export function reasonOf({ action, exploited }: RankedAction, leading: boolean): string {
  const scores = scoresText(action);
  const sentences = [firstReason(action, exploited, leading), ...(scores === '' ? [] : [`${scores}.`])];
  return sentences.join(' ');
}

/** `EPSS 0.94, CVSS 7.5`, as far as known. */
function scoresText({ epss, cvss }: Pick<UrgentAction, 'epss' | 'cvss'>): string {
  return [epss === null ? '' : `EPSS ${epssText(epss)}`, cvss === null ? '' : `CVSS ${cvssText(cvss)}`]
    .filter((text) => text !== '')
    .join(', ');
}

function firstReason(action: UrgentAction, exploited: ClassCounts, leading: boolean): string {
  const { classes } = action;
  if (action.exploited) return `Known exploited: ${exploitedText(action)}; ${classesText(exploited)}.`;
  if (leading) return `Highest EPSS of what is not known exploited; ${classesText(classes)}.`;
  const about = topicOf(action);
  if (action.epss === null && action.cvss === null && classes.certain === classes.all)
    return `Shown by the service: ${about}.`;
  return `${severitiesText(action)}; ${classesText(classes)}: ${about}.`;
}

/** `1 of 2 CVEs`, or the ID of the only one. */
function exploitedText({ kinds }: UrgentAction): string {
  const [only] = kinds;
  if (kinds.length === 1 && only) return oneLine(only.id, maxReasonTitle);
  const known = kinds.filter((kind) => kind.exploited).length;
  const cves = kinds.every(({ id }) => id.startsWith('CVE-'));
  return `${numberText(known)} of ${numberText(kinds.length)} ${cves ? 'CVEs' : 'kinds of findings'}`;
}

/** Title of the worst kind, without its full stop. */
function topicOf({ kinds }: UrgentAction): string {
  const [first] = kinds;
  const title = oneLine(first?.title ?? 'see the findings', maxReasonTitle).replace(/\.$/, '');
  return kinds.length > 1 ? `${title}, and ${numberText(kinds.length - 1)} more` : title;
}

/** `High`, or `High and medium`. */
function severitiesText({ severities: counts }: UrgentAction): string {
  const words = severities.filter((severity) => counts[severity] > 0);
  return capitalText(listText(words.length > 2 ? [words[0] as string, 'below'] : words));
}
