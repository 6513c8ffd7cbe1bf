import type { LinkTarget, Sheet } from '../sheet/sheet.ts';
import type { Face } from './fonts.ts';
import type { Style } from './styles.ts';
import type { Typeface } from './typeface.ts';

export type Typefaces = Record<Face, Typeface>;

/** Text of one style. */
export interface TextPiece {
  text: string;
  style: Style;
  /** An address or an ID: goes on as a whole, and is broken by character only where no line holds it. */
  whole?: boolean;
  link?: LinkTarget;
}

/** Something drawn of fixed width: a mark, a chip, a distance. */
export interface FigurePiece {
  width: number;
  /**
   * `beside`: repeats the word that follows. `mixed`: the drawing marks its own parts as content and as artifact.
   * Other text: what it is read as.
   */
  reading: 'beside' | 'mixed' | { text: string };
  draw(sheet: Sheet, x: number, baseline: number): void;
}

/** Distance between pieces, where a line may end. */
export interface GapPiece {
  gap: number;
}

export type Piece = TextPiece | FigurePiece | GapPiece;

/** A part of a line: a text piece, or what stands of it in this line. */
interface Span {
  piece: TextPiece | FigurePiece;
  text: string;
  x: number;
  width: number;
}

export interface Line {
  spans: Span[];
  width: number;
}

export interface LayoutOptions {
  /** The last line ends with `…` if there is more; lines are not limited without it. */
  maxLines?: number;
}

interface Item {
  piece: Piece;
  text: string;
  width: number;
  /** Width of the space before it; 0 = belongs to the item before. */
  space: number;
}

const ellipsis = '…';

function isGap(piece: Piece): piece is GapPiece {
  return 'gap' in piece;
}

function isFigure(piece: Piece): piece is FigurePiece {
  return 'draw' in piece;
}

export function textWidth(faces: Typefaces, text: string, style: Style): number {
  const { size, tracking = 0 } = style;
  const distances = tracking === 0 ? 0 : tracking * [...text].length;
  return ((faces[style.face].width(text, style.tabular) + distances) * size) / 1000;
}

/** Breaks pieces into lines of at most the given width. */
export function layoutText(
  faces: Typefaces,
  pieces: readonly Piece[],
  width: number,
  options: LayoutOptions = {},
): Line[] {
  const lines = new LineBreaker(faces, width).break(pieces.flatMap((piece) => itemsOf(faces, piece)));
  const { maxLines } = options;
  if (maxLines === undefined || lines.length <= maxLines) return lines;
  const kept = lines.slice(0, maxLines);
  const last = kept.pop();
  if (last !== undefined) kept.push(cutLine(faces, last, width));
  return kept;
}

function itemsOf(faces: Typefaces, piece: Piece): Item[] {
  if (isFigure(piece)) return [{ piece, text: '', width: piece.width, space: 0 }];
  if (isGap(piece)) return [{ piece, text: '', width: 0, space: piece.gap }];
  const shown = faces[piece.style.face].visible(piece.text);
  const space = textWidth(faces, ' ', piece.style);
  if (piece.whole) {
    return [{ piece, text: shown, width: textWidth(faces, shown, piece.style), space: 0 }];
  }
  const items: Item[] = [];
  for (const [index, word] of shown.split(' ').entries()) {
    if (word === '' && index === 0) continue;
    items.push({
      piece,
      text: word,
      width: textWidth(faces, word, piece.style),
      space: index > 0 ? space : 0,
    });
  }
  return items;
}

/** Fills lines with clusters: items without a space between them are never parted, unless no line holds them. */
class LineBreaker {
  readonly #faces: Typefaces;
  readonly #width: number;
  readonly #lines: Line[] = [];
  #line: Line = { spans: [], width: 0 };

  constructor(faces: Typefaces, width: number) {
    this.#faces = faces;
    this.#width = width;
  }

  break(items: Item[]): Line[] {
    for (let at = 0; at < items.length; ) {
      let end = at + 1;
      while (end < items.length && items[end]?.space === 0) end += 1;
      this.#place(items.slice(at, end));
      at = end;
    }
    this.#lines.push(this.#line);
    return this.#lines;
  }

  #place(cluster: Item[]): void {
    const width = cluster.reduce((sum, item) => sum + item.width, 0);
    const space = cluster[0]?.space ?? 0;
    const isFirst = this.#line.spans.length === 0;
    if (isFirst ? width <= this.#width : this.#line.width + space + width <= this.#width) {
      for (const item of cluster) this.#append(item, item.text, item.width);
    } else if (width <= this.#width) {
      this.#next();
      for (const item of cluster) this.#append(item, item.text, item.width);
    } else {
      if (!isFirst) this.#next();
      for (const item of cluster) this.#breakItem(item);
    }
  }

  #next(): void {
    this.#lines.push(this.#line);
    this.#line = { spans: [], width: 0 };
  }

  #append(item: Item, text: string, width: number): void {
    const line = this.#line;
    const last = line.spans.at(-1);
    const space = last === undefined ? 0 : item.space;
    if (isGap(item.piece)) {
      line.width += space;
      return;
    }
    if (last === undefined && text === '' && !isFigure(item.piece)) return;
    if (last !== undefined && last.piece === item.piece && !isFigure(item.piece)) {
      last.text += space > 0 ? ` ${text}` : text;
      last.width += space + width;
    } else {
      line.spans.push({ piece: item.piece, text, x: line.width + space, width });
    }
    line.width += space + width;
  }

  /** An item wider than a line, character by character. */
  #breakItem(item: Item): void {
    if (isGap(item.piece)) return;
    if (isFigure(item.piece)) {
      if (this.#line.width + item.width > this.#width && this.#line.spans.length > 0) this.#next();
      this.#append(item, '', item.width);
      return;
    }
    const { style } = item.piece;
    let part = '';
    let partWidth = 0;
    for (const character of item.text) {
      const wider = textWidth(this.#faces, part + character, style);
      if (this.#line.width + wider > this.#width && (part !== '' || this.#line.spans.length > 0)) {
        if (part !== '') this.#append(item, part, partWidth);
        this.#next();
        part = character;
        partWidth = textWidth(this.#faces, character, style);
      } else {
        part += character;
        partWidth = wider;
      }
    }
    if (part !== '') this.#append(item, part, partWidth);
  }
}

/** The line with `…` at its end, shortened as far as needed. */
function cutLine(faces: Typefaces, line: Line, width: number): Line {
  const spans = [...line.spans];
  for (let last = spans.pop(); last !== undefined; last = spans.pop()) {
    if (isFigure(last.piece)) {
      if (last.x + last.width + 6 > width) continue;
      spans.push(last);
      break;
    }
    const { style } = last.piece;
    const characters = [...last.text];
    while (characters.length > 0) {
      const text = `${characters.join('').trimEnd()}${ellipsis}`;
      const cut = textWidth(faces, text, style);
      if (last.x + cut <= width) {
        spans.push({ ...last, text, width: cut });
        return { spans, width: last.x + cut };
      }
      characters.pop();
    }
  }
  const last = spans.at(-1);
  return { spans, width: last === undefined ? 0 : last.x + last.width };
}

/** Distance from the top of a line box to its baseline: capital letters stand in the middle. */
export function baselineOf(style: Pick<Style, 'size' | 'line'>): number {
  return style.line / 2 + 0.3636 * style.size;
}

/** Least distance of spans that are words of their own. */
const wordGap = 0.5;

/**
 * Draws a line within an open element: its text as content, marks beside their word as artifacts. A distance between
 * words is a space as well, for those who listen or copy.
 */
export function drawLine(sheet: Sheet, line: Line, x: number, baseline: number): void {
  let run: PlacedSpan[] = [];
  const flush = () => {
    const spans = run;
    run = [];
    if (spans.length === 0) return;
    sheet.content(() => {
      for (const span of spans) drawSpan(sheet, span, x, baseline);
    });
  };
  /** Where the last word ended. */
  let end: number | null = null;
  for (const span of line.spans) {
    const placed = { ...span, after: end !== null && span.x - end > wordGap ? end : null };
    if (!isFigure(span.piece) || span.piece.reading !== 'beside') end = span.x + span.width;
    if (isContent(span.piece)) {
      run.push(placed);
      continue;
    }
    flush();
    drawApart(sheet, placed, x, baseline);
  }
  flush();
}

interface PlacedSpan extends Span {
  /** Where the word before it ended, if there is a distance. */
  after: number | null;
}

function isContent(piece: TextPiece | FigurePiece): boolean {
  return isFigure(piece) ? typeof piece.reading === 'object' : piece.link === undefined;
}

function drawSpan(sheet: Sheet, span: PlacedSpan, x: number, baseline: number): void {
  const { piece, after } = span;
  if (!isFigure(piece)) drawWords(sheet, span, x, baseline);
  else if (typeof piece.reading === 'object') {
    const { text } = piece.reading;
    sheet.readAs(after === null ? text : ` ${text}`, () => piece.draw(sheet, x + span.x, baseline));
  }
}

function drawWords(
  sheet: Sheet,
  { piece, text, x: at, after }: PlacedSpan,
  x: number,
  baseline: number,
): void {
  if (isFigure(piece)) return;
  if (after !== null) sheet.text(' ', piece.style, x + after, baseline);
  sheet.text(text, piece.style, x + at, baseline);
}

function drawApart(sheet: Sheet, span: PlacedSpan, x: number, baseline: number): void {
  const { piece } = span;
  if (isFigure(piece)) {
    if (piece.reading === 'mixed') piece.draw(sheet, x + span.x, baseline);
    else sheet.artifact(() => piece.draw(sheet, x + span.x, baseline));
  } else if (piece.link !== undefined) {
    const { style, link } = piece;
    sheet.open('Link');
    sheet.content(() => drawWords(sheet, span, x, baseline));
    const top = baseline - style.size * 0.95;
    sheet.link(x + span.x, top, span.width, style.size * 1.2, link, linkDescription(link, piece.text));
    sheet.close();
  }
}

function linkDescription(link: LinkTarget, text: string): string {
  return 'url' in link ? link.url : `Go to ${text}`;
}

// Shorthands for pieces.

export function plain(text: string, style: Style): TextPiece {
  return { text, style };
}

export function whole(text: string, style: Style): TextPiece {
  return { text, style, whole: true };
}

export function joinPieces(parts: readonly (Piece | Piece[])[], separator: Piece): Piece[] {
  return parts.flatMap((part, index) => (index > 0 ? [separator, part].flat() : part));
}

export function gap(width: number): GapPiece {
  return { gap: width };
}
