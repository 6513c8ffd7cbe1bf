/**
 * Height of the tallest list, pixels: 500,000 rows of 28 px. Firefox draws nothing beyond some 17.9 million; the
 * scroll positions of longer lists are mapped onto this height.
 */
export const tallestPixels = 14_000_000;

/** Sizes of a list of equally high rows, pixels. */
export interface ListSize {
  rows: number;
  rowHeight: number;
  /** Height of the part in view. */
  view: number;
}

/** Where a list stands. */
export interface ScrollPosition {
  /** Pixels that the scroll bar is away from the top. */
  scroll: number;
  /** Pixels of rows above the view. */
  offset: number;
}

/** Rows that are drawn. */
export interface RowRange {
  first: number;
  /** Inclusive; -1 for none. */
  last: number;
}

export function bodyHeight({ rows, rowHeight }: ListSize): number {
  return Math.min(rows * rowHeight, tallestPixels);
}

/** Rows above the view when the scroll bar stands at `scroll`, in proportion. */
export function offsetOf(scroll: number, size: ListSize): number {
  const [reach, full] = reaches(size);
  return reach <= 0 ? 0 : (clamp(scroll, 0, reach) / reach) * full;
}

/** Where the scroll bar belongs for so many pixels of rows above the view. */
export function scrollOf(offset: number, size: ListSize): number {
  const [reach, full] = reaches(size);
  return full <= 0 ? 0 : (clamp(offset, 0, full) / full) * reach;
}

/**
 * The position after the scroll bar moved. A short way moves rows as far as the scroll bar, so that they stay
 * below the finger; a long one goes to the part of the list that the scroll bar points to.
 */
export function afterScroll(before: ScrollPosition, scroll: number, size: ListSize): ScrollPosition {
  if (!isMapped(size)) return { scroll, offset: offsetOf(scroll, size) };
  const way = scroll - before.scroll;
  if (Math.abs(way) > 2 * size.view) return { scroll, offset: offsetOf(scroll, size) };
  const [reach, full] = reaches(size);
  const offset = clamp(before.offset + way, 0, full);
  if (scroll <= 0 && offset < size.view) return { scroll, offset: 0 };
  if (scroll >= reach && offset > full - size.view) return { scroll, offset: full };
  return { scroll, offset };
}

/**
 * Short ways let scroll bar and rows drift apart.
 * @returns where the scroll bar belongs, null when it stands there
 */
export function anchorOf(position: ScrollPosition, size: ListSize): number | null {
  if (!isMapped(size)) return null;
  const scroll = scrollOf(position.offset, size);
  return Math.abs(scroll - position.scroll) < 1 ? null : scroll;
}

/** The position at which a row is in view, moved as little as possible. */
export function positionFor(row: number, before: ScrollPosition, size: ListSize): ScrollPosition {
  const top = row * size.rowHeight;
  const bottom = top + size.rowHeight;
  const offset =
    top < before.offset ? top : bottom > before.offset + size.view ? bottom - size.view : before.offset;
  if (offset === before.offset) return before;
  const isNear = Math.abs(offset - before.offset) <= 2 * size.view;
  if (!isMapped(size) || !isNear) return { offset, scroll: scrollOf(offset, size) };
  const scroll = before.scroll + offset - before.offset;
  const [reach] = reaches(size);
  return scroll < 0 || scroll > reach ? { offset, scroll: scrollOf(offset, size) } : { offset, scroll };
}

/** @param beyond rows that are drawn above and below the view */
export function rangeAt(offset: number, { rows, rowHeight, view }: ListSize, beyond: number): RowRange {
  const first = Math.max(0, Math.floor(offset / rowHeight) - beyond);
  const last = Math.min(rows - 1, Math.ceil((offset + view) / rowHeight) - 1 + beyond);
  return { first: Math.min(first, Math.max(0, rows - 1)), last };
}

function isMapped({ rows, rowHeight }: ListSize): boolean {
  return rows * rowHeight > tallestPixels;
}

/** How far the scroll bar and the rows can move. */
function reaches(size: ListSize): [reach: number, full: number] {
  return [bodyHeight(size) - size.view, size.rows * size.rowHeight - size.view];
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
