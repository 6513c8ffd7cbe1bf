import { classesText } from '../model/findings/class-counts.ts';
import { recheckCommand } from '../model/methods/recheck-command.ts';
import type { Action, FindingKind, FindingPlace, KindEvidence, Report } from '../model/report.ts';
import {
  cvssText,
  dateTimeText,
  endpointText,
  epssText,
  numberText,
  pluralText,
  portText,
} from '../model/report-text.ts';
import { markdownBlock, markdownCode, markdownLink, markdownTable, markdownText } from './markdown-text.ts';
import {
  firstRows,
  leftText,
  templateMark,
  templateParagraphs,
  ticketRows,
  ticketText,
} from './ticket-parts.ts';

/** The sections of a ticket about one action: what to do, where, why, and how to see that it is done. */
export function* fixTicket(report: Report, action: Action): Generator<string> {
  const { findings, hosts, classes } = action;
  yield `## ${markdownText(action.text, ticketText.line)}`;
  yield* templateMark(report);
  if (report.partial !== null) yield `> ${markdownText(report.partial, ticketText.paragraph)}`;
  const reason = markdownText(action.reason, ticketText.paragraph);
  yield `**Why:** ${reason} ${pluralText(findings, 'finding')} on ${pluralText(hosts, 'host')}: ${classesText(classes)}.`;
  if (action.backportNote !== null) yield checkFirst(action, action.backportNote);
  if (action.remediation !== '') yield `**Do:** ${markdownText(action.remediation, ticketText.paragraph)}`;
  yield placesOf(report, action);
  yield removes(report, action);
  yield* evidenceOf(action);
  yield doneWhen(report, action);
  yield origin(report, action);
  yield* templateParagraphs(report, 'footer');
}

function checkFirst({ backported, findings }: Action, note: string): string {
  const amount = `${numberText(backported)} of ${pluralText(findings, 'finding')} may be fixed without a new version, for example:`;
  return `**Check before acting:** ${amount} ${markdownText(note, ticketText.paragraph)}`;
}

function placesOf({ facts }: Report, { places, placesLeft }: Action): string {
  const rows = firstRows('places', places, placeRow);
  const heads = ['Host', 'Name', 'Port', 'Seen', 'Class', 'For or against'].map((head) => [head] as const);
  const left = leftText(placesLeft + places.length - rows.length, 'place', facts.scan_id);
  return [markdownTable(heads, rows), ...left].join('\n\n');
}

function placeRow({ host, name, port, protocol, seen, class: sureness, note }: FindingPlace): string[] {
  return [
    markdownCode(host, ticketText.name),
    markdownCode(name, ticketText.name),
    portText(port, protocol),
    markdownCode(seen, ticketText.name),
    sureness,
    markdownText(note, ticketText.line),
  ];
}

function removes({ facts }: Report, { kinds }: Action): string {
  const lines = firstRows('kinds', kinds, kindLine);
  const left = leftText(kinds.length - lines.length, 'kind', facts.scan_id);
  return ['**Removes**', lines.join('\n'), ...left].join('\n\n');
}

function kindLine({ id, title, severity, exploited, epss, cvss, hosts, references }: FindingKind): string {
  const facts = [
    severity,
    ...(exploited ? ['known exploited'] : []),
    ...(epss === null ? [] : [`EPSS ${epssText(epss)}`]),
    ...(cvss === null ? [] : [`CVSS ${cvssText(cvss.score)}`]),
    `on ${pluralText(hosts, 'host')}`,
  ];
  const link = references.map(markdownLink).find((each) => each !== null);
  const text = `- ${markdownCode(id, ticketText.name)} ${facts.join(', ')}: ${markdownText(title, ticketText.line)}`;
  return link === undefined ? text : `${text} ${link}`;
}

/** What the first kinds were seen by, each text once. */
function* evidenceOf({ kinds }: Action): Generator<string> {
  const shown = new Set<string>();
  for (const evidence of kinds.flatMap((kind) => kind.evidence.slice(0, 1))) {
    if (evidence.text === '' || shown.has(evidence.text)) continue;
    if (shown.size >= ticketRows.evidence) return;
    shown.add(evidence.text);
    yield evidenceBlock(evidence);
  }
}

function evidenceBlock({ text, length, place, count }: KindEvidence): string {
  const where = markdownCode(endpointText(place.host, place.port), ticketText.name);
  const same = count > 1 ? `, the same in ${pluralText(count, 'finding')}` : '';
  const left = length - Math.min(text.length, ticketText.evidence);
  const more = left > 0 ? [`${pluralText(left, 'more character')}.`] : [];
  return [`**Evidence**, ${where}${same}`, markdownBlock(text, ticketText.evidence), ...more].join('\n\n');
}

function doneWhen({ facts }: Report, action: Action): string {
  const command = recheckCommand(facts.request, action);
  const these = action.findings === 1 ? 'the finding' : `the ${numberText(action.findings)} findings`;
  const hosts = action.hosts === 1 ? 'this host' : `these ${numberText(action.hosts)} hosts`;
  const how = command === null ? '.' : `: ${markdownCode(command, 2000)}`;
  return `**Done when** a new scan of ${hosts} no longer shows ${these}${how}`;
}

function origin({ title, facts, actions }: Report, { rank }: Action): string {
  const name = title === facts.scan_id ? '' : `, ${markdownText(title, ticketText.line)}`;
  const at = dateTimeText(facts.completedAt ?? facts.timestamp);
  const catalog = markdownText(facts.summary.catalogue_version, ticketText.name);
  const scan = markdownCode(facts.scan_id, ticketText.name);
  return `Scan ${scan}${name}, ${at}, catalog ${catalog}. Fix ${numberText(rank)} of ${numberText(actions.length)}.`;
}
