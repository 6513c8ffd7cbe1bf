import {
  type CSSProperties,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { count } from '../../format/numbers.ts';
import { LoadingRows } from '../states/loading-rows.tsx';
import { chosenColumns, columnTemplate, fittingColumns, printedTemplate } from './column-layout.ts';
import { GridHead } from './grid-head.tsx';
import { GridRow, type RowAction } from './grid-row.tsx';
import { PhoneSort } from './phone-sort.tsx';
import { allOrNone, toggled, withRange } from './row-selection.ts';
import type { Column, DataTableProps } from './table-props.ts';
import { useGridKeys } from './use-grid-keys.ts';
import { useIsPhone } from './use-is-phone.ts';
import { useIsPrinting } from './use-is-printing.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

/** Heights, pixels: the head with its line, rows by density and lines, two lines on phones. */
const headHeight = 28;
const rowHeights = { dense: 28, normal: 36, twoLines: 48, phone: 56 } as const;
/** Width of the checkbox column, pixels. */
const checkWidth = 20;
/** Space left and right of the columns, pixels; as `px-2`. */
const sidePadding = 16;
/** Width of a sheet of A4 between its margins, pixels. */
const paperWidth = 700;

/**
 * A table of any length: only the rows in view are in the page. Works by keyboard (arrows, Page keys, Home, End;
 * Enter opens, Space selects, → and ← unfold and fold, → also enters the row's own buttons and links, Escape
 * leaves them). It scrolls with its nearest scrolling ancestor and never moves by itself.
 */
export function DataTable<Row>(props: DataTableProps<Row>): ReactNode {
  const { label, rows, rowKey, sort, onSort, openKey, selected, onSelect, tree, empty } = props;
  const total = props.total ?? rows?.length ?? 0;
  const rowAt = (index: number) => (rows === undefined ? props.rowAt?.(index) : rows[index]);

  const root = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const id = useId();
  const isPrinting = useIsPrinting();
  const isPhone = useIsPhone() && !isPrinting && props.phoneRow !== undefined;
  const width = useWidth(root);
  const room = (isPrinting ? paperWidth : width) - sidePadding;
  const hasChecks = onSelect !== undefined;
  const leading = hasChecks ? checkWidth : 0;
  const columns = useFitting(props, room - (hasChecks ? leading + 12 : 0));
  const rowHeight = heightOf(props, isPhone);

  const virtual = useVirtualRows({
    rows: total,
    rowHeight,
    headHeight: isPhone ? 0 : headHeight,
    body,
    isPrinting,
  });
  const [active, setActive] = useState(-1);
  // Until the reader is at a row, Tab reaches the first one in view.
  const current = Math.min(active < 0 ? virtual.firstInView() : active, total - 1);
  const focus = useRowFocus(root, current);
  const anchor = useRef(0);

  const select = (index: number, toRange: boolean) => {
    const row = rowAt(index);
    if (row === undefined || onSelect === undefined || selected === undefined) return;
    const keyAt = (k: number) => {
      const each = rowAt(k);
      return each === undefined ? undefined : rowKey(each);
    };
    onSelect(toRange ? withRange(selected, [anchor.current, index], keyAt) : toggled(selected, rowKey(row)));
    if (!toRange) anchor.current = index;
  };
  const open = (index: number) => {
    const row = rowAt(index);
    if (row === undefined) return;
    if (props.onOpen !== undefined) props.onOpen(row, index);
    else if (tree?.expanded(row) !== undefined) tree.toggle(row, index);
  };
  const toggle = (index: number) => {
    const row = rowAt(index);
    if (row !== undefined) tree?.toggle(row, index);
  };
  const keys = rows?.map(rowKey);
  const selectAll =
    keys === undefined || onSelect === undefined || selected === undefined
      ? undefined
      : () => onSelect(allOrNone(selected, keys));

  const onKeyDown = useGridKeys({
    root,
    active: current,
    total,
    pageRows: virtual.pageRows,
    setActive: (index) => {
      setActive(index);
      virtual.reveal(index);
      focus.focusRow(index);
    },
    open,
    select: hasChecks ? select : undefined,
    selectAll,
    fold: (index, wanted) => {
      const row = rowAt(index);
      const expanded = row === undefined ? undefined : tree?.expanded(row);
      if (expanded === undefined || expanded === wanted) return false;
      toggle(index);
      return true;
    },
    parentOf: (index) => parentOf(index, rowAt, tree),
  });

  const onAction = useLatest((action: RowAction, index: number, event: MouseEvent) => {
    setActive(index);
    if (action === 'select') select(index, event.shiftKey);
    else if (action === 'toggle') toggle(index);
    else if (event.shiftKey && hasChecks) select(index, true);
    else open(index);
  });

  const line = (index: number) => {
    const row = rowAt(index);
    const key = row === undefined ? undefined : rowKey(row);
    return (
      <GridRow
        key={index}
        id={`${id}-${index}`}
        row={row}
        index={index}
        top={isPrinting ? null : index * rowHeight + virtual.shift}
        height={rowHeight}
        columns={columns}
        hasChecks={hasChecks}
        isActive={index === current}
        isSelected={key !== undefined && selected?.has(key) === true}
        isOpen={key !== undefined && key === openKey}
        canOpen={props.onOpen !== undefined || (row !== undefined && tree?.expanded(row) !== undefined)}
        level={row === undefined ? undefined : tree?.level(row)}
        expanded={row === undefined ? undefined : tree?.expanded(row)}
        phoneRow={isPhone ? props.phoneRow : undefined}
        wholeRow={props.wholeRow}
        onAction={onAction}
        onFocus={setActive}
      />
    );
  };
  const last = isPrinting ? lastLoaded(rowAt, virtual.last) : virtual.last;
  const drawn = indices(virtual.first, last);
  // The row with the focus stays in the page when it is out of view: the focus must not get lost.
  if (current >= 0 && !drawn.includes(current)) drawn.push(current);

  return (
    <>
      {isPhone && onSort !== undefined && <PhoneSort columns={props.columns} sort={sort} onSort={onSort} />}
      <div
        ref={root}
        role={tree === undefined ? 'grid' : 'treegrid'}
        aria-label={label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length + (hasChecks ? 1 : 0)}
        aria-multiselectable={hasChecks || undefined}
        aria-busy={props.isPending || undefined}
        className="w-full min-w-0"
        style={templates(columns, leading)}
        onKeyDown={onKeyDown}
        {...focus.events}
      >
        {!isPhone && (
          <GridHead
            columns={columns}
            sort={sort}
            onSort={onSort}
            hasChecks={hasChecks}
            {...(selectAll !== undefined && {
              all: {
                checked: total > 0 && keys?.every((key) => selected?.has(key)) === true,
                some: (selected?.size ?? 0) > 0,
                toggle: selectAll,
              },
            })}
          />
        )}
        <div
          ref={body}
          role="rowgroup"
          className={`relative ${props.isPending === true ? 'opacity-60' : ''}`}
          style={{ height: virtual.height }}
        >
          {drawn.map(line)}
        </div>
      </div>
      {isPrinting && last < total - 1 && (
        <p className="pt-2">
          The first {count(last + 1)} of {count(total)} rows. The exports have all of them.
        </p>
      )}
      {total === 0 &&
        (props.isPending === true ? (
          <LoadingRows rows={12} height={rowHeight === rowHeights.phone ? 48 : rowHeight} />
        ) : (
          empty
        ))}
    </>
  );
}

/** Grid templates of the screen and of paper. */
function templates<Row>(columns: readonly Column<Row>[], leading: number): CSSProperties {
  const names = {
    '--columns': columnTemplate(columns, leading),
    '--printed-columns': printedTemplate(columns, leading),
  };
  return names as CSSProperties;
}

/** Rows that are not loaded cannot be printed. */
function lastLoaded(rowAt: (index: number) => unknown, last: number): number {
  let loaded = -1;
  while (loaded < last && rowAt(loaded + 1) !== undefined) loaded += 1;
  return loaded;
}

function heightOf(
  { dense = true, lines = 1 }: Pick<DataTableProps<unknown>, 'dense' | 'lines'>,
  isPhone: boolean,
) {
  if (isPhone) return rowHeights.phone;
  if (lines === 2) return rowHeights.twoLines;
  return dense ? rowHeights.dense : rowHeights.normal;
}

/** The focus of a table: put on rows as soon as they are there, and not lost when a row goes. */
function useRowFocus(root: RefObject<HTMLElement | null>, current: number) {
  const wanted = useRef<number | null>(null);
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    // An element that is removed loses the focus without an event.
    const isLost = hasFocus.current && document.activeElement === document.body;
    const index = wanted.current ?? (isLost ? current : null);
    wanted.current = null;
    if (index !== null) rowOf(root, index)?.focus({ preventScroll: true });
  });
  return {
    focusRow: (index: number) => {
      wanted.current = index;
      rowOf(root, index)?.focus({ preventScroll: true });
    },
    events: {
      onFocus: () => {
        hasFocus.current = true;
      },
      onBlur: () => {
        hasFocus.current = false;
      },
    },
  };
}

function rowOf(root: RefObject<HTMLElement | null>, index: number): HTMLElement | null {
  return root.current?.querySelector<HTMLElement>(`[data-row="${index}"]`) ?? null;
}

/** Columns that the reader chose and that fit. The same array while nothing changed. */
function useFitting<Row>({ columns, shown }: DataTableProps<Row>, room: number) {
  const fitting =
    room > 0 ? fittingColumns(chosenColumns(columns, shown), room) : chosenColumns(columns, shown);
  const former = useRef(fitting);
  const isSame =
    former.current.length === fitting.length && fitting.every((column, k) => column === former.current[k]);
  if (!isSame) former.current = fitting;
  return former.current;
}

/** The width of an element, pixels; 0 before it is known. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return;
    setWidth(box.clientWidth);
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** A function that stays the same object and does what its latest version does. */
function useLatest<A extends unknown[]>(latest: (...args: A) => void): (...args: A) => void {
  const ref = useRef(latest);
  useLayoutEffect(() => {
    ref.current = latest;
  });
  return useCallback((...args: A) => ref.current(...args), []);
}

function parentOf<Row>(
  index: number,
  rowAt: (index: number) => Row | undefined,
  tree: DataTableProps<Row>['tree'],
): number | null {
  const row = rowAt(index);
  if (row === undefined || tree === undefined || tree.level(row) === 1) return null;
  for (let k = index - 1; k >= 0; k--) {
    const above = rowAt(k);
    if (above === undefined) return null;
    if (tree.level(above) < tree.level(row)) return k;
  }
  return null;
}

function indices(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => first + k);
}
