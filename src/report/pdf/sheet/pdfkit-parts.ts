/** Parts of pdfkit that its types leave out. Only the files of this folder and the typefaces use them. */

export interface PdfReference {
  data: Record<string, unknown>;
}

/** An open font of fontkit. */
export interface OpenFont {
  hasGlyphForCodePoint(codePoint: number): boolean;
  glyphForCodePoint(codePoint: number): { id: number };
  hmtx: { metrics: { length: number; get(index: number): { advance: number } } };
  layout(
    text: string,
    features: Record<string, boolean>,
  ): { glyphs: { id: number }[]; positions: { xAdvance: number }[] };
}

/** A font of a document: glyphs of the subset are numbered in the order of their use. */
export interface EmbeddedFont {
  id: string;
  /** 1000 / units per em. */
  scale: number;
  font: OpenFont;
  subset: { includeGlyph(id: number): number };
  /** By number in the subset: width in 1/1000 em, and what the glyph stands for. */
  widths: number[];
  unicode: number[][];
  ref(): unknown;
}

export interface StructElement {
  dictionary: PdfReference;
  add(child: StructElement | (() => void)): StructElement;
  end(): void;
}

export interface OutlineItem {
  addItem(
    title: string,
    options: { top: number; left: number; fit: boolean; expanded: boolean },
  ): OutlineItem;
}

export interface TagOptions {
  alt?: string;
  actual?: string;
  scope?: 'Column' | 'Row';
  /** Left, top, right, bottom on the page. */
  bbox?: [number, number, number, number];
}

export interface PdfkitParts {
  _font: EmbeddedFont;
  page: { fonts: Record<string, unknown> };
  outline: OutlineItem;
  struct(tag: string, options?: TagOptions): StructElement;
  addStructure(element: StructElement): void;
  annotate(x: number, y: number, width: number, height: number, options: Record<string, unknown>): void;
  ref(data: unknown): { end(): void };
}
