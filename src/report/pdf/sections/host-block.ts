import { byWorst } from '../../../domain/finding-order.ts';
import { visibleText } from '../../../domain/text/visible.ts';
import { oneLine } from '../../model/bounded.ts';
import { urgencyOfKind } from '../../model/findings/kinds.ts';
import type { HostBlock, HostFindingLine, PortLine } from '../../model/report.ts';
import {
  confidenceText,
  cvssText,
  fixAnchor,
  numberText,
  pluralText,
  portText,
  unknownText,
} from '../../model/report-text.ts';
import { classPieces, exploitedChip, severityPieces } from '../figures/marks.ts';
import { footnote, sideNotice } from '../flow/blocks.ts';
import type { FlowBlock } from '../flow/page-flow.ts';
import { type CellPart, columns, Table } from '../flow/table.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import { colored, styles } from '../type/styles.ts';
import {
  baselineOf,
  drawLine,
  gap,
  layoutText,
  type Piece,
  plain,
  textWidth,
  whole,
} from '../type/text-layout.ts';
import { factPairs, type PairedFact } from './fact-pairs.ts';
import { hostNamePieces } from './host-name.ts';
import { pageNumber } from './section.ts';

/** Services of one host on paper. */
const maxServices = 60;
/** Lines of findings of one host on paper. */
const maxFindings = 60;
/** Names of one host that are listed. */
const maxNames = 8;
/** Longest bookmark, characters. */
const maxBookmarkLength = 120;
/** Characters of a banner: two lines of its column. */
const maxSaidLength = 66;

/** One host: facts, services, findings. */
export function* drawHostBlock(pages: ReportPages, block: HostBlock): Generator<void> {
  const { flow } = pages;
  flow.keep(headingBlock(pages, block));
  factPairs(flow, factsOf(block));
  drawServices(pages, block);
  yield;
  drawFindings(pages, block);
  flow.flush();
  flow.setContinued(null);
  yield;
}

function headingBlock({ flow }: ReportPages, { host, names, anchor }: HostBlock): FlowBlock {
  const { sheet } = flow;
  const pieces: Piece[] = [whole(host, styles.hostTitle)];
  const [name] = names;
  if (name !== undefined) {
    const rest = contentWidth - textWidth(flow.faces, host, styles.hostTitle) - 8;
    pieces.push(gap(8), ...hostNamePieces(flow.faces, name, styles.hostName, rest));
  }
  const lines = layoutText(flow.faces, pieces, contentWidth, { maxLines: 2 });
  const { line: height } = styles.hostTitle;
  const bookmark = visibleText(oneLine(name === undefined ? host : `${host} ${name}`, maxBookmarkLength));
  return {
    height: height * lines.length,
    before: 22,
    after: 3,
    draw: (y) => {
      flow.places.record(anchor, sheet.page);
      sheet.anchor(anchor, y - 8);
      sheet.bookmark(bookmark, 1, y - 8);
      sheet.open('H3');
      for (const [index, line] of lines.entries()) {
        drawLine(sheet, line, flow.left, y + index * height + baselineOf(styles.hostTitle));
      }
      sheet.close();
      flow.setContinued([whole(host, styles.monoLabel), plain(', continued', styles.label)]);
    },
  };
}

function factsOf(block: HostBlock): PairedFact[] {
  const { names } = block;
  const more = names.length > maxNames ? ` and ${numberText(names.length - maxNames)} more` : '';
  const other = names.slice(0, maxNames).join(', ');
  return [
    { label: 'System', value: knownPieces(systemText(block)) },
    { label: 'Kind', value: knownPieces(block.kind) },
    { label: 'Seen by', value: knownPieces(seenText(block)) },
    { label: 'MAC', value: macPieces(block) },
    { label: 'Ports', value: [plain(portsText(block), styles.cell)], wide: true },
    ...(names.length > 1
      ? [{ label: 'Names', value: [plain(`${other}${more}`, styles.cell)], wide: true }]
      : []),
  ];
}

function knownPieces(text: string | null): Piece[] {
  return [text === null ? plain(unknownText, styles.cellThird) : plain(text, styles.cell)];
}

function systemText({ system, systemConfidence }: HostBlock): string | null {
  if (system === null || systemConfidence === null) return system;
  return `${system}, confidence ${confidenceText(systemConfidence)}`;
}

function seenText({ method, latencyMs }: HostBlock): string | null {
  const latency = latencyMs === null ? [] : [`${Number(latencyMs.toPrecision(2))} ms`];
  const parts = [...(method === null ? [] : [methodText(method)]), ...latency];
  return parts.length === 0 ? null : parts.join(', ');
}

/** `tcp-syn-ack` as `TCP SYN ACK`. */
function methodText(method: string): string {
  return method
    .replaceAll('-', ' ')
    .replace(/\b(?:arp|nd|icmp|tcp|udp|syn|ack|rst)\b/g, (name) => name.toUpperCase());
}

function macPieces({ mac, vendor }: HostBlock): Piece[] {
  if (mac === null) return knownPieces(null);
  const address = whole(mac, styles.monoSmall);
  return vendor === null ? [address] : [address, plain(` ${vendor}`, styles.cell)];
}

/** `3 open, 1,005 closed, 0 filtered, 0 not tried` */
function portsText({ counts, openPorts, filteredWhy }: HostBlock): string {
  if (counts === null) return `${numberText(openPorts)} open; the others were not counted`;
  const { open, closed, filtered, notTried } = counts;
  const why = filteredWhy === '' ? '' : ` (${filteredWhy})`;
  return `${numberText(open)} open, ${numberText(closed)} closed, ${numberText(filtered)} filtered${why}, ${numberText(notTried)} not tried`;
}

/** A heading within a block, with its number in gray. */
function innerHeading({ flow }: ReportPages, title: string, note: string): void {
  const pieces = [plain(title, styles.h3)];
  const [line] = layoutText(flow.faces, pieces, contentWidth, { maxLines: 1 });
  const x = flow.left + (line?.width ?? 0) + 7;
  const [beside] = layoutText(flow.faces, [plain(note, styles.cellThird)], flow.right - x, { maxLines: 1 });
  flow.keep({
    height: styles.h3.line,
    before: 12,
    after: 2,
    draw: (y) => {
      const baseline = y + baselineOf(styles.h3);
      flow.sheet.open('H4');
      if (line) drawLine(flow.sheet, line, flow.left, baseline);
      flow.sheet.close();
      flow.sheet.open('P');
      if (beside) drawLine(flow.sheet, beside, x, baseline);
      flow.sheet.close();
    },
  });
}

const serviceColumns = columns(
  { width: 54, head: 'Port' },
  { width: 56, head: 'Service', maxLines: 2 },
  { width: 110, head: 'Product', maxLines: 3 },
  { width: 30, head: 'Sure', align: 'right', style: styles.number },
  { width: 249, head: 'What it said' },
);

function drawServices(pages: ReportPages, block: HostBlock): void {
  const { flow } = pages;
  const all = block.ports.length + block.portsLeft;
  if (all === 0) return;
  const shown = block.ports.slice(0, maxServices);
  innerHeading(pages, 'Services', shownOf(shown.length, all));
  if (block.allPortsOpen) {
    sideNotice(
      flow,
      [
        plain(
          'Connections were accepted on nearly every port, so open ports here say little.',
          styles.bodySecond,
        ),
      ],
      { keep: true },
    );
  }
  const table = new Table(flow, serviceColumns);
  for (const port of shown) {
    table.row([
      [whole(portText(port.port, port.protocol), styles.mono)],
      serviceText(port),
      port.product ?? [plain(unknownText, styles.cellThird)],
      port.confidence === null ? unknownText : confidenceText(port.confidence),
      { parts: saidParts(port) },
    ]);
  }
  table.end();
  if (shown.length < all) footnote(flow, moreText(all - shown.length, 'more service'));
}

function shownOf(shown: number, all: number): string {
  return shown < all ? `${numberText(shown)} of ${numberText(all)}` : numberText(all);
}

function moreText(left: number, one: string, many?: string): string {
  return `${pluralText(left, one, many)}: all stand in the HTML and JSON formats.`;
}

function serviceText({ service, state }: PortLine): string {
  const name = service ?? 'not recognized';
  return state === 'open' ? name : `${name}, ${state}`;
}

/** What the service said, its TLS, and what is missing, below each other. */
function saidParts({ said, saidLength, tls, sites, missing, plugins }: PortLine): CellPart[] {
  const parts: CellPart[] = [];
  if (said !== '') {
    const text = said.slice(0, maxSaidLength);
    const more =
      text.length < saidLength ? [plain(` … ${numberText(saidLength)} characters`, styles.note)] : [];
    parts.push({ pieces: [plain(controlText(text), styles.monoSmall), ...more], line: 11, maxLines: 4 });
  }
  const notes = [tls, sites, missing, plugins === '' ? '' : `Recorded by ${plugins}.`].filter(
    (note) => note !== '',
  );
  for (const note of notes) parts.push({ pieces: [plain(note, styles.note)], line: 10, maxLines: 3 });
  return parts.length > 0 ? parts : [{ pieces: [plain('nothing', styles.cellThird)], line: 11 }];
}

const controlTexts: Record<string, string> = { '\r': '\\r', '\n': '\\n', '\t': '\\t' };

/** Line ends and tabs in their usual spelling; the rest is made visible where it is drawn. */
function controlText(text: string): string {
  return text.replace(/[\r\n\t]/g, (character) => controlTexts[character] as string);
}

const findingColumns = columns(
  { width: 54, head: 'Severity' },
  { width: 104, head: 'ID', maxLines: 3 },
  { width: 151, head: 'Title', maxLines: 4 },
  { width: 54, head: 'Port', maxLines: 3 },
  { width: 60, head: 'Class' },
  { width: 30, head: 'CVSS', align: 'right', style: styles.number },
  { width: 22, head: 'Fix', align: 'right', style: styles.number },
  { width: 24, head: 'Page', align: 'right', style: styles.number },
);

function drawFindings(pages: ReportPages, block: HostBlock): void {
  const { flow } = pages;
  const all = block.findings.length + block.findingsLeft;
  const isCut = all > maxFindings;
  const shown = isCut ? worstFirst(block.findings).slice(0, maxFindings) : block.findings;
  if (shown.length > 0) {
    const order = isCut ? 'worst first' : 'in order of the fix list';
    innerHeading(pages, 'Findings', `${shownOf(shown.length, all)}, ${order}`);
    const table = new Table(flow, findingColumns);
    for (const line of shown) table.row(findingCells(pages, line));
    table.end();
  }
  if (shown.length < all)
    footnote(flow, moreText(all - shown.length, 'more line of findings', 'more lines of findings'));
}

/** What is cut must not be worse than what stands. */
function worstFirst(findings: readonly HostFindingLine[]): HostFindingLine[] {
  return findings.toSorted((a, b) => byWorst(urgencyOfKind(a.kind, a.class), urgencyOfKind(b.kind, b.class)));
}

function findingCells(pages: ReportPages, { kind, action, ports, class: name }: HostFindingLine) {
  const { flow, accent } = pages;
  const link = { anchor: fixAnchor(action) };
  return [
    severityPieces(kind.severity),
    [whole(kind.id, styles.monoSmall)],
    [plain(kind.title, styles.cell), ...(kind.exploited ? [gap(4), exploitedChip(flow.faces)] : [])],
    [plain(listedPorts(ports), styles.monoSmall)],
    classPieces(name),
    cvssText(kind.cvss?.score),
    [{ ...plain(numberText(action), colored(styles.number, accent)), link }],
    [pageNumber(pages, kind.anchor, styles.number)],
  ];
}

/** Ports that are named beside a finding. */
const maxPorts = 5;

function listedPorts(ports: readonly string[]): string {
  const shown = ports.slice(0, maxPorts);
  const left = ports.length - shown.length;
  return left > 0 ? `${shown.join(', ')} and ${numberText(left)} more` : shown.join(', ');
}
