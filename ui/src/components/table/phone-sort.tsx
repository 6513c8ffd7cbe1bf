import type { ReactNode } from 'react';
import { directionOf } from './column-layout.ts';
import type { Column } from './table-props.ts';

interface Props<Row> {
  columns: readonly Column<Row>[];
  sort: string | undefined;
  onSort(sort: string): void;
}

/** Stands for the heads where rows have two lines. */
export function PhoneSort<Row>({ columns, sort, onSort }: Props<Row>): ReactNode {
  const sortable = columns.filter((column) => column.sort !== undefined);
  const options = sortable.flatMap(({ head, sort: field, descendingFirst }) => {
    const both = [
      { value: field as string, text: `${head}, ascending` },
      { value: `-${field}`, text: `${head}, descending` },
    ];
    return descendingFirst ? both.reverse() : both;
  });
  const current = options.find(({ value }) => value === sort?.split(',')[0]);
  const isKnown = sortable.some((column) => directionOf(sort, column.sort) !== 'none');
  return (
    <label className="flex h-11 items-center gap-2 text-size-12 text-text-2">
      Sorted by
      <select
        className="h-11 min-w-0 rounded-m border border-line-control bg-surface-1 px-2 text-size-16 text-text-1"
        value={current?.value ?? ''}
        onChange={(event) => onSort(event.target.value)}
      >
        {!isKnown && <option value="">default</option>}
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
