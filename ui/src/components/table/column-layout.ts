import type { Column } from './table-props.ts';

type Sized = Pick<Column<never>, 'id' | 'width' | 'grow' | 'priority' | 'optional'>;

/** Between columns, pixels; as `gap-x-3`. */
export const columnGap = 12;

/** Columns to show, in their order. @param shown as chosen; undefined = all that are not optional */
export function chosenColumns<C extends Sized>(
  columns: readonly C[],
  shown: readonly string[] | undefined,
): C[] {
  return columns.filter(
    ({ id, optional, priority }) =>
      priority === 0 || (shown === undefined ? optional !== true : shown.includes(id)),
  );
}

/**
 * Columns that fit: those with the highest priority number leave first.
 * @param room width for columns, pixels
 */
export function fittingColumns<C extends Sized>(columns: readonly C[], room: number): C[] {
  const leaving = columns
    .filter(({ priority = 1 }) => priority > 0)
    .sort((a, b) => (b.priority ?? 1) - (a.priority ?? 1));
  const gone = new Set<C>();
  const needed = () => {
    const left = columns.filter((column) => !gone.has(column));
    return left.reduce((sum, { width }) => sum + width, 0) + columnGap * Math.max(0, left.length - 1);
  };
  for (const column of leaving) {
    if (needed() <= room) break;
    gone.add(column);
  }
  return columns.filter((column) => !gone.has(column));
}

/** `grid-template-columns`. @param leading width of the checkbox column, 0 without */
export function columnTemplate(columns: readonly Sized[], leading: number): string {
  const grows = columns.some(({ grow = 0 }) => grow > 0);
  const tracks = columns.map(({ width, grow = 0 }, index) => {
    // Without a column that grows the last one takes the rest, so that lines reach the edge.
    const share = grows ? grow : index === columns.length - 1 ? 1 : 0;
    return share > 0 ? `minmax(min(${width}px, 100%), ${share}fr)` : `minmax(0, ${width}px)`;
  });
  return [...(leading > 0 ? [`${leading}px`] : []), ...tracks].join(' ');
}

/** The same on paper: columns share its width, whatever that is. */
export function printedTemplate(columns: readonly Sized[], leading: number): string {
  const tracks = columns.map(({ width, grow = 0 }) => `minmax(0, ${width + grow * growthOnPaper}fr)`);
  return [...(leading > 0 ? [`${leading}px`] : []), ...tracks].join(' ');
}

/** What a share of the width that is left over is worth on paper, pixels. */
const growthOnPaper = 100;

/** The other direction for the sorted column, else its first one. */
export function nextSort(
  current: string | undefined,
  { sort, descendingFirst }: Pick<Column<never>, 'sort' | 'descendingFirst'>,
): string {
  const ascending = sort ?? '';
  const descending = `-${ascending}`;
  if (current === ascending) return descending;
  if (current === descending) return ascending;
  return descendingFirst ? descending : ascending;
}

/** Direction of a column under a sort of several fields, of which the first counts. */
export function directionOf(
  current: string | undefined,
  field: string | undefined,
): 'ascending' | 'descending' | 'none' {
  const first = current?.split(',')[0];
  if (field === undefined || first === undefined) return 'none';
  if (first === field) return 'ascending';
  return first === `-${field}` ? 'descending' : 'none';
}

/** Classes that part a text at the left from a number at the right of the column before it. */
export function gapAfter<Row>(before: Column<Row> | undefined, column: Column<Row>): string {
  return before?.align === 'right' && column.align !== 'right' ? 'pl-3' : '';
}
