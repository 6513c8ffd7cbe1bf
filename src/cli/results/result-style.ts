import { styleOf, type TerminalStyle } from '../terminal/draw/style.ts';

/** Of a result on stdout, or in a file, which has neither colors nor a width. */
export function resultStyle(file: string | null, flags: { color: boolean }): TerminalStyle {
  return file === null ? styleOf(process.stdout, flags) : styleOf({}, { color: false });
}
