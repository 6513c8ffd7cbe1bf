import type { ReactNode } from 'react';

/** One column of a table. */
export interface Column<Row> {
  /** In the URL and in `shown`; stable. */
  id: string;
  head: string;
  /** Longer name, in the chooser and as tooltip of the head. */
  title?: string;
  /** Smallest width, pixels. */
  width: number;
  /** Share of the width that is left over; 0 or absent keeps `width`. */
  grow?: number;
  align?: 'left' | 'right';
  /** As width shrinks, the column with the highest number leaves first; 0 stays always. */
  priority?: number;
  /** Field of `sort`; absent = cannot be sorted by. */
  sort?: string;
  /** The first click sorts descending: counts, severities, times. */
  descendingFirst?: boolean;
  /** Off until the reader chooses it. */
  optional?: boolean;
  /** Also takes the room of the columns after it that are null in a row. */
  spills?: boolean;
  /** @param index of the row in the whole list */
  cell(row: Row, index: number): ReactNode;
}

/** How rows nest. All levels of rows are in one list, children after their parent. */
export interface TableTree<Row> {
  /** 1 for the outermost rows. */
  level(row: Row): number;
  /** Undefined for a row that cannot be unfolded. */
  expanded(row: Row): boolean | undefined;
  toggle(row: Row, index: number): void;
}

export interface DataTableProps<Row> {
  /** Name of the table for screen readers, "Hosts". */
  label: string;
  columns: readonly Column<Row>[];
  /** All rows, or `rowAt` and `total`. */
  rows?: readonly Row[];
  /** Undefined while the row is not loaded. Called for the rows in view only. */
  rowAt?(index: number): Row | undefined;
  total?: number;
  /** Identity of a row for selection; unique within the table. */
  rowKey(row: Row): string;
  /** Ids of the columns to show; absent = all that are not optional. */
  shown?: readonly string[];
  /** Field, with `-` in front for descending: `-severity`. */
  sort?: string;
  onSort?(sort: string): void;
  /** Enter, or a click on the row. */
  onOpen?(row: Row, index: number): void;
  /** Key of the row whose drawer is open. */
  openKey?: string | null;
  selected?: ReadonlySet<string>;
  /** With it rows get checkboxes and Space selects. */
  onSelect?(selected: ReadonlySet<string>): void;
  tree?: TableTree<Row>;
  /** Rows of 28 px, else of 36 px. Default: dense. */
  dense?: boolean;
  /** 2: cells of two lines, rows of 48 px. */
  lines?: 1 | 2;
  /** Two lines that stand for the row below 720 px. */
  phoneRow?(row: Row, index: number): ReactNode;
  /** A row of one cell over all columns, "2 more services do not match"; null for a normal row. */
  wholeRow?(row: Row, index: number): ReactNode;
  /** Shown instead of rows when there are none. */
  empty?: ReactNode;
  /** The rows are those of former parameters. */
  isPending?: boolean;
}

/** For `<ColumnChooser>`, the menu that shows and hides columns. */
export interface ColumnChooserProps {
  columns: readonly { id: string; head: string; title?: string; optional?: boolean; priority?: number }[];
  /** As in `DataTableProps`. */
  shown: readonly string[] | undefined;
  /** Undefined = back to the default. */
  onShown(shown: readonly string[] | undefined): void;
}

export type RecordType = 'host' | 'port' | 'vulnerability' | 'compliance' | 'extra' | 'error';

/** What `useRecordRows` reads. Empty texts are left out of the request. */
export interface RecordQuery {
  type?: RecordType;
  q?: string;
  sort?: string;
  /** Of findings: equal ones of a host are one row with their ports. */
  join?: 'ports';
}

/** Members that a query matches, of the whole scan. */
export interface Matches {
  hosts: number;
  ports: number;
  findings: number;
}
