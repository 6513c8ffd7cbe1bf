import { amountText } from './amounts.ts';
import { columnsOf, fit, fitMiddle, printable } from './printable.ts';
import { ellipsisOf, paint, type TerminalStyle, type TextColor, unknownOf } from './style.ts';

/** One column of a table. */
export interface TableColumn<Row> {
  head: string;
  /** Null is what is not known. Numbers are at the right, texts at the left. */
  cell(row: Row): string | number | null;
  /** Also texts are at the right. */
  right?: boolean;
  paint?(row: Row): TextColor | null;
  /**
   * What happens to texts that are longer than the width of the column: they are cut at the end or in the middle, broken
   * between words (`wrap`), or replaced by a shorter text.
   */
  over?: 'end' | 'middle' | 'wrap' | ((row: Row, width: number) => string);
}

/** Columns give way to a narrow terminal in this order: to a width, or 0 to leave. */
export type Narrowing = readonly (readonly [head: string, width: number])[];

const gap = '  ';
/** Indentation of what does not fit into the first line of a row. */
const indent = '  ';

/** A column with its cells, printable, and its width. */
interface DrawnColumn<Row> extends TableColumn<Row> {
  texts: string[];
  width: number;
  isRight: boolean;
}

/**
 * Rows below a line of heads: texts left, numbers right, two blanks between. In a terminal columns give way as
 * `narrowing` says; what is still too wide goes to a second line of each row. Elsewhere everything is whole.
 */
export function drawTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  style: TerminalStyle,
  narrowing: Narrowing = [],
): string {
  const drawn = columns.map((column) => drawnColumn(column, rows, style));
  const limit = style.terminal ? style.columns : Number.POSITIVE_INFINITY;
  const groups = linesOf(narrowed(drawn, narrowing, limit), limit);
  const heads = groups.map((group, line) => headLine(group, line, style));
  const lines = rows.flatMap((row, index) =>
    groups
      .flatMap((group, line) => rowLines(group, { row, index, line }, style))
      .filter((text, line) => line === 0 || text !== ''),
  );
  return [...heads, ...lines].map((line) => `${line}\n`).join('');
}

function drawnColumn<Row>(
  column: TableColumn<Row>,
  rows: readonly Row[],
  style: TerminalStyle,
): DrawnColumn<Row> {
  const cells = rows.map((row) => column.cell(row));
  const texts = cells.map((cell) => {
    if (cell === null) return unknownOf(style);
    return typeof cell === 'number' ? amountText(cell) : printable(cell);
  });
  const isRight = column.right ?? cells.some((cell) => typeof cell === 'number');
  const width = texts.reduce((most, text) => Math.max(most, columnsOf(text)), columnsOf(column.head));
  return { ...column, texts, width, isRight };
}

function widthOf(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length);
}

function narrowed<Row>(
  columns: readonly DrawnColumn<Row>[],
  narrowing: Narrowing,
  limit: number,
): DrawnColumn<Row>[] {
  let left = [...columns];
  for (const [head, least] of narrowing) {
    const excess = widthOf(left) - limit;
    if (excess <= 0) break;
    const width = (column: DrawnColumn<Row>) =>
      Math.min(column.width, Math.max(least, columnsOf(head), column.width - excess));
    left = left.flatMap((column) => {
      if (column.head !== head) return [column];
      return least === 0 ? [] : [{ ...column, width: width(column) }];
    });
  }
  return left;
}

/** As many columns as fit into each line of a row. */
function linesOf<Row>(columns: readonly DrawnColumn<Row>[], limit: number): DrawnColumn<Row>[][] {
  const lines: DrawnColumn<Row>[][] = [];
  let line: DrawnColumn<Row>[] = [];
  for (const column of columns) {
    const room = limit - (lines.length === 0 ? 0 : indent.length);
    if (line.length > 0 && widthOf([...line, column]) > room) {
      lines.push(line);
      line = [];
    }
    line.push(column);
  }
  return [...lines, line];
}

function headLine<Row>(group: readonly DrawnColumn<Row>[], line: number, style: TerminalStyle): string {
  const cells = group.map((column) => ({ column, text: column.head, color: null }));
  return indented(paint(style, joined(cells, style), 'dim'), line);
}

function indented(text: string, line: number): string {
  return line === 0 || text === '' ? text : `${indent}${text}`;
}

interface Position<Row> {
  row: Row;
  index: number;
  /** Which line of the row. */
  line: number;
}

/** More than one only where a text is broken between words. */
function rowLines<Row>(
  group: readonly DrawnColumn<Row>[],
  { row, index, line }: Position<Row>,
  style: TerminalStyle,
): string[] {
  const parts = group.map((column) => shownParts(column, row, column.texts[index] ?? '', style));
  const height = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, part) => {
    const cells = group.map((column, place) => ({
      column,
      text: parts[place]?.[part] ?? '',
      color: column.paint?.(row) ?? null,
    }));
    return indented(joined(cells, style), line);
  });
}

function shownParts<Row>(
  { over, width }: DrawnColumn<Row>,
  row: Row,
  text: string,
  style: TerminalStyle,
): string[] {
  if (over === undefined || columnsOf(text) <= width) return [text];
  if (over === 'wrap') return wrapWords(text, width);
  if (over === 'middle') return [fitMiddle(text, width, ellipsisOf(style))];
  return [over === 'end' ? fit(text, width, ellipsisOf(style)) : printable(over(row, width))];
}

interface ShownCell<Row> {
  column: DrawnColumn<Row>;
  text: string;
  color: TextColor | null;
}

/** Without blanks at the end. */
function joined<Row>(cells: readonly ShownCell<Row>[], style: TerminalStyle): string {
  const last = cells.findLastIndex(({ text }) => text !== '');
  return cells
    .slice(0, last + 1)
    .map(({ column, text, color }, place) => {
      const blanks = ' '.repeat(Math.max(0, column.width - columnsOf(text)));
      const shown = paint(style, text, color);
      if (column.isRight) return blanks + shown;
      return place === last ? shown : shown + blanks;
    })
    .join(gap);
}

/** Lines of at most so many columns, broken between words; a longer word stays whole on a line of its own. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && columnsOf(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Names and values. */
export type Facts = readonly (readonly [name: string, value: string])[];

/** Narrowest column of values that is still broken between words. */
const leastFactColumns = 20;

/**
 * Names and values in two columns, every value printable; in a terminal long values are broken between words.
 * @param colorOf color of a name
 */
export function drawFacts(
  facts: Facts,
  style: TerminalStyle,
  colorOf: (fact: Facts[number]) => TextColor | null = () => null,
): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  const room = style.terminal
    ? Math.max(leastFactColumns, style.columns - width - gap.length)
    : Number.POSITIVE_INFINITY;
  return facts
    .flatMap((fact) => {
      const [name, value] = fact;
      const head = paint(style, name, colorOf(fact)) + ' '.repeat(width - name.length);
      return wrapWords(printable(value), room).map(
        (line, index) => `${index === 0 ? head : ' '.repeat(width)}${gap}${line}\n`,
      );
    })
    .join('');
}

/** CSV by RFC 4180; a cell that a spreadsheet would read as a formula is prefixed with an apostrophe. */
export function renderRows(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(text: string): string {
  const safe = printable(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
