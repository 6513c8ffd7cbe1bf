import { findingClasses } from '../../../domain/finding.ts';
import type { FindingKind, FindingPlace, KindEvidence } from '../../model/report.ts';
import {
  cvssText,
  endpointText,
  epssText,
  numberText,
  pluralText,
  portText,
  unknownText,
} from '../../model/report-text.ts';
import { classCountPieces, classPieces, exploitedChip, severityPieces } from '../figures/marks.ts';
import { versionScale } from '../figures/version-line.ts';
import { type Fact, factList, footnote, keptFact, paragraphBlock, sideNotice } from '../flow/blocks.ts';
import { codeBox } from '../flow/code-box.ts';
import { type Column, columns, Table } from '../flow/table.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import { colored, styles } from '../type/styles.ts';
import {
  baselineOf,
  drawLine,
  gap,
  joinPieces,
  layoutText,
  type Piece,
  plain,
  whole,
} from '../type/text-layout.ts';
import { isShortReport } from './section.ts';
import { webLink } from './web-link.ts';

/** Places below a finding; the rest is counted by network. */
export const maxPlaces = 40;
/** Networks named for the places that are not listed. */
const maxNetworks = 6;
/** Characters of evidence on paper. */
const maxEvidence = 600;
/** Of the title, from the left. */
const indent = 59.5;

/** All about one kind of finding. Its parts keep together down to the first hosts. */
export function drawFindingEntry(pages: ReportPages, kind: FindingKind): void {
  const { flow } = pages;
  drawHeading(pages, kind);
  if (isShortReport(pages) || kind.severity === 'low' || kind.severity === 'info')
    return drawBrief(pages, kind);
  // Half a line says nothing that the places do not.
  if (kind.versions !== null && kind.affected !== null)
    flow.keep(versionScale(flow, kind.versions, kind.severity));
  drawBackportNote(pages, kind);
  if (kind.remediation !== '') {
    keptFact(flow, { label: 'Do', value: [plain(kind.remediation, styles.cell)] });
  }
  drawPlaces(pages, kind);
  // Of a version all evidence is the version, which stands with the places.
  const evidences = kind.versions === null ? kind.evidence : [];
  for (const evidence of evidences) drawEvidence(pages, evidence);
  if (kind.evidenceLeft > 0 && kind.versions === null) {
    footnote(flow, `${pluralText(kind.evidenceLeft, 'more finding')} with other evidence.`);
  }
  factList(flow, entryFacts(pages, kind));
  flow.flush();
  flow.setContinued(null);
  flow.space(24);
}

/** What to do and where, in a few lines; the evidence of a version is the version. */
function drawBrief(pages: ReportPages, kind: FindingKind): void {
  const { flow } = pages;
  const isUrgent = kind.severity !== 'low' && kind.severity !== 'info';
  if (isUrgent) drawBackportNote(pages, kind);
  const shown = kind.places.slice(0, maxPlaces);
  const left = kind.counts.all - shown.length;
  const places = shown.map(({ host, port, seen }) => [
    whole(endpointText(host, port), styles.monoSmall),
    ...(seen === null || !isUrgent ? [] : [plain(` ${seen}`, styles.cellThird)]),
  ]);
  const more = left > 0 ? [plain(` and ${numberText(left)} more`, styles.cellThird)] : [];
  factList(flow, [
    ...(kind.remediation === '' ? [] : [{ label: 'Do', value: [plain(kind.remediation, styles.cell)] }]),
    { label: 'Where', value: [...joinPieces(places, plain(', ', styles.cell)), ...more] },
    ...(isUrgent ? entryFacts(pages, kind) : []),
  ]);
  const [evidence] = isUrgent && kind.versions === null ? kind.evidence : [];
  if (evidence) drawEvidence(pages, evidence);
  flow.flush();
  flow.setContinued(null);
  flow.space(10);
}

function drawHeading(pages: ReportPages, kind: FindingKind): void {
  const { flow } = pages;
  const { sheet, faces } = flow;
  const style = { ...styles.h3, face: 'medium' as const, size: 9 };
  const [severity] = layoutText(faces, severityPieces(kind.severity, style), indent);
  const title = [whole(kind.id, styles.h3Mono), gap(5), plain(kind.title, styles.h3)];
  const lines = layoutText(faces, title, contentWidth - indent);
  const meta = layoutText(faces, metaPieces(pages, kind), contentWidth - indent);
  const { line } = styles.h3;
  flow.keep({
    height: lines.length * line + meta.length * 14,
    before: isShortReport(pages) ? 13 : 24,
    after: 8,
    draw: (y) => {
      flow.places.record(kind.anchor, sheet.page);
      sheet.anchor(kind.anchor, y - 10);
      const hosts = pluralText(kind.hosts, 'host');
      sheet.bookmark(`${kind.severity} ${faces.regular.visible(kind.id)}, ${hosts}`, 1, y - 10);
      sheet.open('H3');
      if (severity) drawLine(sheet, severity, flow.left, y + baselineOf(styles.h3));
      for (const [index, text] of lines.entries()) {
        drawLine(sheet, text, flow.left + indent, y + index * line + baselineOf(styles.h3));
      }
      sheet.close();
      sheet.open('P');
      for (const [index, text] of meta.entries()) {
        const baseline = y + lines.length * line + index * 14 + baselineOf({ size: 8.5, line: 14 });
        drawLine(sheet, text, flow.left + indent, baseline);
      }
      sheet.close();
      flow.setContinued([whole(kind.id, styles.monoLabel), plain(', continued', styles.label)]);
    },
  });
}

function metaPieces({ flow }: ReportPages, kind: FindingKind): Piece[] {
  const pieces: Piece[] = [plain(pluralText(kind.hosts, 'host'), styles.cellSecond)];
  for (const name of findingClasses) {
    if (kind.counts[name] > 0) pieces.push(gap(10), ...classCountPieces(name, kind.counts[name]));
  }
  if (kind.cvss === null) pieces.push(gap(10), plain('check, without CVSS', styles.cellThird));
  else
    pieces.push(
      gap(10),
      plain('CVSS ', styles.cellThird),
      plain(cvssText(kind.cvss.score), styles.cellMedium),
    );
  if (kind.epss !== null) {
    pieces.push(gap(10), plain('EPSS ', styles.cellThird), plain(epssText(kind.epss), styles.cellMedium));
  }
  if (kind.exploited) pieces.push(gap(10), exploitedChip(flow.faces));
  return pieces;
}

function drawBackportNote(pages: ReportPages, kind: FindingKind): void {
  const { flow, report } = pages;
  if (kind.backportNote === null) return;
  const share = `${numberText(kind.backported)} of ${pluralText(kind.counts.all, 'finding')} may be fixed that way.`;
  const isFirst = isShortReport(pages)
    ? report.kinds.find(({ backportNote }) => backportNote !== null) === kind
    : true;
  const pieces = [
    plain('May be fixed already. ', colored(styles.bodyStrong, styles.bodySecond.color)),
    plain(isFirst ? `${kind.backportNote} ${share}` : share, styles.bodySecond),
  ];
  sideNotice(flow, pieces, { keep: true });
}

const placeColumns = columns(
  { width: 80, head: 'Address' },
  { width: 104, head: 'Name', maxLines: 1 },
  { width: 56, head: 'Port' },
  { width: 62, head: 'Seen', maxLines: 2 },
  { width: 58, head: 'Class' },
  { width: 139, head: 'For or against', style: styles.reasonSmall, maxLines: 2 },
);
/** Where nothing speaks for or against a finding. */
const briefColumns = columns(
  { width: 90, head: 'Address' },
  { width: 180, head: 'Name', maxLines: 1 },
  { width: 62, head: 'Port' },
  { width: 108, head: 'Seen', maxLines: 2 },
  { width: 59, head: 'Class' },
);
/** Addresses of IPv6 leave no room for the last column. */
const wideColumns = columns(
  { width: 140, head: 'Address' },
  { width: 136, head: 'Name', maxLines: 1 },
  { width: 52, head: 'Port' },
  { width: 112, head: 'Seen', maxLines: 2 },
  { width: 59, head: 'Class' },
);

function drawPlaces(pages: ReportPages, kind: FindingKind): void {
  const { flow } = pages;
  const shown = kind.places.slice(0, maxPlaces);
  if (shown.length === 0) return;
  const list = columnsOf(shown);
  const table = new Table(flow, list);
  for (const place of shown) table.row(placeRow(place).slice(0, list.length));
  const left = kind.counts.all - shown.length;
  table.end(null, left > 0 ? leftPieces(kind, left) : null);
}

function columnsOf(places: readonly FindingPlace[]): readonly Column[] {
  if (places.some(({ host }) => host.includes(':'))) return wideColumns;
  return places.some(({ note }) => note !== '') ? placeColumns : briefColumns;
}

function placeRow(place: FindingPlace) {
  return [
    [whole(place.host, styles.mono)],
    place.name ?? [plain('no name', styles.cellThird)],
    [whole(portText(place.port, place.protocol), styles.mono)],
    place.seen ?? [plain(unknownText, styles.cellThird)],
    classPieces(place.class),
    place.note,
  ];
}

/** `521 more findings of this kind`, and its hosts by network. */
function leftPieces({ networks, hosts }: FindingKind, left: number): Piece[] {
  const shown = networks.slice(0, maxNetworks);
  const listed = shown.map(({ network, hosts }) => `${network} ${numberText(hosts)}`);
  const rest = shown.reduce((sum, network) => sum - network.hosts, hosts);
  if (rest > 0) listed.push(`other networks ${numberText(rest)}`);
  return [
    plain(`${pluralText(left, 'more finding')} of this kind.`, styles.labelStrong),
    plain(` All ${pluralText(hosts, 'host')} by network: ${listed.join(', ')}.`, styles.label),
  ];
}

function drawEvidence({ flow }: ReportPages, evidence: KindEvidence): void {
  const { host, port } = evidence.place;
  const times = evidence.count > 1 ? `, the same in ${pluralText(evidence.count, 'finding')}` : '';
  const label = `Evidence, ${endpointText(host, port)}${times}`;
  flow.keep(paragraphBlock(flow, [plain(label, styles.label)], { before: 6, after: 2, maxLines: 1 }));
  const { text, length, match } = evidence;
  flow.place(codeBox(flow, { text: text.slice(0, maxEvidence), length, match, rest: 'in the HTML report' }));
}

function entryFacts(pages: ReportPages, kind: FindingKind): Fact[] {
  const { cpe, affected, cvss, foundBy, references } = kind;
  const matched: Piece[] = [];
  if (cpe !== null) matched.push(whole(cpe, styles.monoSmall));
  if (affected !== null) {
    matched.push(
      plain(cpe === null ? 'affected ' : ', affected ', styles.cell),
      plain(affected, styles.monoSmall),
    );
  }
  return [
    ...(matched.length > 0 ? [{ label: 'Matched', value: matched }] : []),
    ...(cvss === null || isShortReport(pages)
      ? []
      : [{ label: `CVSS ${cvss.version}`, value: [whole(cvss.vector, styles.monoSmall)] }]),
    ...(foundBy.length > 0 && !isShortReport(pages)
      ? [{ label: 'Found by', value: [plain(foundBy.join(', '), styles.monoSmall)] }]
      : []),
    ...references.slice(0, isShortReport(pages) ? 1 : references.length).map((reference, index) => ({
      label: index === 0 ? 'References' : '',
      value: webLink(pages, reference),
    })),
  ];
}
