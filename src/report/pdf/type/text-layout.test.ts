import { describe, expect, it } from 'vitest';
import { evenFaces, RecordingSheet } from '../fixtures/recording-sheet.ts';
import { styles } from './styles.ts';
import { drawLine, gap, type Line, layoutText, type Piece, plain, whole } from './text-layout.ts';

const faces = evenFaces();
const style = { ...styles.cell, size: 10 };
/** Of a character. */
const em = 5;

function texts(lines: Line[]) {
  return lines.map((line) => line.spans.map((span) => span.text).join('|'));
}

function layout(pieces: Piece[], characters: number, maxLines?: number) {
  return texts(layoutText(faces, pieces, characters * em, maxLines === undefined ? {} : { maxLines }));
}

describe('lines of text', () => {
  it('break at spaces', () => {
    expect(layout([plain('one two three', style)], 8)).toEqual(['one two', 'three']);
  });

  it('do not break between pieces without a space', () => {
    expect(layout([plain('see (', style), plain('page', style), plain(') there', style)], 8)).toEqual([
      'see',
      '(|page|)',
      'there',
    ]);
  });

  it('break a word that no line holds by character', () => {
    expect(layout([plain('a abcdefghij', style)], 4)).toEqual(['a', 'abcd', 'efgh', 'ij']);
  });

  it('keep an address as a whole, and break it only where no line holds it', () => {
    const id = whole('tls cert', style);
    expect(layout([plain('see ', style), id], 10)).toEqual(['see', 'tls cert']);
    expect(layout([id], 5)).toEqual(['tls c', 'ert']);
  });

  it('end with an ellipsis where lines are limited', () => {
    expect(layout([plain('one two three four', style)], 8, 1)).toEqual(['one two…']);
    expect(layout([plain('one twothreefour', style)], 8, 2)).toEqual(['one', 'twothre…']);
    expect(layout([plain('one two', style)], 8, 1)).toEqual(['one two']);
  });

  it('leave distances between pieces out at the start of a line', () => {
    const [first, second] = layoutText(faces, [plain('aaaa', style), gap(10), plain('bbbb', style)], 8 * em);
    expect([first?.spans[0]?.x, second?.spans[0]?.x]).toEqual([0, 0]);
    const [line] = layoutText(faces, [plain('aaaa', style), gap(10), plain('bbbb', style)], 12 * em);
    expect(line?.spans[1]?.x).toBe(4 * em + 10);
  });
});

describe('a drawn line', () => {
  it('has spaces where its words stand apart, and none within a word', () => {
    const sheet = new RecordingSheet();
    const link = { ...plain('page', style), link: { anchor: 'here' } };
    const pieces = [
      whole('192.0.2.1', style),
      gap(8),
      plain('web-', style),
      gap(0.01),
      plain('1 see', style),
      gap(4),
      link,
    ];
    const [line] = layoutText(faces, pieces, 400);
    if (!line) throw new Error('no line');
    drawLine(sheet, line, 0, 0);
    expect(sheet.texts.map(({ text }) => text).join('')).toBe('192.0.2.1 web-1 see page');
  });

  it('has spaces between numbers that are read with their word', () => {
    const sheet = new RecordingSheet();
    const read: string[] = [];
    sheet.readAs = (text = '') => {
      read.push(text);
    };
    const count = (text: string): Piece => ({ width: 20, reading: { text }, draw: () => {} });
    const [line] = layoutText(faces, [count('1 high'), gap(6), count('2 low')], 400);
    if (!line) throw new Error('no line');
    drawLine(sheet, line, 0, 0);
    expect(read).toEqual(['1 high', ' 2 low']);
  });
});
