import type { KeyboardEvent } from 'react';
import { Icon } from '../icons/icon.tsx';
import { directionOf, gapAfter, nextSort } from './column-layout.ts';
import type { Column } from './table-props.ts';

interface Props<Row> {
  columns: readonly Column<Row>[];
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
  /** State of the checkbox that selects all rows; absent without one. */
  all?: { checked: boolean; some: boolean; toggle(): void };
  hasChecks: boolean;
}

/** The heads of the columns. Tab reaches the sorted one, arrow keys the others. */
export function GridHead<Row>({ columns, sort, onSort, all, hasChecks }: Props<Row>) {
  const sortable = columns.filter((column) => column.sort !== undefined && onSort !== undefined);
  const sorted = sortable.find((column) => directionOf(sort, column.sort) !== 'none') ?? sortable[0];
  return (
    <div role="rowgroup" className="sticky top-(--head-top) z-(--z-sticky) bg-surface-1">
      <div
        role="row"
        aria-rowindex={1}
        className="grid h-7 grid-cols-(--columns) items-center gap-x-3 border-b border-line px-2 text-size-11 text-text-2"
        onKeyDown={moveBetweenHeads}
      >
        {hasChecks && (
          <div role="columnheader" aria-colindex={1} className="flex items-center">
            {all === undefined ? (
              <span className="sr-only">Selected</span>
            ) : (
              <input
                type="checkbox"
                tabIndex={-1}
                aria-label="Select all rows"
                className="m-0 size-3.5 accent-accent"
                checked={all.checked}
                ref={(box) => {
                  if (box !== null) box.indeterminate = all.some && !all.checked;
                }}
                onChange={all.toggle}
              />
            )}
          </div>
        )}
        {columns.map((column, index) => (
          <HeadCell
            key={column.id}
            column={column}
            follows={columns[index - 1]}
            place={index + (hasChecks ? 2 : 1)}
            sort={sort}
            onSort={onSort}
            tabIndex={column === sorted ? 0 : -1}
          />
        ))}
      </div>
    </div>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  /** The column to its left. */
  follows: Column<Row> | undefined;
  place: number;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
  tabIndex: number;
}

function HeadCell<Row>({ column, follows, place, sort, onSort, tabIndex }: CellProps<Row>) {
  const direction = directionOf(sort, column.sort);
  const isSortable = column.sort !== undefined && onSort !== undefined;
  const side = column.align === 'right' ? 'justify-end text-right' : 'justify-start text-left';
  return (
    <div
      role="columnheader"
      aria-colindex={place}
      aria-sort={isSortable ? direction : undefined}
      title={column.title}
      className={`flex min-w-0 ${side} ${gapAfter(follows, column)}`}
    >
      {isSortable ? (
        <button
          type="button"
          tabIndex={tabIndex}
          data-head
          className={`flex h-6 min-w-0 items-center gap-1 rounded-s hover:text-text-1 ${direction === 'none' ? '' : 'font-medium text-text-1'}`}
          onClick={() => onSort(nextSort(sort, column))}
        >
          <span className="truncate">{column.head}</span>
          {direction !== 'none' && (
            <span className={direction === 'descending' ? 'flex rotate-180' : 'flex'}>
              <Icon name="up" size={14} />
            </span>
          )}
        </button>
      ) : (
        <span className="truncate">{column.head}</span>
      )}
    </div>
  );
}

function moveBetweenHeads(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const heads = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-head]')];
  const next = heads[heads.indexOf(event.target as HTMLElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
