import type { ChangeItem, ReportChanges } from '../model/changes.ts';
import { classesText } from '../model/findings/class-counts.ts';
import type { Action, ClassCounts, Coverage, Report } from '../model/report.ts';
import {
  changeText,
  dateText,
  dateTimeText,
  endpointText,
  numberText,
  pluralText,
  severityWord,
} from '../model/report-text.ts';
import { type MarkdownColumn, markdownCode, markdownTable, markdownText } from './markdown-text.ts';
import {
  firstRows,
  leftText,
  templateMark,
  templateParagraphs,
  ticketRows,
  ticketText,
} from './ticket-parts.ts';

/** The sections of a ticket about a whole scan. */
export function* scanTicket(report: Report): Generator<string> {
  const { changes } = report.options;
  yield titleOf(report);
  yield* templateMark(report);
  if (report.partial !== null) yield `> ${markdownText(report.partial, ticketText.paragraph)}`;
  yield `**${markdownText(report.verdict, ticketText.paragraph)}**`;
  yield scopeOf(report);
  yield* templateParagraphs(report, 'cover');
  if (report.facts.evaluated || report.summary.findings > 0) yield severityTable(report, changes);
  yield* templateParagraphs(report, 'summary');
  const { brief } = report.options.template ?? {};
  if (report.actions.length > 0)
    yield fixList(brief ? { ...report, actions: report.actions.slice(0, 5) } : report);
  yield* templateParagraphs(report, 'fixes');
  if (changes) yield changesOf(changes);
  yield notLookedAt(report);
  yield madeFrom(report);
  yield* templateParagraphs(report, 'methodology');
  yield* templateParagraphs(report, 'footer');
}

function titleOf({ title, facts }: Report): string {
  const date = dateText(facts.completedAt ?? facts.timestamp);
  return `# ${markdownText(title, ticketText.line)}: network security scan of ${date}`;
}

/** Scope, how much of it was looked at, and how the scan ended. */
function scopeOf(report: Report): string {
  const { addresses, ports, warnings, warningsLeft } = report.coverage;
  const looked = [
    `${numberText(addresses.responded)} of ${pluralText(addresses.requested, 'address', 'addresses')} answered`,
    ...(addresses.excluded > 0 ? [`${numberText(addresses.excluded)} were excluded`] : []),
    ...(ports === null ? [] : [triedText(ports.all)]),
  ];
  const count = warnings.length + warningsLeft;
  const joint = report.partial === null ? ' with' : ', with';
  const state = `${report.state}${count > 0 ? `${joint} ${pluralText(count, 'warning')}` : ''}`;
  const scope = report.facts.targets
    .slice(0, ticketRows.notes)
    .map((target) => markdownCode(target, ticketText.name));
  const more = report.facts.targets.length - scope.length;
  return `Scope ${scope.join(', ')}${more > 0 ? ` and ${numberText(more)} more` : ''}. ${looked.join(', ')}. ${state}.`;
}

function triedText({ planned, notTried }: NonNullable<Coverage['ports']>['all']): string {
  const tried = planned - notTried;
  return `${numberText(tried)} of ${pluralText(planned, 'port')} ${tried === 1 ? 'was' : 'were'} tried`;
}

function severityTable({ summary, partial }: Report, changes: ReportChanges | null): string {
  const soFar = partial === null ? '' : ' so far';
  const columns: MarkdownColumn[] = [
    ['Severity'],
    ...[`All${soFar}`, 'Certain', 'Likely', 'Possible', 'Exploited'].map((head) => [head, 'right'] as const),
    ...(changes ? [[`Since ${dateText(changes.at)}`, 'right'] as const] : []),
  ];
  const rows = summary.lines.map((line) => [
    severityWord(line.severity),
    ...countsOf(line, line.exploited),
    ...(changes ? [changeText(line.change)] : []),
  ]);
  const balance = summary.lines.reduce((sum, { change }) => sum + (change ?? 0), 0);
  const total = [
    'All',
    ...countsOf(summary.classes, summary.exploited.all),
    ...(changes ? [changeText(balance)] : []),
  ];
  return markdownTable(columns, [...rows, total.map((cell) => `**${cell}**`)]);
}

function countsOf({ all, certain, likely, possible }: ClassCounts, exploited: number): string[] {
  return [all, certain, likely, possible, exploited].map(numberText);
}

function fixList({ actions, leads, facts }: Report): string {
  const columns: MarkdownColumn[] = [
    ['#', 'right'],
    ['Action'],
    ['Why'],
    ['Hosts', 'right'],
    ['Findings', 'right'],
    ['Class'],
  ];
  const rows = firstRows('actions', actions, actionRow);
  const table = markdownTable(columns, rows);
  const left = leftText(actions.length - rows.length, 'action', facts.scan_id);
  const one = markdownCode(
    `portolan workspace export ${facts.scan_id} --format markdown --fix 1`,
    ticketText.line,
  );
  return ['## Fix list', leads.fixes, table, ...left, `A ticket about one of them: ${one}`].join('\n\n');
}

function actionRow({ rank, text, reason, hosts, findings, classes }: Action): string[] {
  return [
    numberText(rank),
    markdownText(text, ticketText.line),
    markdownText(reason, ticketText.line),
    numberText(hosts),
    numberText(findings),
    classesText(classes),
  ];
}

function changesOf(changes: ReportChanges): string {
  const { against, at, items, itemsLeft, notComparable } = changes;
  const counts = [
    `${numberText(changes.new)} new`,
    `${numberText(changes.fixed)} fixed`,
    `${numberText(changes.unchanged)} unchanged`,
    ...(changes.unseen > 0
      ? [`${numberText(changes.unseen)} that the earlier scan could not have found`]
      : []),
    ...notComparable
      .slice(0, ticketRows.notes)
      .map(
        ({ reason, count }) =>
          `${numberText(count)} not comparable (${markdownText(reason, ticketText.name)})`,
      ),
  ];
  const listed = firstRows('changes', items, changeLine);
  const left = itemsLeft + items.length - listed.length;
  return [
    `## Changed since ${dateTimeText(at)} (${markdownCode(against, ticketText.name)})`,
    `${counts.join(', ')}.`,
    ...(listed.length > 0 ? [listed.join('\n')] : []),
    ...(left > 0 ? [`And ${pluralText(left, 'further change')}.`] : []),
  ].join('\n\n');
}

function changeLine({ sign, severity, id, title, product, host, port, why }: ChangeItem): string {
  const what = [sign === 'new' ? 'New' : 'Fixed', severity, markdownCode(id, ticketText.name)].join(', ');
  const details = [title, product ?? '', why]
    .filter((text) => text !== '')
    .map((text) => markdownText(text, ticketText.line));
  return `- ${what} on ${markdownCode(endpointText(host, port), ticketText.name)}: ${details.join(', ')}`;
}

function notLookedAt({ coverage, services }: Report): string {
  const { unfinished, unfinishedLeft, allPortsOpen } = coverage;
  const services_ = unfinished.length + unfinishedLeft;
  const sentences = [
    markdownText(coverage.text, ticketText.paragraph),
    ...(services.unrecognized > 0
      ? [
          `${numberText(services.unrecognized)} of ${pluralText(services.openPorts, 'open port')} were not recognized.`,
        ]
      : []),
    ...(services_ > 0 ? [`${pluralText(services_, 'service')} were not read to the end.`] : []),
    ...(allPortsOpen.length > 0
      ? [
          `${pluralText(allPortsOpen.length, 'host')} ${allPortsOpen.length === 1 ? 'accepts' : 'accept'} connections on nearly every port.`,
        ]
      : []),
  ];
  const notes = [
    ...notesOf('Warning', coverage.warnings, coverage.warningsLeft),
    ...notesOf('Error', coverage.errors, coverage.errorsLeft),
  ];
  return ['## Not looked at', sentences.join(' '), ...(notes.length > 0 ? [notes.join('\n')] : [])].join(
    '\n\n',
  );
}

function notesOf(word: string, notes: Coverage['warnings'], left: number): string[] {
  const lines = firstRows('notes', notes, ({ code, where, message }) => {
    const place = where === '' ? '' : ` at ${markdownCode(where, ticketText.name)}`;
    return `- ${word} ${markdownCode(code, ticketText.name)}${place}: ${markdownText(message, ticketText.line)}`;
  });
  const more = notes.length - lines.length + left;
  return more > 0 ? [...lines, `- and ${numberText(more)} more`] : lines;
}

/** How the scan was made. */
function madeFrom({ facts, methodology }: Report): string {
  const settings = methodology.settings
    .filter(({ label }) => label !== 'Targets')
    .map(({ label, value, mono }) => {
      const shown = mono ? markdownCode(value, ticketText.paragraph) : markdownText(value, ticketText.line);
      return `- ${label}: ${shown}`;
    });
  const notice = methodology.notice === '' ? [] : [markdownText(methodology.notice, ticketText.paragraph)];
  return [
    '## How',
    [`- Scan: ${markdownCode(facts.scan_id, ticketText.name)}`, ...settings].join('\n'),
    ...notice,
  ].join('\n\n');
}
