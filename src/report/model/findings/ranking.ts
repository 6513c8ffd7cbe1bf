import { severities } from '../../../domain/finding.ts';
import { byWorst, type Urgency } from '../../../domain/finding-order.ts';
import { oneLine, textOrder } from '../bounded.ts';
import type { Action, ClassCounts, FindingKind } from '../report.ts';
import { capitalText, cvssText, epssText, listText, numberText } from '../report-text.ts';
import { classesText } from './class-counts.ts';

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
  worst: Urgency;
}

/** The order of the fix list: by the worst finding of each action, then by hosts and findings. */
export function byUrgency(
  { worst: one, action: a }: RankedAction,
  { worst, action: b }: RankedAction,
): number {
  return byWorst(one, worst) || b.hosts - a.hosts || b.findings - a.findings || textOrder(a.text, b.text);
}

/** Why an action has its rank. */
export function reasonOf({ action, exploited, worst }: RankedAction): string {
  const scores = scoresText(action);
  const sentences = [firstReason(action, exploited, worst), ...(scores === '' ? [] : [`${scores}.`])];
  return sentences.join(' ');
}

/** `EPSS 0.94, CVSS 7.5`, as far as known. */
function scoresText({ epss, cvss }: Pick<UrgentAction, 'epss' | 'cvss'>): string {
  return [epss === null ? '' : `EPSS ${epssText(epss)}`, cvss === null ? '' : `CVSS ${cvssText(cvss)}`]
    .filter((text) => text !== '')
    .join(', ');
}

function firstReason(action: UrgentAction, exploited: ClassCounts, worst: Urgency): string {
  const { classes } = action;
  if (worst.exploited && worst.class !== 'possible')
    return `${capitalText(worst.severity)}, known exploited: ${exploitedText(action)}; ${classesText(exploited)}.`;
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
