import type { KeyboardEvent, RefObject } from 'react';
import { controlsOf } from './grid-row.tsx';

interface Options {
  root: RefObject<HTMLElement | null>;
  /** Row that the keys act on; -1 without rows. */
  active: number;
  total: number;
  pageRows(): number;
  setActive(index: number): void;
  open(index: number): void;
  /** Absent where rows cannot be selected. */
  select: ((index: number, toRange: boolean) => void) | undefined;
  selectAll: (() => void) | undefined;
  /** @returns whether something was unfolded (`wanted`) or folded */
  fold(index: number, wanted: boolean): boolean;
  /** Row that the row is folded into; null at the outermost level. */
  parentOf(index: number): number | null;
}

type Handler = (event: KeyboardEvent<HTMLElement>) => void;

/** Keys of a table. The focus is on a row, on a control within it, or on a head. */
export function useGridKeys(options: Options): Handler {
  const { root, active, total } = options;

  const goTo = (index: number, event: KeyboardEvent) => {
    const next = Math.max(0, Math.min(total - 1, index));
    options.setActive(next);
    if (event.shiftKey && options.select !== undefined) options.select(next, true);
  };

  const rowElement = () => root.current?.querySelector<HTMLElement>(`[data-row="${active}"]`) ?? null;
  const controls = () => controlsOf(rowElement());
  const focusRow = () => rowElement()?.focus({ preventScroll: true });

  const onGrid: Handler = (event) => {
    const row = Math.max(0, active);
    const actions: Record<string, () => void> = {
      ArrowDown: () => goTo(row + 1, event),
      ArrowUp: () => goTo(row - 1, event),
      PageDown: () => goTo(row + options.pageRows(), event),
      PageUp: () => goTo(row - options.pageRows(), event),
      Home: () => goTo(0, event),
      End: () => goTo(total - 1, event),
      Enter: () => options.open(row),
      ' ': () => options.select?.(row, event.shiftKey),
      ArrowRight: () => {
        if (!options.fold(row, true)) controls()[0]?.focus();
      },
      ArrowLeft: () => {
        const parent = options.parentOf(row);
        if (!options.fold(row, false) && parent !== null) options.setActive(parent);
      },
      F2: () => controls()[0]?.focus(),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    // Space would scroll the page, also where nothing can be selected.
    event.preventDefault();
    action();
  };

  const onControl: Handler = (event) => {
    const [inRow, target] = [controls(), event.target as HTMLElement];
    const place = inRow.indexOf(target);
    if (event.key === 'Escape') focusRow();
    else if (event.key === 'ArrowRight') inRow[place + 1]?.focus();
    else if (event.key === 'ArrowLeft' && place > 0) inRow[place - 1]?.focus();
    else if (event.key === 'ArrowLeft') focusRow();
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      focusRow();
      onGrid(event);
    } else return;
    event.preventDefault();
    // Escape would also close the drawer beside the table.
    event.stopPropagation();
  };

  return (event) => {
    if (total === 0 || event.altKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    // Keys in the menu of a value arrive here too; it lies outside of the table.
    if (!event.currentTarget.contains(target)) return;
    const row = target.closest('[data-row]');
    if (row === null) {
      if (event.key === 'ArrowDown') focusRow();
    } else if (target !== row) onControl(event);
    else if (event.ctrlKey && event.key === 'a') {
      if (options.selectAll === undefined) return;
      event.preventDefault();
      options.selectAll();
    } else if (!event.ctrlKey || event.key === 'Home' || event.key === 'End') onGrid(event);
  };
}
