import { type MouseEvent, memo, type ReactNode, useLayoutEffect, useRef } from 'react';
import { Icon } from '../icons/icon.tsx';
import { gapAfter } from './column-layout.ts';
import type { Column } from './table-props.ts';

/** What a reader does with a row. */
export type RowAction = 'open' | 'toggle' | 'select';

interface Props<Row> {
  id: string;
  row: Row | undefined;
  index: number;
  /** Pixels from the top of the body; null = after the row before it. */
  top: number | null;
  height: number;
  columns: readonly Column<Row>[];
  hasChecks: boolean;
  /** Tab reaches this row and its controls, arrow keys reach the others. */
  isActive: boolean;
  isSelected: boolean;
  isOpen: boolean;
  canOpen: boolean;
  level: number | undefined;
  expanded: boolean | undefined;
  phoneRow: ((row: Row, index: number) => ReactNode) | undefined;
  wholeRow: ((row: Row, index: number) => ReactNode) | undefined;
  onAction(action: RowAction, index: number, event: MouseEvent): void;
  onFocus(index: number): void;
}

/** One row. It is drawn again only when something of it changed, not as the table scrolls. */
export const GridRow = memo(PlainRow) as typeof PlainRow;

function PlainRow<Row>(props: Props<Row>) {
  const { id, row, index, top, height, hasChecks, isActive, isSelected, isOpen, canOpen, level, expanded } =
    props;
  const ground = isOpen || isSelected ? 'bg-accent-soft' : canOpen ? 'hover:bg-surface-2' : '';
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    for (const control of controlsOf(element.current)) control.tabIndex = isActive ? 0 : -1;
  });
  return (
    <div
      ref={element}
      id={id}
      role="row"
      tabIndex={isActive ? 0 : -1}
      data-row={index}
      aria-rowindex={index + 2}
      aria-level={level}
      aria-expanded={expanded}
      aria-selected={hasChecks ? isSelected : undefined}
      aria-current={isOpen || undefined}
      aria-busy={row === undefined || undefined}
      className={`${top === null ? 'relative' : 'absolute'} group/row inset-x-0 grid items-center gap-x-3 border-b border-line-subtle px-2 outline-focus focus-visible:outline-2 focus-visible:-outline-offset-2 ${
        props.phoneRow === undefined ? 'grid-cols-(--columns)' : 'grid-cols-1'
      } ${canOpen ? 'cursor-pointer' : ''} ${ground} ${isOpen ? 'shadow-[inset_2px_0_0_var(--accent)]' : ''}`}
      style={{ height, top: top ?? undefined }}
      onFocus={() => props.onFocus(index)}
      onClick={(event) => {
        if (!isOnControl(event) && !hasSelectedText()) props.onAction('open', index, event);
      }}
    >
      {row === undefined ? <LoadingCells {...props} /> : <Cells {...props} row={row} />}
    </div>
  );
}

function Cells<Row>(props: Props<Row> & { row: Row }) {
  const { row, index, columns, hasChecks, isSelected, phoneRow, wholeRow } = props;
  const whole = wholeRow?.(row, index) ?? null;
  if (whole !== null) return <WholeCell {...props}>{whole}</WholeCell>;
  if (phoneRow !== undefined) return <WholeCell {...props}>{phoneRow(row, index)}</WholeCell>;
  return (
    <>
      {hasChecks && (
        <div role="gridcell" aria-colindex={1} className="flex items-center">
          <Check isSelected={isSelected} onClick={(event) => props.onAction('select', index, event)} />
        </div>
      )}
      {drawnCells(columns, row, index).map(({ column, place, span, content }) => (
        <div
          key={column.id}
          role="gridcell"
          aria-colindex={place + (hasChecks ? 2 : 1)}
          aria-colspan={span > 1 ? span : undefined}
          className={`flex min-w-0 items-center whitespace-nowrap ${column.align === 'right' ? 'justify-end text-right' : ''} ${gapAfter(columns[place - 1], column)}`}
          style={span > 1 ? { gridColumn: `span ${span}` } : undefined}
        >
          {place === 0 && <Fold {...props} />}
          <div className="min-w-0 truncate">{content}</div>
        </div>
      ))}
    </>
  );
}

interface DrawnCell<Row> {
  column: Column<Row>;
  place: number;
  /** Columns it is wide. */
  span: number;
  content: ReactNode;
}

/** The cells of a row. One that spills stands for the empty ones after it too. */
function drawnCells<Row>(columns: readonly Column<Row>[], row: Row, index: number): DrawnCell<Row>[] {
  const cells: DrawnCell<Row>[] = [];
  for (const [place, column] of columns.entries()) {
    const content = column.cell(row, index);
    const last = cells.at(-1);
    if (content === null && last?.column.spills) last.span += 1;
    else cells.push({ column, place, span: 1, content });
  }
  return cells;
}

function WholeCell<Row>(props: Props<Row> & { children: ReactNode }) {
  const { columns, hasChecks, phoneRow, isSelected, index } = props;
  return (
    <div
      role="gridcell"
      aria-colindex={1}
      aria-colspan={columns.length + (hasChecks ? 1 : 0)}
      className="col-span-full flex min-w-0 items-center text-text-2"
    >
      {hasChecks && phoneRow !== undefined && (
        <span className="mr-2 flex p-2">
          <Check isSelected={isSelected} onClick={(event) => props.onAction('select', index, event)} />
        </span>
      )}
      <Fold {...props} />
      <div className="min-w-0 grow">{props.children}</div>
    </div>
  );
}

/** The sign that unfolds a row, after the space of its level. */
function Fold<Row>({ level, expanded, index, onAction }: Props<Row>) {
  if (level === undefined) return null;
  return (
    <span className="flex shrink-0 items-center" style={{ paddingLeft: (level - 1) * 20 }}>
      {expanded === undefined ? (
        <span className="w-6" />
      ) : (
        <button
          type="button"
          tabIndex={-1}
          aria-label={expanded ? 'Fold' : 'Unfold'}
          className="flex size-6 items-center justify-center rounded-s text-text-2 hover:bg-surface-3"
          onClick={(event) => onAction('toggle', index, event)}
        >
          <Icon name={expanded ? 'down' : 'right'} size={14} />
        </button>
      )}
    </span>
  );
}

function Check({ isSelected, onClick }: { isSelected: boolean; onClick(event: MouseEvent): void }) {
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label="Select row"
      className="m-0 size-3.5 accent-accent pointer-coarse:size-6"
      checked={isSelected}
      readOnly
      onClick={onClick}
    />
  );
}

function LoadingCells<Row>({ columns, hasChecks, phoneRow }: Props<Row>) {
  const shown = phoneRow === undefined ? columns : columns.slice(0, 1);
  return (
    <>
      {hasChecks && phoneRow === undefined && <div role="gridcell" />}
      {shown.map((column) => (
        <div key={column.id} role="gridcell" className={column.align === 'right' ? 'flex justify-end' : ''}>
          <span className="block h-2 w-3/5 max-w-32 rounded-s bg-surface-3" />
        </div>
      ))}
    </>
  );
}

/** What can be pressed within a row. */
export function controlsOf(row: Element | null): HTMLElement[] {
  return [...(row?.querySelectorAll<HTMLElement>('a, button, input, select') ?? [])];
}

/** A button, link or field in the row does something else than the row; so does a menu that one of them opened. */
function isOnControl({ target, currentTarget }: MouseEvent): boolean {
  const control = (target as Element).closest('a, button, input, select');
  return !currentTarget.contains(target as Element) || (control !== null && currentTarget.contains(control));
}

/** Somebody who marks text does not open the row. */
function hasSelectedText(): boolean {
  return (window.getSelection()?.toString() ?? '') !== '';
}
