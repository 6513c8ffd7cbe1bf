import { unprintable, visibleCharacter, visibleText } from '../../../domain/text/visible.ts';

/**
 * Data of targets must not reach a terminal as control sequences. Every text that is not from this program passes one
 * of these functions before output, whether to a terminal, a pipe or a file.
 */

/** One line of text with every unprintable character visible: `\xNN`, or `\u{...}` beyond Latin-1. */
export const printable = visibleText;

/** The same for text of several lines; line breaks are preserved. */
export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join('\n');
}

/** JSON or JSON Lines with the same meaning and without a raw control or format character. */
export function jsonSafe(json: string): string {
  return json.replace(unprintable, (character) =>
    blanks.has(character)
      ? character
      : Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(
          '',
        ),
  );
}

/** Of the layout of JSON; in its texts they are escaped already. */
const blanks = new Set(['\t', '\n', '\r']);

/** CSV, HTML or XML with every unprintable character visible, as in `printable`; line breaks are preserved. */
export function linesSafe(text: string): string {
  return text.replace(unprintable, (character) =>
    character === '\n' || character === '\r' ? character : visibleCharacter(character),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

const combining = /^\p{M}/u;
/** Han, Hangul, kana, full-width forms and pictographs are two columns wide on a terminal. */
const wide =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Width of a printable text on a terminal, columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

function columnsOfCharacter(character: string): number {
  if (character <= '~') return 1;
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Truncates text at its end to a number of columns, with an ellipsis. */
export function fit(text: string, columns: number, ellipsis = '…'): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < ellipsis.length) return '';
  return startOf(text, columns - ellipsis.length) + ellipsis;
}

/** Truncates text in its middle to a number of columns, for what differs at both ends: addresses, names. */
export function fitMiddle(text: string, columns: number, ellipsis = '…'): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < ellipsis.length) return '';
  const room = columns - ellipsis.length;
  const end = startOf([...text].reverse(), Math.floor(room / 2));
  return startOf(text, room - Math.floor(room / 2)) + ellipsis + [...end].reverse().join('');
}

/** The characters that fit into a number of columns. */
function startOf(characters: Iterable<string>, columns: number): string {
  let kept = '';
  let used = 0;
  for (const character of characters) {
    used += columnsOfCharacter(character);
    if (used > columns) break;
    kept += character;
  }
  return kept;
}

/** Pads text with spaces to a number of columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** Indented JSON with a trailing line break, safe to print. */
export function printableJson(value: unknown): string {
  return `${jsonSafe(JSON.stringify(value, null, 2))}\n`;
}
