import { visibleText } from '../../../domain/text/visible.ts';
import { contentWidth } from '../paper.ts';
import { colors, styles } from '../type/styles.ts';
import { baselineOf, textWidth } from '../type/text-layout.ts';
import type { FlowBlock, PageFlow } from './page-flow.ts';

const paddingX = 9;
const paddingY = 5.5;
/** Lines of evidence; the rest is cut. */
const maxLines = 12;

/** Text of a target, and what is said behind it. */
export interface CodeText {
  text: string;
  /** What of it matched. */
  match: { at: number; length: number } | null;
  /** Characters of the whole, of which `text` is the start. */
  length: number;
  /** Where the rest is: `in the HTML report`. */
  rest: string;
}

interface CodeLine {
  text: string;
  /** Columns that matched, and from which on the text is not of the target. */
  match: [number, number] | null;
  noteFrom: number;
}

const escapes: Record<string, string> = { '\r': '\\r', '\n': '\\n', '\t': '\\t' };

/** Text of a target in a box: every character visible, line ends too, at most 12 lines. */
export function codeBox(flow: PageFlow, code: CodeText): FlowBlock {
  const { face, size, line } = styles.evidence;
  const columnWidth = textWidth(flow.faces, '0', styles.evidence);
  const perLine = Math.floor((contentWidth - 2 * paddingX) / columnWidth);
  const shown = shownText(code, (text) => flow.faces[face].visible(text), perLine);
  const lines = codeLines(shown, perLine);
  const height = lines.length * line + 2 * paddingY;
  return {
    height,
    after: 8,
    draw: (y) => {
      const { sheet, left } = flow;
      sheet.artifact(() => {
        const box = { fill: colors.evidence, stroke: colors.rowLine, lineWidth: 0.5 };
        sheet.rect(left + 0.25, y, contentWidth - 0.5, height, box, 2.5);
        for (const [index, { match }] of lines.entries()) {
          if (match === null) continue;
          const x = left + paddingX + match[0] * columnWidth;
          const width = (match[1] - match[0]) * columnWidth;
          sheet.rect(x, y + paddingY + index * line + 0.75, width, line - 1.5, { fill: colors.match });
        }
      });
      sheet.open('Code');
      for (const [index, { text, noteFrom }] of lines.entries()) {
        const baseline = y + paddingY + index * line + baselineOf({ size, line });
        sheet.content(() => {
          sheet.text(text.slice(0, noteFrom), styles.evidence, left + paddingX, baseline);
          const x = left + paddingX + noteFrom * columnWidth;
          sheet.text(text.slice(noteFrom), styles.monoThird, x, baseline);
        });
      }
      sheet.close();
    },
  };
}

interface ShownText {
  text: string;
  match: [number, number] | null;
  noteFrom: number;
}

/** Escapes character by character, until the box is full; what is left is counted. */
function shownText(
  { text, match, length, rest }: CodeText,
  visible: (text: string) => string,
  perLine: number,
): ShownText {
  const most = (maxLines - 1) * perLine;
  let out = '';
  let taken = 0;
  let matchFrom = -1;
  let matchTo = -1;
  for (const character of text) {
    const escaped = escapes[character] ?? visible(visibleText(character));
    if (out.length + escaped.length > most) break;
    if (match !== null && taken === match.at) matchFrom = out.length;
    out += escaped;
    taken += character.length;
    if (match !== null && matchFrom >= 0 && taken === match.at + match.length) matchTo = out.length;
  }
  const left = length - taken;
  const note =
    left > 0
      ? ` … ${left.toLocaleString('en-US')} more ${left === 1 ? 'character' : 'characters'}, ${rest}`
      : '';
  return { text: out + note, match: matchTo > 0 ? [matchFrom, matchTo] : null, noteFrom: out.length };
}

/** Lines of equal length, broken at the last space where there is one in the last quarter. */
function codeLines({ text, match, noteFrom }: ShownText, perLine: number): CodeLine[] {
  const lines: CodeLine[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + perLine, text.length);
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end - 1);
      if (space > at + perLine * 0.75) end = space + 1;
    }
    const part =
      match === null ? null : ([Math.max(match[0], at) - at, Math.min(match[1], end) - at] as const);
    lines.push({
      text: text.slice(at, end),
      match: part !== null && part[1] > part[0] ? [part[0], part[1]] : null,
      noteFrom: Math.min(Math.max(noteFrom - at, 0), end - at),
    });
    at = end;
  }
  return lines.length > 0 ? lines : [{ text: '', match: null, noteFrom: 0 }];
}
