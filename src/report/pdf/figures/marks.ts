import {
  type FindingClass,
  type Severity,
  type SeverityCounts,
  severities,
} from '../../../domain/finding.ts';
import { numberText, severityWord } from '../../model/report-text.ts';
import type { Sheet } from '../sheet/sheet.ts';
import { colored, colors, type Style, severityColors, signColors, styles } from '../type/styles.ts';
import { type FigurePiece, gap, type Piece, plain, type Typefaces, textWidth } from '../type/text-layout.ts';

const severitySize = 7.5;
const classSize = 6.5;
const stateSize = 9;

/** Draws the mark of a severity with its middle on the middle of capital letters. */
function drawSeverity(sheet: Sheet, severity: Severity, x: number, baseline: number): void {
  const scale = severitySize / 12;
  const placing = { x, y: baseline - 3.1 - severitySize / 2, scale };
  const color = severityColors[severity].mark;
  const draw = (data: string, paint: Parameters<Sheet['path']>[2]) => sheet.path(data, placing, paint);
  if (severity === 'critical') {
    draw('M3.7 .5 L8.3 .5 L11.5 3.7 L11.5 8.3 L8.3 11.5 L3.7 11.5 L.5 8.3 L.5 3.7 Z', { fill: color });
    draw('M6 3 L6 6.6', { stroke: colors.white, lineWidth: 1.6, round: true });
    draw('M6 8.9 L6 8.9', { stroke: colors.white, lineWidth: 1.9, round: true });
  } else if (severity === 'high') {
    draw('M6 1 L11.4 10.8 L.6 10.8 Z', { fill: color, stroke: color, lineWidth: 0.6, round: true });
  } else if (severity === 'medium') {
    draw('M6 .7 L11.3 6 L6 11.3 L.7 6 Z', { fill: color });
  } else if (severity === 'low') {
    draw('M6 10.6 L1.2 2 L10.8 2 Z', { stroke: color, lineWidth: 1.6, round: true });
  } else {
    draw('M2.3 2.3 L9.7 2.3 L9.7 9.7 L2.3 9.7 Z', { stroke: color, lineWidth: 1.6 });
  }
}

const ring =
  'M8.6 5 C8.6 6.988 6.988 8.6 5 8.6 C3.012 8.6 1.4 6.988 1.4 5 C1.4 3.012 3.012 1.4 5 1.4 C6.988 1.4 8.6 3.012 8.6 5 Z';
const half = 'M5 1.4 C3.012 1.4 1.4 3.012 1.4 5 C1.4 6.988 3.012 8.6 5 8.6 Z';

function drawClass(sheet: Sheet, name: FindingClass, x: number, baseline: number): void {
  const placing = { x, y: baseline - 3.1 - classSize / 2, scale: classSize / 10 };
  const line = { stroke: colors.second, lineWidth: 1.3 };
  sheet.path(ring, placing, name === 'certain' ? { ...line, fill: colors.second } : line);
  if (name === 'likely') sheet.path(half, placing, { fill: colors.second });
}

function mark(width: number, draw: FigurePiece['draw']): FigurePiece {
  return { width, reading: 'beside', draw };
}

/** The mark alone; the word stands beside it. */
export function severityMark(severity: Severity): FigurePiece {
  return mark(severitySize + 3.5, (sheet, x, baseline) => drawSeverity(sheet, severity, x, baseline));
}

/** The mark without a word beside it, read as the word. */
export function severityMarkAlone(severity: Severity): FigurePiece {
  return { ...severityMark(severity), reading: { text: `${severity}: ` } };
}

export function classMark(name: FindingClass): FigurePiece {
  return mark(classSize + 3.5, (sheet, x, baseline) => drawClass(sheet, name, x, baseline));
}

/** `▲ High` */
export function severityPieces(severity: Severity, style: Style = styles.cellMedium): Piece[] {
  const word = plain(severityWord(severity), colored(style, severityColors[severity].text));
  return [severityMark(severity), word];
}

/** `◐ likely` */
export function classPieces(name: FindingClass, style: Style = styles.cellSecond): Piece[] {
  return [classMark(name), plain(name, style)];
}

/** At least the width of the slot; what is wider keeps a distance to the next one. */
function slotWidth(width: number, slot: number): number {
  return slot === 0 || width <= slot - 2 ? Math.max(width, slot) : width + 5;
}

/** A mark and its number, read as `27 high`. Takes `width` at least, so that numbers stand below each other. */
function countPiece(
  faces: Typefaces,
  count: number,
  word: string,
  options: { style: Style; markWidth: number; width: number; drawMark: FigurePiece['draw'] },
): FigurePiece {
  const { style, markWidth } = options;
  const text = numberText(count);
  return {
    width: slotWidth(markWidth + textWidth(faces, text, style), options.width),
    reading: { text: `${text} ${word}` },
    draw: (sheet, x, baseline) => {
      options.drawMark(sheet, x, baseline);
      sheet.text(text, style, x + markWidth, baseline);
    },
  };
}

export function severityCount(
  faces: Typefaces,
  severity: Severity,
  count: number,
  width = 0,
  style: Style = styles.numberStrong,
): FigurePiece {
  return countPiece(faces, count, severity, {
    style: colored(style, severityColors[severity].text),
    markWidth: severitySize + 3.5,
    width,
    drawMark: (sheet, x, baseline) => drawSeverity(sheet, severity, x, baseline),
  });
}

export function classCount(
  faces: Typefaces,
  name: FindingClass,
  count: number,
  width = 0,
  style: Style = styles.number,
): FigurePiece {
  return countPiece(faces, count, name, {
    style: colored(style, style.face === 'semibold' ? colors.text : colors.second),
    markWidth: classSize + 3.5,
    width,
    drawMark: (sheet, x, baseline) => drawClass(sheet, name, x, baseline),
  });
}

/** `● 1 certain` */
export function classCountPieces(
  name: FindingClass,
  count: number,
  style: Style = styles.cellSecond,
): Piece[] {
  return [classMark(name), plain(`${numberText(count)} ${name}`, style)];
}

/**
 * The counts that are not zero, worst first. `slots`: each severity has a place of this width, so that columns of
 * numbers arise; without, they follow each other.
 */
export function severityCountPieces(
  faces: Typefaces,
  counts: SeverityCounts,
  slot: number | null = null,
): Piece[] {
  const pieces: Piece[] = [];
  for (const severity of severities) {
    if (counts[severity] === 0) {
      if (slot !== null) pieces.push(emptySlot(slot));
      continue;
    }
    if (slot === null && pieces.length > 0) pieces.push(gap(6));
    pieces.push(severityCount(faces, severity, counts[severity], slot ?? 0));
  }
  return pieces;
}

/** Room where nothing stands. */
export function emptySlot(width: number): FigurePiece {
  return mark(width, () => {});
}

/** The chip `Exploited`. */
export function exploitedChip(faces: Typefaces): FigurePiece {
  const word = 'Exploited';
  const width = textWidth(faces, word, styles.chip);
  return {
    width: width + 8,
    reading: 'mixed',
    draw: (sheet, x, baseline) => {
      const top = baseline - 2.55 - 5.5;
      sheet.artifact(() => sheet.rect(x, top, width + 8, 11, { fill: colors.chip }, 2.5));
      sheet.content(() => sheet.text(word, styles.chip, x + 4, top + 5.5 + 2.55));
    },
  };
}

export type Sign = '+' | '−' | '~' | '?';

const signs: Record<Sign, { color: keyof typeof signColors; word: string; data: string }> = {
  '+': { color: 'new', word: 'new', data: 'M6 3.4 L6 8.6 M3.4 6 L8.6 6' },
  '−': { color: 'fixed', word: 'fixed', data: 'M3.4 6 L8.6 6' },
  '~': { color: 'changed', word: 'changed', data: 'M3.2 6.8 C4.4 4.4 5.4 4.8 6 6 C6.6 7.2 7.6 7.6 8.8 5.2' },
  '?': {
    color: 'changed',
    word: 'not comparable',
    data: 'M4.4 4.7 C4.4 2.6 7.6 2.6 7.6 4.7 C7.6 5.9 6 5.9 6 7.1 M6 8.9 L6 8.91',
  },
};

/** A sign of change in a square of 12 points. */
export function signPiece(sign: Sign): FigurePiece {
  const { color, word, data } = signs[sign];
  const { text, ground } = signColors[color];
  return {
    width: 12,
    reading: { text: word },
    draw: (sheet, x, baseline) => {
      const y = baseline - 3.1 - 6;
      sheet.rect(x, y, 12, 12, { fill: ground }, 2.5);
      sheet.path(data, { x, y, scale: 1 }, { stroke: text, lineWidth: 1.2, round: true });
    },
  };
}

const circle =
  'M13.25 8 C13.25 10.9 10.9 13.25 8 13.25 C5.1 13.25 2.75 10.9 2.75 8 C2.75 5.1 5.1 2.75 8 2.75 C10.9 2.75 13.25 5.1 13.25 8 Z';

/** By status of a scan; any other one is shown by its word alone. */
const states: Record<string, string> = {
  completed: `${circle} M5.75 8.25 L7.25 9.75 L10.25 6.5`,
  failed: `${circle} M6.25 6.25 L9.75 9.75 M9.75 6.25 L6.25 9.75`,
  timeout: `${circle} M8 5 L8 8.25 L10 9.5`,
  canceled: `${circle} M4.4 11.6 L11.6 4.4`,
  running: circle,
};

/** The mark of the state of a scan; the word stands beside it. */
export function stateMark(status: string): FigurePiece {
  const data = states[status] ?? circle;
  return mark(stateSize + 2.5, (sheet, x, baseline) => {
    const placing = { x: x - 0.5, y: baseline - 3.1 - stateSize / 2, scale: stateSize / 16 };
    sheet.path(data, placing, { stroke: colors.text, lineWidth: 1.5, round: true });
  });
}

/** The compass of Portolan, 16 points wide. */
export function drawCompass(sheet: Sheet, x: number, y: number, color: string): void {
  const placing = { x, y, scale: 1 };
  const round =
    'M13.75 8 C13.75 11.176 11.176 13.75 8 13.75 C4.824 13.75 2.25 11.176 2.25 8 C2.25 4.824 4.824 2.25 8 2.25 C11.176 2.25 13.75 4.824 13.75 8 Z';
  sheet.path(round, placing, { stroke: color, lineWidth: 1.5 });
  sheet.path('M10.5 5.5 L9 9 L5.5 10.5 L7 7 Z', placing, { stroke: color, lineWidth: 1.3, round: true });
}
