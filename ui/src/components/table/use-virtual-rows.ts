import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import {
  afterScroll,
  anchorOf,
  bodyHeight,
  type ListSize,
  offsetOf,
  positionFor,
  type RowRange,
  rangeAt,
  type ScrollPosition,
} from './scroll-mapping.ts';

/** Rows that are drawn above and below the view. */
const beyond = 6;
/** Scrolling has ended when nothing moved for so long, milliseconds. */
const idleMs = 150;
/** Rows of one list that are printed. */
export const printedRows = 1000;

interface Drawn extends RowRange {
  /** Added to the place of each row, pixels. */
  shift: number;
}

export interface VirtualRows extends Drawn {
  /** Of the body, pixels. */
  height: number;
  /** Rows that fit into the view. */
  pageRows(): number;
  /** Moves as little as possible. */
  reveal(row: number): void;
  /** The first row that is fully in view. */
  firstInView(): number;
}

interface Options {
  rows: number;
  rowHeight: number;
  /** Of the head that sticks above the rows. */
  headHeight: number;
  body: RefObject<HTMLElement | null>;
  /** All rows are drawn one after the other. */
  isPrinting: boolean;
}

/**
 * Which rows of a long list are drawn and where, as its nearest scrolling ancestor scrolls. All rows have the
 * same height. Nothing is measured per row.
 */
export function useVirtualRows({ rows, rowHeight, headHeight, body, isPrinting }: Options): VirtualRows {
  const [drawn, setDrawn] = useState<Drawn>({ first: 0, last: Math.min(rows, 30) - 1, shift: 0 });
  const position = useRef<ScrollPosition>({ scroll: 0, offset: 0 });
  const scroller = useRef<HTMLElement | null>(null);
  /** Of the page, which sticks above everything that scrolls with it. */
  const topBar = useRef(0);

  const measure = useCallback(() => {
    const [element, box] = [body.current, scroller.current];
    if (element === null || box === null) return null;
    const isPage = box === document.scrollingElement;
    const boxTop = isPage ? topBar.current : box.getBoundingClientRect().top;
    const boxHeight = isPage ? window.innerHeight - topBar.current : box.clientHeight;
    const view = Math.max(rowHeight, boxHeight - headHeight);
    const scroll = boxTop + headHeight - element.getBoundingClientRect().top;
    const size: ListSize = { rows, rowHeight, view };
    // Above the list something else is in view: less of the list is.
    return { size, scroll: Math.max(0, scroll), above: Math.max(0, -scroll) };
  }, [body, headHeight, rowHeight, rows]);

  const draw = useCallback((size: ListSize) => {
    const { offset, scroll } = position.current;
    const { first, last } = rangeAt(offset, size, beyond);
    const shift = Math.round(scroll - offset);
    setDrawn((now) =>
      now.first === first && now.last === last && now.shift === shift ? now : { first, last, shift },
    );
  }, []);

  const follow = useCallback(() => {
    const measured = measure();
    if (measured === null) return;
    const { size, scroll } = measured;
    position.current = afterScroll(position.current, Math.min(scroll, bodyHeight(size)), size);
    draw(size);
  }, [measure, draw]);

  const anchor = useCallback(() => {
    const measured = measure();
    if (measured === null || scroller.current === null) return;
    const target = anchorOf(position.current, measured.size);
    if (target === null) return;
    const { offset } = position.current;
    scroller.current.scrollTop += target - position.current.scroll;
    position.current = { offset, scroll: target };
    draw(measured.size);
  }, [measure, draw]);

  useLayoutEffect(() => {
    const box = scrollerOf(body.current);
    scroller.current = box;
    topBar.current = Number.parseFloat(getComputedStyle(box).getPropertyValue('--topbar')) || 0;
    const source: HTMLElement | Document = box === document.scrollingElement ? document : box;
    let idle: ReturnType<typeof setTimeout> | undefined;
    const scrolled = () => {
      follow();
      clearTimeout(idle);
      idle = setTimeout(anchor, idleMs);
    };
    const resized = new ResizeObserver(follow);
    resized.observe(box);
    source.addEventListener('scroll', scrolled, { passive: true });
    follow();
    return () => {
      clearTimeout(idle);
      resized.disconnect();
      source.removeEventListener('scroll', scrolled);
    };
  }, [body, follow, anchor]);

  const reveal = (row: number) => {
    const measured = measure();
    if (measured === null || scroller.current === null || rows === 0) return;
    const { size, scroll, above } = measured;
    const inView = { ...size, view: Math.max(rowHeight, size.view - above) };
    const before = position.current;
    const after = positionFor(row, before, inView);
    if (after === before) return;
    scroller.current.scrollTop += after.scroll - scroll + above;
    const now = measure();
    position.current = {
      offset: Math.min(after.offset, offsetOf(Infinity, size)),
      scroll: now?.scroll ?? after.scroll,
    };
    draw(size);
  };

  return {
    ...(isPrinting ? { first: 0, last: Math.min(rows, printedRows) - 1, shift: 0 } : clipped(drawn, rows)),
    height: isPrinting ? Math.min(rows, printedRows) * rowHeight : bodyHeight({ rows, rowHeight, view: 0 }),
    pageRows: () => Math.max(1, Math.floor((measure()?.size.view ?? rowHeight) / rowHeight) - 1),
    reveal,
    firstInView: () => Math.min(rows - 1, Math.ceil(position.current.offset / rowHeight)),
  };
}

/** The list may have become shorter since it was drawn. */
function clipped({ first, last, shift }: Drawn, rows: number): Drawn {
  return { first: Math.min(first, Math.max(0, rows - 1)), last: Math.min(last, rows - 1), shift };
}

/** The nearest ancestor that scrolls, else the page. */
function scrollerOf(element: HTMLElement | null): HTMLElement {
  for (let box = element?.parentElement; box; box = box.parentElement) {
    if (/^(auto|scroll)$/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement as HTMLElement;
}
