import type { Action, FindingKind, Report } from '../../model/report.ts';
import { numberText, pluralText } from '../../model/report-text.ts';
import { classSlots, exploitedHtml, severitySlots, slotSize } from '../marks.ts';
import { blockHtml, sectionEnd, sectionStart } from '../page.ts';
import { cellText, paragraphText } from '../text.ts';
import { placesTable } from './places.ts';

/** What removes the findings, by urgency; nothing without findings. */
export function* fixList(report: Report): Generator<string> {
  const { actions, leads } = report;
  if (actions.length === 0) return;
  const size = slotSize(actions.map(({ severities }) => severities));
  yield `${sectionStart('fixes', 'Fix list', leads.fixes)}<div class="fl${size}">${listHead}`;
  for (const action of actions) yield actionEntry(action);
  yield `</div>\n${blockHtml(report, 'fixes')}${sectionEnd}`;
}

const listHead =
  '<div class="hd fx" aria-hidden="true"><span></span><span></span><span>Action and reason</span><span></span><span class="r">Hosts</span>' +
  '<span class="r">Findings</span><span>Severity</span><span>Class</span></div>\n';

function actionEntry(action: Action): string {
  const { rank, anchor, text, reason, exploited, hosts, findings, severities, classes } = action;
  return `<details class="li fx${exploited ? ' kev' : ''}"><summary><span class="t3">${rank}</span><span><b>${cellText(text)}</b><small>${cellText(reason)}</small></span><span class="q">${
    exploited ? exploitedHtml : '<b></b>'
  }${count(hosts, 'host')}${count(findings, 'finding')}${severitySlots(severities)}${classSlots(classes)}</span></summary>
<div class="in" id="${anchor}">${backport(action)}${remediation(action.remediation)}${placesTable(action.places, action.placesLeft)}${kindLinks(action.kinds)}</div></details>
`;
}

function count(number: number, one: string): string {
  return `<span class="r">${numberText(number)}<u> ${number === 1 ? one : `${one}s`}</u></span>`;
}

/** What a distribution may have fixed already. */
export function backport({ backportNote, backported }: Pick<Action, 'backportNote' | 'backported'>): string {
  if (backportNote === null) return '';
  const of = backported > 0 ? ` ${pluralText(backported, 'finding')} may be affected by that.` : '';
  return `<p class="note"><b>May be fixed already.</b> ${paragraphText(backportNote)}${of}</p>\n`;
}

export function remediation(text: string): string {
  return text === '' ? '' : `<p><span class="do">Do</span>${paragraphText(text)}</p>\n`;
}

function kindLinks(kinds: readonly FindingKind[]): string {
  const links = kinds.map(
    ({ anchor, id, hosts }) =>
      `<a class="a" href="#${anchor}">${cellText(id)}</a> on ${pluralText(hosts, 'host')}`,
  );
  return `<p class="t2">${links.join(', ')}</p>`;
}
