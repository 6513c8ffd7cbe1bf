import type { ReactNode } from 'react';
import type { FieldValue } from './query-edit.ts';

/** A value that completion offers. */
export interface Suggestion {
  value: string;
  /** Rows that have it; absent when nobody counted. */
  count?: number;
}

export interface QueryBarProps {
  /** The query's text, usually the `q` of the URL. */
  value: string;
  /** Called with a text that parses: on Enter, on a chosen completion, when a chip goes. */
  onChange(value: string): void;
  /** Values of a field that begin with or contain the text. */
  suggest?(field: string, text: string, signal: AbortSignal): Promise<readonly Suggestion[]>;
  /** "Filter hosts". */
  label?: string;
  placeholder?: string;
  /** Problem of `value` that the server found; shown like our own. */
  problem?: string | null;
}

export interface FacetsProps {
  scanId: string;
  q: string;
  onChange(q: string): void;
  /** Fields in this order; absent = severity, port, product, kev, os, device. */
  fields?: readonly string[];
  /** The rows of a new query are on their way: its values are counted when they are there. */
  isPending?: boolean;
  /** Changes when the counts are outdated. */
  revision?: number | string;
}

export interface ValueMenuProps {
  /** A field of the query language. */
  field: string;
  /** Of a result; null stands for rows without one. */
  value: FieldValue;
  /** Search parameter that holds the query. */
  param?: string;
  /** What is shown; absent = the value. */
  children?: ReactNode;
}
