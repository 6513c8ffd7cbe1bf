import { type Severity, severities } from '../../../domain/finding.ts';
import { byWorst } from '../../../domain/finding-order.ts';
import { visibleText } from '../../../domain/text/visible.ts';
import { oneLine } from '../../model/bounded.ts';
import { urgencyOfKind } from '../../model/findings/kinds.ts';
import type { HostBlock, HostFindingLine, PortLine } from '../../model/report.ts';
import {
  confidenceText,
  numberText,
  pluralText,
  portText,
  severityWord,
  unknownText,
} from '../../model/report-text.ts';
import { exploitedChip } from '../figures/marks.ts';
import { type Fact, factList, footnote, sideNotice } from '../flow/blocks.ts';
import type { FlowBlock } from '../flow/page-flow.ts';
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
  textWidth,
  whole,
} from '../type/text-layout.ts';
import { factPairs, type PairedFact } from './fact-pairs.ts';
import { hostNamePieces } from './host-name.ts';
import { isShortReport } from './section.ts';

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

function headingBlock(pages: ReportPages, { host, names, anchor }: HostBlock): FlowBlock {
  const { flow } = pages;
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
    before: isShortReport(pages) ? 12 : 22,
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
function portsText({ counts, openPorts, filteredWhy, notOpen }: HostBlock): string {
  if (counts === null) return `${numberText(openPorts)} open; the others were not counted`;
  const { open, closed, filtered, notTried } = counts;
  const why = filteredWhy === '' ? '' : ` (${filteredWhy})`;
  return `${numberText(open)} open, ${numberText(closed)} closed, ${numberText(filtered)} filtered${why}, ${numberText(notTried)} not tried${notOpen === '' ? '' : `: ${notOpen}`}`;
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

function drawServices(pages: ReportPages, block: HostBlock): void {
  const { flow } = pages;
  const all = block.ports.length + block.portsLeft;
  if (all === 0) return;
  const shown = block.ports.slice(0, maxServices);
  if (!isShortReport(pages) || shown.length < all)
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
  factList(
    flow,
    shown.map((line) => portFact(pages, line)),
  );
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

/** `ssh OpenSSH 9.2p1, 98 %`, and what it said. */
function portFact(pages: ReportPages, line: PortLine): Fact {
  const { port, protocol, product, confidence } = line;
  const named = [
    plain(`${serviceText(line)} `, styles.cellSecond),
    ...(product === null ? [] : [plain(product, styles.cellMedium)]),
    ...(confidence === null ? [] : [plain(` ${confidenceText(confidence)}`, styles.cellThird)]),
  ];
  return { label: portText(port, protocol), value: joinPieces([named, ...saidParts(pages, line)], gap(8)) };
}

/** What the service said, its TLS, and what is missing, below each other. */
function saidParts(
  pages: ReportPages,
  { said, saidLength, tls, sites, missing, plugins }: PortLine,
): Piece[][] {
  const first = isShortReport(pages) ? (said.split(/[\r\n]/, 1)[0] ?? '') : said;
  const text = first.slice(0, maxSaidLength);
  const more =
    text.length < saidLength && !isShortReport(pages) ? ` … ${numberText(saidLength)} characters` : '';
  const notes = [more, tls, sites, missing, plugins === '' ? '' : `Recorded by ${plugins}.`];
  return [
    ...(text === '' ? [] : [[plain(controlText(text), styles.monoSmall)]]),
    ...notes.filter((note) => note !== '').map((note) => [plain(note, styles.note)]),
  ];
}

const controlTexts: Record<string, string> = { '\r': '\\r', '\n': '\\n', '\t': '\\t' };

/** Line ends and tabs in their usual spelling; the rest is made visible where it is drawn. */
function controlText(text: string): string {
  return text.replace(/[\r\n\t]/g, (character) => controlTexts[character] as string);
}

function drawFindings(pages: ReportPages, block: HostBlock): void {
  const { flow } = pages;
  const all = block.findings.length + block.findingsLeft;
  const isCut = all > maxFindings;
  const shown = isCut ? worstFirst(block.findings).slice(0, maxFindings) : block.findings;
  if (shown.length > 0) {
    const order = isCut ? 'worst first' : 'in order of the fix list';
    if (!isShortReport(pages) || isCut)
      innerHeading(pages, 'Findings', `${shownOf(shown.length, all)}, ${order}`);
    factList(
      flow,
      severities.flatMap((severity) => severityFact(pages, severity, shown)),
    );
  }
  if (shown.length < all)
    footnote(flow, moreText(all - shown.length, 'more line of findings', 'more lines of findings'));
}

/** What is cut must not be worse than what stands. */
function worstFirst(findings: readonly HostFindingLine[]): HostFindingLine[] {
  return findings.toSorted((a, b) => byWorst(urgencyOfKind(a.kind, a.class), urgencyOfKind(b.kind, b.class)));
}

/** The IDs of one severity in one paragraph: titles and evidence stand with the findings. */
function severityFact(pages: ReportPages, severity: Severity, shown: readonly HostFindingLine[]): Fact[] {
  const lines = shown.filter(({ kind }) => kind.severity === severity);
  if (lines.length === 0) return [];
  const pieces = lines.map((line) => findingPieces(pages, line));
  return [{ label: severityWord(severity), value: joinPieces(pieces, plain(', ', styles.cell)) }];
}

/** `CVE-2023-38408 22/tcp possible, page 8` */
function findingPieces(pages: ReportPages, { kind, ports, class: name }: HostFindingLine): Piece[] {
  const { flow, accent } = pages;
  const hasEntry = flow.places.has(kind.anchor);
  const id = whole(kind.id, hasEntry ? colored(styles.monoSmall, accent) : styles.monoSmall);
  return [
    hasEntry ? { ...id, link: { anchor: kind.anchor } } : id,
    plain(` ${listedPorts(ports)}${name === 'certain' ? '' : ` ${name}`}`, styles.cellThird),
    ...(kind.exploited ? [gap(4), exploitedChip(flow.faces)] : []),
  ];
}

/** Ports that are named beside a finding. */
const maxPorts = 5;

function listedPorts(ports: readonly string[]): string {
  const shown = ports.slice(0, maxPorts);
  const left = ports.length - shown.length;
  return left > 0 ? `${shown.join(', ')} and ${numberText(left)} more` : shown.join(', ');
}
