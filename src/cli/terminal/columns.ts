import { columnsOf, pad, printable } from './printable.ts';

/** Rows as left-aligned columns with a title line; every cell is made printable. */
export function renderColumns(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [titles, ...rows.map((row) => row.map(printable))];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => columnsOf(row[column] ?? ''))));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => pad(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
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
