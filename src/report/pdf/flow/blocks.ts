import { contentWidth } from '../paper.ts';
import type { Tag } from '../sheet/sheet.ts';
import { colors, type Style, styles } from '../type/styles.ts';
import { baselineOf, drawLine, type Line, layoutText, type Piece, plain } from '../type/text-layout.ts';
import type { FlowBlock, PageFlow } from './page-flow.ts';

interface ParagraphOptions {
  /** Height of a line; that of the first text without. */
  line?: number;
  width?: number;
  /** From the left of the content. */
  indent?: number;
  before?: number;
  after?: number;
  maxLines?: number;
  tag?: Tag;
}

/** Width of the labels of `facts`. */
const labelWidth = 76;
const leadWidth = 480;

/**
 * A heading of a part of a section, with a note in gray beside it. It stays with what follows. With `anchor` it is a
 * place with a bookmark.
 */
export function partHeading(
  flow: PageFlow,
  title: string,
  note: string | Piece[] = '',
  options: { anchor?: string } = {},
): void {
  const noteStyle = styles.cellThird;
  const notes = typeof note === 'string' ? (note === '' ? [] : [plain(note, noteStyle)]) : note;
  const [heading] = layoutText(flow.faces, [plain(title, styles.h2)], contentWidth, { maxLines: 1 });
  const x = flow.left + (heading?.width ?? 0) + 8;
  const [beside] = layoutText(flow.faces, notes, flow.right - x, { maxLines: 1 });
  const { line } = styles.h2;
  flow.keep({
    height: line,
    before: 16,
    after: 5,
    draw: (y) => {
      const baseline = y + baselineOf(styles.h2);
      if (options.anchor !== undefined) notePlace(flow, options.anchor, title, y);
      flow.sheet.open('H2');
      if (heading) drawLine(flow.sheet, heading, flow.left, baseline);
      flow.sheet.close();
      if (notes.length === 0 || beside === undefined) return;
      flow.sheet.open('P');
      drawLine(flow.sheet, beside, x, baseline);
      flow.sheet.close();
    },
  });
}

/** Makes a part of a section a place with a bookmark. */
function notePlace({ places, sheet }: PageFlow, anchor: string, title: string, y: number): void {
  places.record(anchor, sheet.page);
  sheet.anchor(anchor, y - 8);
  sheet.bookmark(title, 1, y - 8);
}

/** The first sentences of a section. */
export function lead(flow: PageFlow, pieces: string | Piece[]): void {
  paragraph(flow, typeof pieces === 'string' ? [plain(pieces, styles.lead)] : pieces, {
    width: leadWidth,
    after: 10,
    line: styles.lead.line,
  });
}

/** Text that may go on to the next page, with two lines on each side. */
export function paragraph(flow: PageFlow, pieces: Piece[], options: ParagraphOptions = {}): void {
  const laid = layoutParagraph(flow, pieces, options);
  if (laid.lines.length === 0) return;
  flow.space(options.before ?? 0);
  flow.room(Math.min(laid.lines.length, laid.lines.length === 3 ? 3 : 2) * laid.line);
  flow.sheet.open(options.tag ?? 'P');
  drawLines(flow, laid);
  flow.sheet.close();
  flow.advance(0, options.after ?? 0);
}

/** The same as a block that is never parted. */
export function paragraphBlock(flow: PageFlow, pieces: Piece[], options: ParagraphOptions = {}): FlowBlock {
  const laid = layoutParagraph(flow, pieces, options);
  return {
    height: laid.lines.length * laid.line,
    ...(options.before === undefined ? {} : { before: options.before }),
    ...(options.after === undefined ? {} : { after: options.after }),
    draw: (y) => {
      if (laid.lines.length === 0) return;
      flow.sheet.open(options.tag ?? 'P');
      for (const [index, line] of laid.lines.entries()) {
        drawLine(flow.sheet, line, laid.x, y + index * laid.line + laid.baseline);
      }
      flow.sheet.close();
    },
  };
}

interface LaidParagraph {
  lines: Line[];
  line: number;
  baseline: number;
  x: number;
}

function layoutParagraph(flow: PageFlow, pieces: Piece[], options: ParagraphOptions): LaidParagraph {
  const style = firstStyle(pieces);
  const line = options.line ?? style.line;
  const indent = options.indent ?? 0;
  const width = options.width ?? contentWidth - indent;
  const { maxLines } = options;
  const lines =
    pieces.length === 0
      ? []
      : layoutText(flow.faces, pieces, width, maxLines === undefined ? {} : { maxLines });
  return { lines, line, baseline: baselineOf({ size: style.size, line }), x: flow.left + indent };
}

function firstStyle(pieces: readonly Piece[]): Style {
  for (const piece of pieces) if ('style' in piece) return piece.style;
  return styles.body;
}

/** Draws lines from `y` on; before the last two no page ends. */
function drawLines(flow: PageFlow, { lines, line, baseline, x }: LaidParagraph): void {
  for (const [index, spans] of lines.entries()) {
    const stays = index === lines.length - 2 ? 2 : 1;
    if (index > 1 && flow.remaining < stays * line) flow.room(stays * line);
    drawLine(flow.sheet, spans, x, flow.y + baseline);
    flow.advance(line);
  }
}

/** Small text below a table; a table draws its own (`Table.end`). */
export function footnote(flow: PageFlow, pieces: string | Piece[]): void {
  flow.place(footnoteBlock(flow, pieces));
}

export function footnoteBlock(flow: PageFlow, pieces: string | Piece[]): FlowBlock {
  const list = typeof pieces === 'string' ? [plain(pieces, styles.label)] : pieces;
  return paragraphBlock(flow, list, { before: 6, after: 4, line: styles.label.line });
}

/** A remark with a bar at its left. */
export function sideNotice(flow: PageFlow, pieces: Piece[], options: { keep?: boolean } = {}): void {
  const inner = paragraphBlock(flow, pieces, { indent: 11, width: contentWidth - 22, line: 13 });
  const block: FlowBlock = {
    height: inner.height,
    before: 8,
    after: 8,
    draw: (y) => {
      flow.sheet.artifact(() => {
        flow.sheet.rect(flow.left, y, 2, inner.height, { fill: colors.headLine });
      });
      inner.draw(y);
    },
  };
  if (options.keep) flow.keep(block);
  else flow.place(block);
}

/** The one box of a report: why its results are partial. */
export function banner(flow: PageFlow, pieces: Piece[], maxLines = 6): void {
  const inner = paragraphBlock(flow, pieces, { indent: 16, width: contentWidth - 32, line: 13, maxLines });
  flow.place({
    height: inner.height + 18,
    after: 16,
    draw: (y) => {
      const height = inner.height + 18;
      flow.sheet.artifact(() => {
        flow.sheet.rect(flow.left + 0.25, y, contentWidth - 0.5, height, {
          stroke: colors.second,
          lineWidth: 0.5,
        });
        flow.sheet.rect(flow.left, y, 4, height, { fill: colors.second });
      });
      inner.draw(y + 9);
    },
  });
}

/** Label and value. */
export interface Fact {
  label: string;
  value: Piece[];
}

const factLine = 12.5;

/** A list of labels and values, in one column. */
export function factList(flow: PageFlow, list: readonly Fact[]): void {
  if (list.length === 0) return;
  const { sheet } = flow;
  for (const [index, fact] of list.entries()) {
    const block = factBlock(flow, fact);
    flow.room(block.height);
    if (index === 0) sheet.open('L');
    block.draw(flow.y);
    flow.advance(block.height, block.after);
  }
  sheet.close();
  flow.space(6);
}

/** A label and its value that stay with what comes next. */
export function keptFact(flow: PageFlow, fact: Fact): void {
  const block = factBlock(flow, fact);
  flow.keep({
    height: block.height,
    before: 4,
    after: 6,
    draw: (y) => {
      flow.sheet.open('L');
      block.draw(y);
      flow.sheet.close();
    },
  });
}

/** One item of a list. */
function factBlock(flow: PageFlow, fact: Fact): FlowBlock {
  const name = fact.label === '' ? [] : [plain(fact.label, styles.cellThird)];
  const label = paragraphBlock(flow, name, {
    line: factLine,
    tag: 'Lbl',
    width: labelWidth - 4,
    maxLines: 1,
  });
  const value = paragraphBlock(flow, fact.value, { indent: labelWidth, line: factLine, tag: 'LBody' });
  return {
    height: Math.max(label.height, value.height),
    after: 1.5,
    draw: (y) => {
      flow.sheet.open('LI');
      label.draw(y);
      value.draw(y);
      flow.sheet.close();
    },
  };
}

const templateGap = 8;

/** Text of the operator, a paragraph for each of its lines. */
export function templateBlock(flow: PageFlow, text: string | undefined): void {
  for (const line of templateLines(text)) {
    paragraph(flow, [plain(line, styles.body)], { before: templateGap, after: templateGap });
  }
}

/** The height that it takes, with the distance above. */
export function templateBlockHeight(flow: PageFlow, text: string | undefined): number {
  const heights = templateLines(text).map((line) => {
    const lines = layoutText(flow.faces, [plain(line, styles.body)], contentWidth);
    return lines.length * styles.body.line + templateGap;
  });
  return heights.reduce((sum, height) => sum + height, 0);
}

function templateLines(text = ''): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
