import { findingClasses } from '../../../domain/finding.ts';
import type { Action, ClassCounts } from '../../model/report.ts';
import {
  clockText,
  dateTimeText,
  fixAnchor,
  longDateText,
  numberText,
  pluralText,
  secondsText,
  unknownText,
} from '../../model/report-text.ts';
import { drawLogo } from '../figures/logo.ts';
import {
  classCountPieces,
  drawCompass,
  exploitedChip,
  severityCountPieces,
  stateMark,
} from '../figures/marks.ts';
import { banner, partHeading, templateBlock } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import { colors, type Style, styles } from '../type/styles.ts';
import {
  baselineOf,
  drawLine,
  gap,
  joinPieces,
  type Line,
  layoutText,
  type Piece,
  plain,
  whole,
} from '../type/text-layout.ts';
import { actionsAnchor, pageNumber, sectionAnchor, soFar } from './section.ts';

/** Distances in points; the origin is the top of the page. */
const markTop = 44;
/** From the edge to the end of the facts. */
const factsEnd = 52;
const factLine = 14.2;
const doFirst = 2;
const verdictWidth = 470;

/** Top of the body, and distances above the banner, above and below the verdict. */
interface CoverSpacing {
  top: number;
  banner: number;
  verdict: number;
  numbers: number;
}

const wide: CoverSpacing = { top: 150, banner: 36, verdict: 51, numbers: 26 };
const narrow: CoverSpacing = { top: 96, banner: 20, verdict: 24, numbers: 16 };

/** The page that answers how bad, what first and what changed. What does not fit goes on to a second one. */
export function* drawCover(pages: ReportPages): Generator<void> {
  const { flow } = pages;
  const spacing = [wide, narrow].find((spacing) => fits(pages, spacing));
  flow.barePage();
  flow.sheet.open('Sect');
  drawTop(pages);
  if (spacing === undefined) drawFacts(pages);
  drawBody(pages, spacing ?? narrow);
  if (spacing !== undefined) drawFacts(pages);
  flow.sheet.close();
  yield;
}

function fits(pages: ReportPages, spacing: CoverSpacing): boolean {
  const flow = pages.flow.trial();
  flow.barePage();
  drawBody({ ...pages, flow }, spacing);
  return flow.sheet.page === 1;
}

function drawBody(pages: ReportPages, spacing: CoverSpacing): void {
  const { flow, report } = pages;
  flow.limitPage(factsTop(pages) - 10);
  flow.y = spacing.top;
  drawTitle(pages);
  if (report.partial !== null) {
    flow.advance(0, spacing.banner);
    banner(flow, [stateMark(report.facts.status), plain(report.partial, styles.body)]);
  } else flow.advance(0, spacing.verdict);
  textBlock(pages, [plain(report.verdict, styles.verdict)], styles.verdict, {
    tag: 'P',
    maxLines: 6,
    after: spacing.numbers,
    width: verdictWidth,
  });
  drawNumbers(pages);
  if (report.actions.length > 0) drawDoFirst(pages);
  else drawNotCovered(pages);
  templateBlock(flow, report.options.template?.blocks.cover);
}

function drawTop(pages: ReportPages): void {
  const { flow, report } = pages;
  const { template } = report.options;
  const baseline = markTop + baselineOf(styles.brand);
  if (template?.logo) drawLogo(flow.sheet, template.logo, flow.left, markTop - 8);
  else {
    flow.sheet.artifact(() => {
      drawCompass(flow.sheet, flow.left, markTop - 1, colors.link);
      flow.sheet.text('Portolan', styles.brand, flow.left + 21, baseline);
    });
  }
  if (!template?.mark) return;
  const [line] = layoutText(flow.faces, [plain(template.mark, styles.cellThird)], 240, { maxLines: 1 });
  if (line === undefined) return;
  flow.sheet.open('P');
  drawLine(flow.sheet, line, flow.right - line.width, baseline);
  flow.sheet.close();
}

function textBlock(
  { flow }: ReportPages,
  pieces: Piece[],
  style: Style,
  options: { tag: 'P' | 'H1'; maxLines: number; after: number; width?: number },
): void {
  const lines = layoutText(flow.faces, pieces, options.width ?? contentWidth, { maxLines: options.maxLines });
  flow.place({
    height: lines.length * style.line,
    after: options.after,
    draw: (y) => {
      flow.sheet.open(options.tag);
      for (const [index, line] of lines.entries()) {
        drawLine(flow.sheet, line, flow.left, y + index * style.line + baselineOf(style));
      }
      flow.sheet.close();
    },
  });
}

function drawTitle(pages: ReportPages): void {
  const { report } = pages;
  textBlock(pages, [plain('Network security scan', styles.kicker)], styles.kicker, {
    tag: 'P',
    maxLines: 1,
    after: 2,
  });
  textBlock(pages, [plain(report.title, styles.title)], styles.title, { tag: 'H1', maxLines: 3, after: 6 });
  const date = longDateText(report.facts.completedAt ?? report.facts.timestamp);
  textBlock(pages, [...scopePieces(report.facts.targets), plain(` · ${date}`, styles.scope)], styles.scope, {
    tag: 'P',
    maxLines: 2,
    after: 0,
  });
}

const shownTargets = 3;

function scopePieces(targets: readonly string[]): Piece[] {
  const names = targets.slice(0, shownTargets).map((target) => whole(target.slice(0, 80), styles.scopeMono));
  const shown = joinPieces(names, plain(', ', styles.scope));
  const left = targets.length - shownTargets;
  return left > 0 ? [...shown, plain(` and ${numberText(left)} more`, styles.scope)] : shown;
}

interface LargeNumber {
  number: string;
  label: string;
  note: Piece[];
}

function drawNumbers(pages: ReportPages): void {
  const { flow } = pages;
  const { sheet } = flow;
  const width = contentWidth / 3;
  const numbers = largeNumbers(pages).map((number, index) =>
    layoutNumber(pages, number, width - (index > 0 ? 24 : 8)),
  );
  const labelLines = Math.max(...numbers.map(({ label }) => label.length));
  const height = 98 + (labelLines - 1) * labelLine;
  flow.place({
    height,
    after: 27,
    draw: (y) => {
      sheet.artifact(() => {
        for (const line of [y, y + height])
          sheet.rule(flow.left, line, flow.right, line, colors.headLine, 0.75);
        for (const index of [1, 2]) {
          sheet.rule(
            flow.left + index * width,
            y,
            flow.left + index * width,
            y + height,
            colors.rowLine,
            0.5,
          );
        }
      });
      for (const [index, number] of numbers.entries()) {
        drawNumber(pages, number, flow.left + index * width + (index > 0 ? 16 : 0), y + 14);
      }
    },
  });
}

interface LaidNumber {
  number: Line[];
  label: Line[];
  note: Line[];
}

function layoutNumber(
  { flow }: ReportPages,
  { number, label, note }: LargeNumber,
  width: number,
): LaidNumber {
  return {
    number: layoutText(flow.faces, [plain(number, styles.large)], width, { maxLines: 1 }),
    label: layoutText(flow.faces, [plain(label, styles.bodyStrong)], width, { maxLines: 2 }),
    note: layoutText(flow.faces, note, width, { maxLines: 1 }),
  };
}

const labelLine = 12;

function drawNumber(
  { flow }: ReportPages,
  { number, label, note }: LaidNumber,
  x: number,
  top: number,
): void {
  const { sheet } = flow;
  sheet.open('P');
  for (const line of number) drawLine(sheet, line, x, top + baselineOf(styles.large));
  for (const [index, line] of label.entries()) {
    drawLine(sheet, line, x, top + 39 + index * labelLine + baselineOf(styles.bodyStrong));
  }
  const below = 57 + (label.length - 1) * labelLine;
  for (const line of note) drawLine(sheet, line, x, top + below + baselineOf(styles.cellSecond));
  sheet.close();
}

function largeNumbers({ report, flow }: ReportPages): LargeNumber[] {
  return report.headline.map(({ number, label, note, marks }) => {
    if (marks === 'exploited') return { number, label, note: exploitedPieces(report.summary.exploited) };
    if (marks === 'severities')
      return { number, label, note: severityCountPieces(flow.faces, report.summary.severities) };
    return { number, label, note: [plain(note, styles.cellSecond)] };
  });
}

function exploitedPieces(exploited: ClassCounts): Piece[] {
  const counted = findingClasses.filter((name) => exploited[name] > 0);
  return joinPieces(
    counted.map((name) => classCountPieces(name, exploited[name])),
    gap(7),
  );
}

const firstColumns = columns(
  { width: 18, head: '', name: 'Rank' },
  { width: 318, head: 'Action' },
  { width: 60, head: '', name: 'Known exploited' },
  { width: 103, head: 'Where', align: 'right', style: styles.cellSecond },
);

function drawDoFirst(pages: ReportPages): void {
  const { flow, report } = pages;
  const first = report.actions.slice(0, doFirst);
  const shown = `${numberText(first.length)} of ${pluralText(report.actions.length, 'action')}${soFar(pages)}, page `;
  partHeading(flow, 'Do first', [
    plain(shown, styles.cellThird),
    pageNumber(pages, actionsAnchor(pages), styles.cellThird),
  ]);
  const table = new Table(flow, firstColumns, { headless: true });
  for (const action of first) {
    table.row(
      [
        [plain(String(action.rank), styles.cellThird)],
        { parts: [{ pieces: [actionLink(pages, action)], line: 12.5, maxLines: 2 }] },
        action.exploited ? [exploitedChip(flow.faces)] : '',
        `${pluralText(action.hosts, 'host')}, ${pluralText(action.findings, 'finding')}`,
      ],
      { padding: 5.9 },
    );
  }
  table.end();
}

function actionLink({ report }: ReportPages, { text, rank }: Action): Piece {
  const piece = plain(text, styles.actionMedium);
  return report.options.template?.brief ? piece : { ...piece, link: { anchor: fixAnchor(rank) } };
}

const gapColumns = columns({ width: 399, head: 'What' }, { width: 100, head: 'Number', align: 'right' });

function drawNotCovered(pages: ReportPages): void {
  const { flow, report } = pages;
  const { addresses } = report.coverage;
  partHeading(flow, 'What this does not cover', [
    plain('page ', styles.cellThird),
    pageNumber(pages, sectionAnchor('coverage'), styles.cellThird),
    plain(' has the sums', styles.cellThird),
  ]);
  const rows: [string, string][] = [
    ['Addresses that did not answer', numberText(addresses.silent)],
    ['Addresses that were excluded', numberText(addresses.excluded)],
    ['Open ports that no module recognized', numberText(report.services.unrecognized)],
    ['Ports that were planned and not tried', numberText(report.coverage.ports?.all.notTried)],
    ['Passwords, web applications behind a login, anything a firewall hides', 'not tried'],
  ];
  const table = new Table(flow, gapColumns, { headless: true });
  for (const [what, count] of rows) table.row([what, [plain(count, styles.cellSecond)]]);
  table.end();
}

interface CoverFact {
  label: string;
  value: Piece[];
}

function coverFacts(pages: ReportPages): CoverFact[][] {
  return [leftFacts(pages), rightFacts(pages)];
}

function factsTop(pages: ReportPages): number {
  const height = 8 + Math.max(...coverFacts(pages).map((list) => list.length)) * factLine;
  return pages.flow.paper.height - factsEnd - height;
}

function drawFacts(pages: ReportPages): void {
  const { flow } = pages;
  const top = factsTop(pages);
  flow.sheet.artifact(() => flow.sheet.rule(flow.left, top, flow.right, top, colors.headLine, 0.75));
  for (const [index, list] of coverFacts(pages).entries()) {
    const x = flow.left + (index === 0 ? 0 : 305.5);
    const widths = index === 0 ? { label: 60, value: 235 } : { label: 74, value: 119.5 };
    flow.sheet.open('L');
    for (const [row, fact] of list.entries()) {
      drawFact(pages, fact, { x, y: top + 8 + row * factLine, ...widths });
    }
    flow.sheet.close();
  }
}

function drawFact(
  { flow }: ReportPages,
  fact: CoverFact,
  at: { x: number; y: number; label: number; value: number },
): void {
  const { sheet, faces } = flow;
  const baseline = at.y + baselineOf({ size: 8.5, line: factLine });
  const [label] = layoutText(faces, [plain(fact.label, styles.cellThird)], at.label, { maxLines: 1 });
  const [value] = layoutText(faces, fact.value, at.value, { maxLines: 1 });
  sheet.open('LI');
  sheet.open('Lbl');
  if (label) drawLine(sheet, label, at.x, baseline);
  sheet.close();
  sheet.open('LBody');
  if (value) drawLine(sheet, value, at.x + at.label, baseline);
  sheet.close();
  sheet.close();
}

function leftFacts({ report }: ReportPages): CoverFact[] {
  const { facts, coverage } = report;
  const { addresses, ports } = coverage;
  const answered = `${pluralText(addresses.responded, 'host')} that answered, of ${numberText(addresses.requested)} asked`;
  const tried = ports === null ? null : ports.all.planned - ports.all.notTried;
  const text = (value: string): Piece[] => [plain(value, styles.cell)];
  return [
    { label: 'Looked at', value: text(`${answered}; ${numberText(addresses.excluded)} excluded`) },
    {
      label: 'Ports',
      value: text(
        tried === null ? unknownText : `${numberText(tried)} of ${numberText(ports?.all.planned)} tried`,
      ),
    },
    { label: 'Time', value: text(timeText(facts.startedAt, facts.completedAt)) },
    { label: 'State', value: [stateMark(facts.status), plain(stateText(report), styles.cell)] },
  ];
}

function timeText(from: string | null, to: string | null): string {
  if (from === null) return unknownText;
  if (to === null) return `from ${clockText(from)} UTC`;
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return `${clockText(from)} to ${clockText(to)} UTC, ${secondsText(seconds)}`;
}

function stateText({ state, facts }: ReportPages['report']): string {
  const { warnings } = facts;
  return warnings.length > 0 ? `${state}, ${pluralText(warnings.length, 'warning')}` : state;
}

function rightFacts({ report }: ReportPages): CoverFact[] {
  const { facts, options } = report;
  const { changes } = options;
  return [
    { label: 'Scan', value: [whole(facts.scan_id, styles.monoSmall)] },
    {
      label: 'Compared with',
      value:
        changes === null
          ? [plain(facts.partial ? 'no other scan: partial' : 'no other scan', styles.cell)]
          : [whole(changes.against, styles.monoSmall)],
    },
    { label: 'Report', value: [plain(dateTimeText(options.madeAt), styles.cell)] },
  ];
}
