/** A problem at a place of the text; lines and columns from 1, 0 = the whole text. */
export interface EditorProblem {
  severity: 'error' | 'warning';
  line: number;
  column: number;
  message: string;
  /** Columns that are marked; absent = to the end of the word. */
  length?: number;
}

export interface CodeEditorProps {
  value: string;
  onChange(value: string): void;
  problems: readonly EditorProblem[];
  language: 'yaml' | 'json' | 'text';
  /** Name of the field, "Text of the graph". */
  label: string;
  /** Ctrl+S. */
  onSave?(): void;
  readOnly?: boolean;
  /** Pixels, or 100 % of its parent. */
  height?: number | 'fill';
  /** Filled with functions of the open editor: to go to a problem from a list. */
  handle?: { current: EditorHandle | null };
}

export interface EditorHandle {
  goTo(line: number, column: number): void;
  /** Puts text at the cursor; Ctrl+Z undoes it. */
  insert(text: string): void;
}
