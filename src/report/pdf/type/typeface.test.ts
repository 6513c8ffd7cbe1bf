import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../fixtures/synthetic-scan.ts';
import { buildReport } from '../../model/build-report.ts';
import { openDocument, openTypefaces } from '../pdf-document.ts';
import type { Typefaces } from './text-layout.ts';

let faces: Typefaces;

beforeAll(async () => {
  const { facts, rows } = syntheticPresets.one();
  const options = { template: null, paper: 'a4' as const, changes: null, madeAt: '2026-11-21T14:31:00Z' };
  faces = await openTypefaces(openDocument(await buildReport(facts, options, rows())));
});

describe('the typefaces of a PDF report', () => {
  it('have Latin, Greek and Cyrillic', () => {
    for (const text of ['Größe, naïve, Łódź', 'Αθήνα', 'Берлин', '−4 ±0 – “a” … →']) {
      expect(faces.regular.visible(text)).toBe(text);
    }
  });

  it('show a character without a glyph by its number', () => {
    expect(faces.regular.visible('a שלום')).toBe('a \\u{5e9}\\u{5dc}\\u{5d5}\\u{5dd}');
    expect(faces.mono.visible('漢')).toBe('\\u{6f22}');
    expect(faces.medium.visible('💻')).toBe('\\u{1f4bb}');
  });

  it('show control and direction characters by their number', () => {
    expect(faces.regular.visible('a\u001b[2J\u202egnp')).toBe('a\\x1b[2J\\u{202e}gnp');
  });

  it('set digits of equal width where numbers stand below each other', () => {
    const { regular } = faces;
    expect(regular.width('1111', true)).toBe(regular.width('8888', true));
    expect(regular.width('1111')).toBeLessThan(regular.width('8888'));
  });

  it('set pairs of letters closer, but not versions and not monospace', () => {
    const { regular, mono } = faces;
    expect(regular.width('To')).toBeLessThan(regular.width('T') + regular.width('o'));
    expect(regular.width('1.27.1')).toBeCloseTo(
      ['1', '.', '2', '7', '.', '1'].reduce((sum, part) => sum + regular.width(part), 0),
    );
    expect(mono.width('Tov->')).toBe(5 * mono.width('0'));
  });

  it('encode one glyph for each character: no ligatures', () => {
    const glyphs = faces.mono.encode('->!=www').match(/[0-9a-f]{4}/g);
    expect(glyphs).toHaveLength(7);
    expect(faces.regular.encode('ffi').match(/[0-9a-f]{4}/g)).toHaveLength(3);
  });
});
