import { visibleCharacter, visibleText } from '../../../domain/text/visible.ts';
import type { EmbeddedFont } from '../sheet/pdfkit-parts.ts';

interface Glyph {
  id: number;
  /** In 1/1000 em. */
  advance: number;
  codePoint: number;
  /** Hexadecimal number in the subset; empty until it is drawn. */
  code: string;
}

const printableAscii = /^[\x20-\x7e]*$/;
/** Pairs of glyphs with a remembered kerning; more of them are set without. */
const maxPairs = 20_000;
/** Of the remembered glyphs; a font has some thousands. */
const maxGlyphs = 10_000;
/** Only the kerning of pairs is asked for: everything else costs a hundred times as much per word. */
const noFeatures = {
  ccmp: false,
  calt: false,
  liga: false,
  clig: false,
  rlig: false,
  locl: false,
  rclt: false,
  frac: false,
  numr: false,
  dnom: false,
  mark: false,
  mkmk: false,
  dist: false,
  curs: false,
};

/**
 * Measures and encodes text character by character: without ligatures, with kerning of Latin pairs. Advances and
 * kerning are remembered, so that both passes of a report cost little.
 */
export class Typeface {
  readonly id: string;
  readonly #font: EmbeddedFont;
  readonly #kerned: boolean;
  readonly #glyphs = new Map<number, Glyph>();
  readonly #pairs = new Map<number, number>();
  #tabular: Map<number, Glyph> | null = null;

  constructor(font: EmbeddedFont, options: { kerned: boolean }) {
    this.id = font.id;
    this.#font = font;
    this.#kerned = options.kerned;
  }

  /** What pages need to refer to the font. */
  reference(): unknown {
    return this.#font.ref();
  }

  /** Text with every character visible: control, format and direction characters and those without glyph are `\u{...}`. */
  visible(text: string): string {
    if (printableAscii.test(text)) return text;
    const shown = visibleText(text);
    let out = '';
    for (const character of shown) {
      const known = this.#font.font.hasGlyphForCodePoint(character.codePointAt(0) as number);
      out += known ? character : visibleCharacter(character);
    }
    return out;
  }

  /** Width in 1/1000 em. The text is visible text. */
  width(text: string, tabular = false): number {
    let width = 0;
    let before: Glyph | null = null;
    for (const character of text) {
      const glyph = this.#glyph(character.codePointAt(0) as number, tabular);
      if (before !== null) width += this.#kerning(before, glyph);
      width += glyph.advance;
      before = glyph;
    }
    return width;
  }

  /** The operand of the operator TJ: glyphs of the subset and the distances between them. */
  encode(text: string, tabular = false): string {
    let out = '[<';
    let before: Glyph | null = null;
    for (const character of text) {
      const glyph = this.#glyph(character.codePointAt(0) as number, tabular);
      const kerning = before === null ? 0 : this.#kerning(before, glyph);
      if (kerning !== 0) out += `> ${-Math.round(kerning)} <`;
      if (glyph.code === '') glyph.code = this.#include(glyph);
      out += glyph.code;
      before = glyph;
    }
    return `${out}>]`;
  }

  #include(glyph: Glyph): string {
    const { subset, widths, unicode } = this.#font;
    const number = subset.includeGlyph(glyph.id);
    widths[number] ??= glyph.advance;
    unicode[number] ??= [glyph.codePoint];
    return number.toString(16).padStart(4, '0');
  }

  #glyph(codePoint: number, tabular: boolean): Glyph {
    if (tabular) {
      const digit = this.#tabularDigits().get(codePoint);
      if (digit !== undefined) return digit;
    }
    const known = this.#glyphs.get(codePoint);
    if (known !== undefined) return known;
    const glyph = this.#measured(this.#font.font.glyphForCodePoint(codePoint).id, codePoint);
    if (this.#glyphs.size < maxGlyphs) this.#glyphs.set(codePoint, glyph);
    return glyph;
  }

  #measured(id: number, codePoint: number): Glyph {
    const { metrics } = this.#font.font.hmtx;
    // Glyphs beyond the table have the width of its last entry.
    const { advance } = metrics.get(Math.min(id, metrics.length - 1));
    return { id, advance: advance * this.#font.scale, codePoint, code: '' };
  }

  #tabularDigits(): Map<number, Glyph> {
    if (this.#tabular !== null) return this.#tabular;
    const digits = '0123456789';
    const run = this.#font.font.layout(digits, { ...noFeatures, kern: false, tnum: true });
    this.#tabular = new Map(
      run.glyphs.map(({ id }, index) => {
        const codePoint = digits.charCodeAt(index);
        return [codePoint, this.#measured(id, codePoint)];
      }),
    );
    return this.#tabular;
  }

  /** Distance of a pair of letters beyond their widths, in 1/1000 em. */
  #kerning(left: Glyph, right: Glyph): number {
    if (!this.#kerned || !mayKern(left.codePoint, right.codePoint)) return 0;
    const key = left.id * 0x10000 + right.id;
    const known = this.#pairs.get(key);
    if (known !== undefined) return known;
    if (this.#pairs.size >= maxPairs) return 0;
    const pair = String.fromCodePoint(left.codePoint, right.codePoint);
    const run = this.#font.font.layout(pair, { ...noFeatures, kern: true });
    const first = run.positions[0]?.xAdvance ?? 0;
    const kerning = run.glyphs[0]?.id === left.id ? first * this.#font.scale - left.advance : 0;
    this.#pairs.set(key, kerning);
    return kerning;
  }
}

/**
 * Asking the font costs much: only pairs are asked for whose distance is seen to differ. No digits: versions would come
 * out too tight.
 */
const kernedBefore = new Set([...'AFKLPRTVWXYfkrtvwxy"('].map((character) => character.charCodeAt(0)));
const kernedBehind = new Set([...'TVWYvwxy")'].map((character) => character.charCodeAt(0)));

function mayKern(left: number, right: number): boolean {
  return (
    (kernedBefore.has(left) && isLetterOrMark(right)) || (kernedBehind.has(right) && isLetterOrMark(left))
  );
}

/** Printable ASCII without space and digits. */
function isLetterOrMark(codePoint: number): boolean {
  return codePoint > 0x20 && codePoint < 0x7f && !(codePoint >= 0x30 && codePoint <= 0x39);
}
