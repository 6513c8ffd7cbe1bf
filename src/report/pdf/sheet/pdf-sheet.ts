import type { PngLogo } from '../../template/report-template.ts';
import type { PaperGeometry } from '../paper.ts';
import type { Style } from '../type/styles.ts';
import type { Typefaces } from '../type/text-layout.ts';
import type { OutlineItem, PdfkitParts, StructElement, TagOptions } from './pdfkit-parts.ts';
import type { PieceDocument } from './piece-document.ts';
import type { LinkTarget, Paint, Placing, Sheet, Tag } from './sheet.ts';

/** Draws on the pages of a document. A page is written when the next one begins. */
export class PdfSheet implements Sheet {
  page = 0;
  readonly #document: PieceDocument;
  readonly #parts: PdfkitParts;
  readonly #faces: Typefaces;
  readonly #paper: PaperGeometry;
  /** The open elements, the document first. */
  readonly #elements: StructElement[];
  /** The last bookmark of each level. */
  readonly #bookmarks: OutlineItem[] = [];
  /** True within `content` and `artifact`. */
  #marked = false;

  constructor(document: PieceDocument, faces: Typefaces, paper: PaperGeometry) {
    this.#document = document;
    this.#parts = document as unknown as PdfkitParts;
    this.#faces = faces;
    this.#paper = paper;
    const root = this.#parts.struct('Document');
    this.#parts.addStructure(root);
    this.#elements = [root];
  }

  addPage(): void {
    this.#document.endContent();
    this.#document.addPage();
    this.page += 1;
  }

  open(tag: Tag, options: TagOptions = {}): void {
    const element = this.#parts.struct(tag, options);
    this.#element.add(element);
    this.#elements.push(element);
  }

  close(): void {
    if (this.#elements.length === 1) throw new Error('no element is open');
    this.#elements.pop()?.end();
  }

  /** Ends the structure after the last page. */
  end(): void {
    if (this.#elements.length !== 1) throw new Error('an element is still open');
    this.#element.end();
    this.#document.endContent();
  }

  get #element(): StructElement {
    return this.#elements.at(-1) as StructElement;
  }

  content(draw: () => void): void {
    this.#element.add(() => this.#mark(draw));
  }

  artifact(draw: () => void, kind: 'Pagination' | 'Layout' = 'Layout'): void {
    this.#document.markContent('Artifact', { type: kind });
    this.#mark(draw);
    this.#document.endMarkedContent();
  }

  #mark(draw: () => void): void {
    if (this.#marked) throw new Error('content within content');
    this.#marked = true;
    draw();
    this.#marked = false;
  }

  readAs(text: string, draw: () => void): void {
    this.#document.markContent('Span', { actual: text });
    draw();
    this.#document.endMarkedContent();
  }

  text(text: string, style: Style, x: number, baseline: number): void {
    if (text === '') return;
    const face = this.#faces[style.face];
    this.#parts.page.fonts[face.id] ??= face.reference();
    const font = `${rgb(style.color)} rg /${face.id} ${style.size} Tf`;
    const place = `1 0 0 -1 ${round(x)} ${round(baseline)} Tm`;
    const glyphs = `${face.encode(text, style.tabular)} TJ`;
    const tracked =
      style.tracking === undefined
        ? glyphs
        : `${round((style.tracking * style.size) / 1000)} Tc ${glyphs} 0 Tc`;
    this.#write(`BT ${font} ${place} ${tracked} ET`);
  }

  rule(x1: number, y1: number, x2: number, y2: number, color: string, width: number): void {
    const line = `${round(x1)} ${round(y1)} m ${round(x2)} ${round(y2)} l S`;
    this.#write(`q ${rgb(color)} RG ${width} w ${line} Q`);
  }

  rect(x: number, y: number, width: number, height: number, paint: Paint, radius = 0): void {
    this.#painted(paint, () => {
      if (radius > 0) this.#document.roundedRect(x, y, width, height, radius);
      else this.#write(`${round(x)} ${round(y)} ${round(width)} ${round(height)} re`);
    });
  }

  path(data: string, placing: Placing, paint: Paint): void {
    const document = this.#document;
    document.save();
    document.transform(placing.scale, 0, 0, placing.scale, placing.x, placing.y);
    if (placing.matrix) document.transform(...placing.matrix);
    this.#painted(paint, () => document.path(data));
    document.restore();
  }

  #painted(paint: Paint, shape: () => void): void {
    this.#write('q');
    if (paint.fill !== undefined) this.#write(`${rgb(paint.fill)} rg`);
    if (paint.stroke !== undefined) this.#write(`${rgb(paint.stroke)} RG ${paint.lineWidth ?? 1} w`);
    if (paint.opacity !== undefined && paint.opacity < 1) this.#document.opacity(paint.opacity);
    if (paint.round) this.#write('1 J 1 j');
    if (paint.dash) this.#write(`[${paint.dash.join(' ')}] 0 d`);
    shape();
    const rule = paint.evenOdd ? '*' : '';
    if (paint.fill === undefined) this.#write(paint.stroke === undefined ? 'n' : 'S');
    else this.#write(paint.stroke === undefined ? `f${rule}` : `B${rule}`);
    this.#write('Q');
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.#write(`q ${round(x)} ${round(y)} ${round(width)} ${round(height)} re W n`);
    draw();
    this.#write('Q');
  }

  image(image: PngLogo, x: number, y: number, width: number, height: number): void {
    this.#document.image(Buffer.from(image.data, 'base64'), x, y, { width, height });
  }

  link(x: number, y: number, width: number, height: number, target: LinkTarget, description: string): void {
    const place =
      'url' in target
        ? { A: this.#uriAction(target.url) }
        : // Named, since the page may not have been drawn yet.
          { Dest: target.anchor };
    this.#parts.annotate(x, y, width, height, {
      Subtype: 'Link',
      Contents: pdfString(description),
      structParent: this.#element,
      ...place,
    });
  }

  #uriAction(url: string): unknown {
    const action = this.#parts.ref({ S: 'URI', URI: pdfString(url) });
    action.end();
    return action;
  }

  anchor(name: string, y: number): void {
    this.#document.addNamedDestination(name, 'XYZ', 0, Math.max(y, 0), null);
  }

  bookmark(title: string, level: number, y: number): void {
    const parent = level === 0 ? this.#parts.outline : this.#bookmarks[level - 1];
    if (parent === undefined) throw new Error(`no bookmark of level ${level - 1}`);
    // pdfkit counts `left` from the right edge.
    const options = { top: y, left: this.#paper.width, fit: false, expanded: false };
    this.#bookmarks.length = level;
    this.#bookmarks[level] = parent.addItem(title, options);
  }

  #write(operators: string): void {
    if (!this.#marked) throw new Error('drawn outside of content and artifacts');
    this.#document.addContent(operators);
  }
}

/** pdfkit writes objects of String as strings, and plain strings as names. */
function pdfString(text: string): unknown {
  // eslint-disable-next-line unicorn/new-for-builtins
  return new String(text);
}

function round(points: number): number {
  return Math.round(points * 1000) / 1000;
}

const operands = new Map<string, string>();

/** `#rrggbb` as three numbers from 0 to 1. */
function rgb(color: string): string {
  let found = operands.get(color);
  if (found === undefined) {
    const value = Number.parseInt(color.slice(1), 16);
    found = [value >> 16, (value >> 8) & 0xff, value & 0xff].map((part) => round(part / 255)).join(' ');
    operands.set(color, found);
  }
  return found;
}
