import { print } from '../output.ts';
import { drawFacts, drawTable, type Facts, type Narrowing, type TableColumn } from './columns.ts';
import { styleOf } from './style.ts';

/** Prints a table as its reader sees it: fitted into a terminal, whole elsewhere. */
export function printTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  flags: { color: boolean },
  narrowing: Narrowing = [],
): void {
  print(drawTable(columns, rows, styleOf(process.stdout, flags), narrowing));
}

/** The same for names and values. */
export function printFacts(facts: Facts, flags: { color: boolean }): void {
  print(drawFacts(facts, styleOf(process.stdout, flags)));
}
