import { useRef } from 'react';
import type { DrawerProps } from '../../../components/controls/drawer.tsx';
import { count } from '../../../format/numbers.ts';

interface OpenRowOptions<Row> {
  rowAt(index: number): Row | undefined;
  total: number;
  keyOf(row: Row): string;
  openKey: string;
  onOpen(row: Row): void;
  /** A row that only says how many more there are has no drawer. */
  canOpen?(row: Row): boolean;
}

interface OpenRow<Row> {
  /** For the table. */
  onOpen(row: Row, index: number): void;
  /** For the drawer: which row it shows, and the way to its neighbors. */
  moves: Pick<DrawerProps, 'position' | 'onNext' | 'onPrevious'>;
}

/** Rows that are searched for the open one after a reload: those of the first page. */
const searched = 200;

/** The open row of a table that loads its rows as they come into view, and the rows beside it. */
export function useOpenRow<Row>(options: OpenRowOptions<Row>): OpenRow<Row> {
  const { rowAt, total, keyOf, openKey, onOpen, canOpen = () => true } = options;
  const last = useRef(0);
  const open = (row: Row, index: number) => {
    if (!canOpen(row)) return;
    last.current = index;
    onOpen(row);
  };
  const isAt = (index: number) => {
    const row = index < total ? rowAt(index) : undefined;
    return row !== undefined && keyOf(row) === openKey;
  };
  const find = () => {
    if (isAt(last.current)) return last.current;
    for (let index = 0; index < Math.min(total, searched); index++) if (isAt(index)) return index;
    return -1;
  };
  const at = openKey === '' ? -1 : find();
  if (at < 0) return { onOpen: open, moves: {} };
  const moveBy = (step: 1 | -1) => {
    for (let index = at + step; index >= 0 && index < total; index += step) {
      const row = rowAt(index);
      if (row === undefined) return undefined;
      if (canOpen(row)) return () => open(row, index);
    }
    return undefined;
  };
  return {
    onOpen: open,
    moves: {
      position: `${count(at + 1)} of ${count(total)}`,
      onNext: moveBy(1),
      onPrevious: moveBy(-1),
    },
  };
}
