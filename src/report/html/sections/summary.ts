import { findingClasses } from '../../../domain/finding.ts';
import type { ChangeItem, ReportChanges } from '../../model/changes.ts';
import type { Report, SeverityLine } from '../../model/report.ts';
import {
  changeText,
  dateText,
  dateTimeText,
  endpointText,
  numberText,
  pluralText,
} from '../../model/report-text.ts';
import { classCountsText, severityCountsText, severityLabel, severityLetter } from '../marks.ts';
import { blockHtml, sectionEnd, sectionStart, subheading, tableEnd, tableStart } from '../page.ts';
import { cellText, code, paragraphText } from '../text.ts';

/** The verdict, three numbers, and the summary: how bad, and what changed. */
export function summarySection(report: Report): string {
  return (
    partialBanner(report) +
    `<p class="verdict">${paragraphText(report.verdict)}</p>\n` +
    numberStrip(report) +
    blockHtml(report, 'cover') +
    sectionStart('summary', 'Summary', coverageNote(report)) +
    severityTable(report) +
    changesPart(report) +
    blockHtml(report, 'summary') +
    sectionEnd
  );
}

/** Also stands above the coverage. */
export function partialBanner({ partial }: Report): string {
  return partial === null ? '' : `<p class="part" role="note">${paragraphText(partial)}</p>\n`;
}

function coverageNote({ coverage, summary }: Report): string {
  const { addresses, ports } = coverage;
  const answered = `${numberText(addresses.responded)} of ${pluralText(addresses.requested, 'address', 'addresses')} answered`;
  if (ports === null) return `${answered}, ${pluralText(summary.openPorts, 'open port')}`;
  const { planned, notTried } = ports.all;
  return `${answered}, ${numberText(planned - notTried)} of ${pluralText(planned, 'port')} tried`;
}

function numberStrip({ headline, summary }: Report): string {
  const parts = headline.map(({ number, label, note, marks }) => {
    if (marks === 'exploited') return numberPart(number, label, classCountsText(summary.exploited));
    if (marks === 'severities') return numberPart(number, label, severityCountsText(summary.severities));
    return numberPart(number, label, cellText(note));
  });
  return `<div class="strip">${parts.join('')}</div>\n`;
}

function numberPart(number: string, name: string, more: string): string {
  return `<p><strong>${number}</strong><b>${name}</b>${more === '' ? '' : `<small>${more}</small>`}</p>`;
}

function changeCounts({ new: added, fixed, unchanged, unseen }: ReportChanges): string {
  const parts = [
    `${numberText(added)} new`,
    `${numberText(fixed)} fixed`,
    `${numberText(unchanged)} unchanged`,
  ];
  if (unseen > 0) parts.push(`${numberText(unseen)} that the earlier scan could not see`);
  return parts.join(', ');
}

function severityTable({ summary, options }: Report): string {
  if (summary.findings === 0) return '';
  const { changes } = options;
  const since = changes === null ? [] : [`Since ${dateText(changes.at)}|r wide`];
  const heads = ['Severity', 'How sure: solid certain, hatched likely, outline possible|bars', 'All|r'];
  heads.push('Certain|r', 'Likely|r', 'Possible|r', 'Exploited|r', ...since);
  const most = Math.max(...summary.lines.map(({ all }) => all));
  const lines = summary.lines.map((line) => severityRow(line, most, changes !== null));
  const { classes, exploited } = summary;
  const sum = findingClasses.map((name) => `<td class="r">${numberText(classes[name])}</td>`).join('');
  const balance =
    changes === null
      ? ''
      : `<td class="r wide">${changeText(Object.values(changes.balance).reduce((all, one) => all + one, 0))}</td>`;
  return `${tableStart(heads, 'how')}${lines.join('')}</tbody><tfoot><tr><th scope="row">All</th><td class="bars"></td><td class="r">${numberText(
    classes.all,
  )}</td>${sum}<td class="r">${numberText(exploited.all)}</td>${balance}</tr></tfoot></table>\n`;
}

function severityRow(line: SeverityLine, most: number, compared: boolean): string {
  const classes = findingClasses.map((name) => `<td class="r">${numberText(line[name])}</td>`).join('');
  const change = compared ? `<td class="r wide">${changeText(line.change)}</td>` : '';
  return (
    `<tr><td>${severityLabel(line.severity)}</td><td class="bars">${severityBar(line, most)}</td>` +
    `<td class="r"><b>${numberText(line.all)}</b></td>${classes}<td class="r">${numberText(line.exploited)}</td>${change}</tr>\n`
  );
}

/** Width of the longest bar, the least width of a part, and the gap between parts, in pixels. */
const barWidth = 420;
const leastWidth = 2.5;
const gap = 1.5;

/** Solid certain, hatched likely, outlined possible; all bars to one scale. */
function severityBar(line: SeverityLine, most: number): string {
  const mark = severityLetter[line.severity];
  const room = barWidth - 2 * gap;
  let left = 0;
  let drawn = '';
  for (const name of findingClasses) {
    if (line[name] === 0) continue;
    const width = Math.max(leastWidth, (line[name] / most) * room);
    const inner = `x="${(left + 0.5).toFixed(1)}" y=".5" width="${(width - 1).toFixed(1)}" height="9"`;
    if (name === 'certain') {
      drawn += `<rect class="f-${mark}" x="${left.toFixed(1)}" width="${width.toFixed(1)}" height="10"/>`;
    } else if (name === 'likely') {
      drawn += `<rect class="s-${mark}" fill="url(#hatch-${mark})" ${inner}/>`;
    } else drawn += `<rect class="s-${mark} o" ${inner}/>`;
    left += width + gap;
  }
  // The numbers stand in the same row.
  return drawn === ''
    ? ''
    : `<svg class="ch" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="xMinYMid" aria-hidden="true">${drawn}</svg>`;
}

function changesPart({ options, kinds }: Report): string {
  const { changes } = options;
  if (changes === null) return '';
  const anchors = new Map(kinds.map(({ id, anchor }) => [id, anchor]));
  const note = `${changeCounts(changes)}; hosts: ${numberText(changes.hostsAdded)} new, ${numberText(changes.hostsRemoved)} gone`;
  const head = subheading(
    `Changed since ${dateTimeText(changes.at)}`,
    `${note}; against ${code(changes.against)}`,
  );
  const rows = changes.items.map((item) => changeRow(item, anchors)).join('');
  const more =
    changes.itemsLeft > 0
      ? `<p class="lb">${pluralText(changes.itemsLeft, 'more change')} of findings.</p>\n`
      : '';
  const table = rows === '' ? '' : tableStart(['Change', 'Finding', 'Where', 'Why']) + rows + tableEnd;
  return head + table + more + notComparable(changes);
}

function changeRow(item: ChangeItem, anchors: ReadonlyMap<string, string>): string {
  const { sign, severity, id, title, product, host, port, why } = item;
  const anchor = anchors.get(id);
  const named = anchor === undefined ? code(id) : `<a class="a" href="#${anchor}">${cellText(id)}</a>`;
  const what = product === null ? cellText(title) : `in ${cellText(product)}`;
  const word = `<span class="sg ${sign}" aria-hidden="true">${sign === 'new' ? '+' : '−'}</span><span class="v">${sign}</span>`;
  return (
    `<tr><td>${word}</td><td><span class="w ${severityLetter[severity]}"><span class="v">${severity}</span></span>${named} ${what}</td>` +
    `<td>${code(endpointText(host, port))}</td><td class="t2">${cellText(why)}</td></tr>\n`
  );
}

function notComparable({ notComparable: reasons }: ReportChanges): string {
  if (reasons.length === 0) return '';
  const items = reasons.map(
    ({ reason, count, example }) =>
      `<tr><td>${cellText(reason)}</td><td class="r">${numberText(count)}</td><td>${example === '' ? '' : code(example)}</td></tr>\n`,
  );
  return `${subheading('Not comparable', 'only one of the scans could have found it')}${tableStart(['Reason', 'Count|r', 'Example'])}${items.join('')}${tableEnd}`;
}
