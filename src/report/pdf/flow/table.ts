import { contentWidth } from '../paper.ts';
import { colors, type Style, styles } from '../type/styles.ts';
import { baselineOf, drawLine, type Line, layoutText, type Piece, plain } from '../type/text-layout.ts';
import { footnoteBlock } from './blocks.ts';
import type { PageFlow } from './page-flow.ts';

export interface Column {
  /** With the padding at its right. */
  width: number;
  /** Its name; pieces for a head with marks. Empty text needs `name`. */
  head: string | Piece[];
  /** Read in place of an empty head. */
  name?: string;
  align?: 'left' | 'right';
  /** Of cells that are plain text. */
  style?: Style;
  /** Cells are cut to this number of lines; 12 without. */
  maxLines?: number;
  /** Distance to the next column; 8 without. The last column has none. */
  padding?: number;
}

/** Lines of one kind within a cell. */
export interface CellPart {
  pieces: Piece[];
  /** Height of a line. */
  line: number;
  maxLines?: number;
}

/** Text in the style of the column, pieces, parts below each other, or something drawn in the room of the cell. */
export type Cell = string | Piece[] | { parts: CellPart[]; columns?: number } | DrawnCell;

/** A chart in a cell. */
export interface DrawnCell {
  /** What it says; without, that stands in other cells of its row. */
  alt?: string;
  draw(x: number, y: number, width: number, height: number): void;
}

export interface RowOptions {
  /** Above and below the text; 3.25 without. */
  padding?: number;
  /** Name of its place: links lead to it, and its page is recorded. */
  anchor?: string;
  /** Title of a bookmark below that of the section. */
  bookmark?: string;
}

interface LaidCell {
  x: number;
  width: number;
  align: 'left' | 'right';
  parts: { lines: Line[]; height: number; size: number }[];
  drawn: DrawnCell | null;
}

interface LaidRow {
  cells: LaidCell[];
  height: number;
  padding: number;
  anchor: string | null;
  bookmark: string | null;
  isSum: boolean;
}

/** Points at the right of each cell but the last. */
export const cellPadding = 8;
const rowPadding = 3.25;
const headHeight = 17;
/** Lines of a cell; the rest is cut. */
const maxCellLines = 12;
const numberReach = 16;

/**
 * A table whose rows come one by one. It knows three rows ahead: its head stays with its first two rows, at least two
 * rows stand on each side of a page break, so three are never parted, and the sum is never alone.
 */
export class Table {
  readonly #flow: PageFlow;
  readonly #columns: readonly Column[];
  readonly #headless: boolean;
  /** Draws no lines between rows. */
  readonly #bare: boolean;
  #pending: LaidRow[] = [];
  #begun = false;
  /** Rows on the current page. */
  #onPage = 0;
  #page = 0;

  constructor(
    flow: PageFlow,
    columns: readonly Column[],
    options: { headless?: boolean; bare?: boolean } = {},
  ) {
    this.#flow = flow;
    this.#columns = columns;
    this.#headless = options.headless ?? false;
    this.#bare = options.bare ?? false;
  }

  row(cells: readonly Cell[], options: RowOptions = {}): void {
    this.#pending.push(this.#layout(cells, options, false));
    const [first, second] = this.#pending;
    if (this.#pending.length <= 3 || first === undefined || second === undefined) return;
    this.#pending.shift();
    this.#place(first, this.#begun ? 0 : second.height);
  }

  /** Ends the table, with a row of sums and with small text below that stays with the last rows. */
  end(sum: readonly Cell[] | null = null, note: string | Piece[] | null = null): void {
    if (sum !== null) this.#pending.push(this.#layout(sum, {}, true));
    const rows = this.#pending;
    this.#pending = [];
    const foot = note === null ? null : footnoteBlock(this.#flow, note);
    const below = foot === null ? 0 : foot.height + (foot.before ?? 0);
    // The last rows stay together, with the sum three of them.
    for (const [index, row] of rows.entries()) {
      const rest = rows.slice(index + 1).reduce((height, next) => height + next.height, 0);
      const together = !this.#begun || index >= rows.length - (sum === null ? 2 : 3);
      this.#place(row, together ? rest + below : 0);
    }
    if (!this.#begun) return;
    this.#flow.sheet.close();
    this.#flow.sheet.close();
    if (foot !== null) this.#flow.place(foot);
  }

  /** Places a row, together with the height that has to follow it on the page. */
  #place(row: LaidRow, following: number): void {
    const flow = this.#flow;
    const head = this.#headless ? 0 : headHeight;
    if (!this.#begun) {
      flow.room(head + row.height + following);
      this.#begin();
    } else if (flow.remaining < row.height + following && this.#onPage > 1) {
      flow.newPage();
    } else if (flow.remaining < row.height && !flow.isTop) {
      flow.newPage();
    }
    if (flow.sheet.page !== this.#page) this.#continue();
    this.#draw(row);
    this.#onPage += 1;
  }

  #begin(): void {
    const { sheet } = this.#flow;
    this.#begun = true;
    this.#page = sheet.page;
    sheet.open('Table');
    sheet.open('THead');
    sheet.open('TR');
    if (this.#headless) this.#nameColumns();
    else this.#drawHead(true);
    sheet.close();
    sheet.close();
    sheet.open('TBody');
  }

  /** On a further page: the head again, for the eye only. */
  #continue(): void {
    this.#page = this.#flow.sheet.page;
    this.#onPage = 0;
    this.#flow.room(0);
    if (!this.#headless) this.#drawHead(false);
  }

  /** The heads of a table that shows none. */
  #nameColumns(): void {
    const { sheet } = this.#flow;
    for (const { head, name } of this.#columns) {
      sheet.open('TH', { scope: 'Column', actual: name ?? (typeof head === 'string' ? head : '') });
      sheet.close();
    }
  }

  #drawHead(isFirst: boolean): void {
    const flow = this.#flow;
    const { sheet, y } = flow;
    let x = flow.left;
    const baseline = y + 1 + baselineOf({ size: styles.head.size, line: 11 });
    for (const [index, column] of this.#columns.entries()) {
      const width = this.#widthOf(index, 1);
      const pieces = typeof column.head === 'string' ? [plain(column.head, styles.head)] : column.head;
      const [line] = layoutText(flow.faces, pieces, Math.max(width, 0), { maxLines: 1 });
      const at = column.align === 'right' ? x + width - (line?.width ?? 0) : x;
      if (isFirst) {
        sheet.open('TH', { scope: 'Column', ...(column.name === undefined ? {} : { actual: column.name }) });
        if (line !== undefined) drawLine(sheet, line, at, baseline);
        sheet.close();
      } else {
        sheet.artifact(() => drawAsArtifact(flow, line, at, baseline));
      }
      x += column.width;
    }
    const bottom = y + headHeight;
    sheet.artifact(() => sheet.rule(flow.left, bottom, flow.right, bottom, colors.headLine, 0.75));
    flow.advance(headHeight);
  }

  #draw(row: LaidRow): void {
    const flow = this.#flow;
    const { sheet, y } = flow;
    if (row.anchor !== null) {
      sheet.anchor(row.anchor, y - headHeight);
      flow.places.record(row.anchor, sheet.page);
    }
    if (row.bookmark !== null) sheet.bookmark(row.bookmark, 1, y - headHeight);
    const top = y + row.padding;
    const baseline = Math.max(0, ...row.cells.map(firstBaseline));
    sheet.open('TR');
    for (const cell of row.cells) {
      sheet.open('TD');
      if (cell.drawn !== null) this.#drawChart(cell, cell.drawn, row.height);
      else drawParts(flow, cell, top + baseline - firstBaseline(cell));
      sheet.close();
    }
    sheet.close();
    if (!row.isSum && !this.#bare) this.#drawLine(y + row.height, colors.rowLine, 0.5);
    else if (row.isSum && this.#bare) this.#drawLine(y, colors.headLine, 0.75);
    flow.advance(row.height);
  }

  #drawChart({ x, width }: LaidCell, chart: DrawnCell, height: number): void {
    const { sheet, y } = this.#flow;
    const draw = () => chart.draw(x, y, width, height);
    if (chart.alt === undefined) {
      sheet.artifact(draw);
      return;
    }
    sheet.open('Figure', { alt: chart.alt, bbox: [x, y, x + width, y + height] });
    sheet.content(draw);
    sheet.close();
  }

  #drawLine(y: number, color: string, width: number): void {
    const { sheet, left, right } = this.#flow;
    sheet.artifact(() => sheet.rule(left, y, right, y, color, width));
  }

  #widthOf(index: number, columns: number): number {
    const covered = this.#columns.slice(index, index + columns);
    const width = covered.reduce((sum, column) => sum + column.width, 0);
    const last = covered.at(-1);
    return index + columns >= this.#columns.length ? width : width - (last?.padding ?? cellPadding);
  }

  #layout(cells: readonly Cell[], options: RowOptions, isSum: boolean): LaidRow {
    const padding = options.padding ?? rowPadding;
    const laid: LaidCell[] = [];
    let index = 0;
    let x = this.#flow.left;
    for (const cell of cells) {
      const columns = typeof cell === 'object' && 'parts' in cell ? (cell.columns ?? 1) : 1;
      laid.push(this.#layoutCell(cell, index, columns, x, isSum));
      for (const column of this.#columns.slice(index, index + columns)) x += column.width;
      index += columns;
    }
    const inner = Math.max(11, ...laid.map(heightOfCell));
    const { anchor = null, bookmark = null } = options;
    return { cells: laid, height: inner + 2 * padding, padding, anchor, bookmark, isSum };
  }

  #layoutCell(cell: Cell, index: number, columns: number, x: number, isSum: boolean): LaidCell {
    const column = this.#columns[index];
    const width = this.#widthOf(index, columns);
    const align = column?.align ?? 'left';
    const base = { x, width, align };
    if (typeof cell === 'object' && 'draw' in cell) return { ...base, parts: [], drawn: cell };
    const parts = partsOf(cell, isSum ? sumStyle(column) : column?.style, column?.maxLines);
    return {
      ...base,
      drawn: null,
      parts: parts.map((part) => ({
        // Large numbers rather reach into the column at their left than break.
        lines: layoutText(this.#flow.faces, part.pieces, width + (align === 'right' ? numberReach : 0), {
          maxLines: part.maxLines ?? maxCellLines,
        }),
        height: part.line,
        size: sizeOf(part),
      })),
    };
  }
}

function sumStyle(column: Column | undefined): Style {
  return column?.align === 'right' ? styles.numberStrong : styles.cellStrong;
}

function partsOf(
  cell: string | Piece[] | { parts: CellPart[] },
  style: Style = styles.cell,
  maxLines?: number,
): CellPart[] {
  if (typeof cell === 'object' && 'parts' in cell) return cell.parts;
  const pieces = typeof cell === 'string' ? [plain(cell, style)] : cell;
  return [{ pieces, line: 11, ...(maxLines === undefined ? {} : { maxLines }) }];
}

/** Of the largest text. */
function sizeOf(part: CellPart): number {
  return (
    Math.max(0, ...part.pieces.map((piece) => ('style' in piece ? piece.style.size : 0))) || styles.cell.size
  );
}

function firstBaseline(cell: LaidCell): number {
  const [part] = cell.parts;
  return part === undefined ? 0 : baselineOf({ size: part.size, line: part.height });
}

function heightOfCell(cell: LaidCell): number {
  return cell.parts.reduce((sum, part) => sum + part.lines.length * part.height, 0);
}

function drawParts(flow: PageFlow, cell: LaidCell, top: number): void {
  let y = top;
  for (const part of cell.parts) {
    for (const line of part.lines) {
      const x = cell.align === 'right' ? cell.x + cell.width - line.width : cell.x;
      drawLine(flow.sheet, line, x, y + baselineOf({ size: part.size, line: part.height }));
      y += part.height;
    }
  }
}

function drawAsArtifact(flow: PageFlow, line: Line | undefined, x: number, baseline: number): void {
  for (const span of line?.spans ?? []) {
    if ('style' in span.piece) flow.sheet.text(span.text, span.piece.style, x + span.x, baseline);
    else if (span.piece.reading === 'beside') span.piece.draw(flow.sheet, x + span.x, baseline);
  }
}

/** The width of a table is that of the page: checked where its columns are stated. */
export function columns(...list: Column[]): readonly Column[] {
  const sum = list.reduce((width, column) => width + column.width, 0);
  if (Math.abs(sum - contentWidth) > 0.01) throw new Error(`columns of ${sum} points, not ${contentWidth}`);
  return list;
}
