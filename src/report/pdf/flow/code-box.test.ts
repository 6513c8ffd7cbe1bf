import { describe, expect, it } from 'vitest';
import { evenFaces, RecordingSheet } from '../fixtures/recording-sheet.ts';
import { paperGeometry } from '../paper.ts';
import { type CodeText, codeBox } from './code-box.ts';
import { PageFlow } from './page-flow.ts';
import { Places } from './places.ts';

function drawn(code: Partial<CodeText>) {
  const sheet = new RecordingSheet();
  const edges = { title: '', scan: '', footer: '' };
  const flow = new PageFlow(sheet, paperGeometry.a4, evenFaces(), new Places(), edges);
  flow.barePage();
  const text = code.text ?? '';
  const box = codeBox(flow, { text, match: null, length: text.length, rest: 'elsewhere', ...code });
  flow.place(box);
  return { texts: sheet.texts.map((drawn) => drawn.text).filter((text) => text !== ''), height: box.height };
}

/** Characters of half an em, of 7.5 points, within the padding. */
const perLine = Math.floor((499 - 18) / 3.75);

describe('text of a target in a box', () => {
  it('shows line ends and control characters', () => {
    const { texts } = drawn({ text: 'a\r\nb\t\u001b[2J\u202e' });
    expect(texts).toEqual(['a\\r\\nb\\t\\x1b[2J\\u{202e}']);
  });

  it('breaks long text at a space near the end of a line, else anywhere', () => {
    expect(drawn({ text: 'x'.repeat(perLine + 5) }).texts).toEqual(['x'.repeat(perLine), 'xxxxx']);
    const words = `${'x'.repeat(perLine - 10)} ${'y'.repeat(20)}`;
    expect(drawn({ text: words }).texts).toEqual([`${'x'.repeat(perLine - 10)} `, 'y'.repeat(20)]);
  });

  it('has at most twelve lines, and says how much is left', () => {
    const { texts, height } = drawn({ text: '\u0000'.repeat(600), length: 65_536 });
    expect(height).toBe(12 * 11 + 11);
    const shown = Math.floor((11 * perLine) / '\\x00'.length);
    expect(texts.join('')).toContain(
      `… ${(65_536 - shown).toLocaleString('en-US')} more characters, elsewhere`,
    );
  });

  it('says nothing behind a whole text', () => {
    expect(drawn({ text: 'SSH-2.0-OpenSSH_9.2p1' }).texts).toEqual(['SSH-2.0-OpenSSH_9.2p1']);
  });
});
