import { contentWidth, type PaperGeometry } from '../paper.ts';
import { MeasuringSheet, type Sheet } from '../sheet/sheet.ts';
import { colors, styles } from '../type/styles.ts';
import { baselineOf, layoutText, type Piece, plain, type Typefaces } from '../type/text-layout.ts';
import { Places } from './places.ts';

/** What stands at the edges of every page but the cover. */
export interface PageEdges {
  /** At the right of the head. */
  title: string;
  /** At the left of the footer. */
  scan: string;
  /** In the middle of the footer; empty without. */
  footer: string;
}

/** Something that is never parted. `draw` gets its top. */
export interface FlowBlock {
  height: number;
  /** Distance from what stands above, unless it stands at the top of a page. */
  before?: number;
  /** Least distance to what stands below. */
  after?: number;
  draw(y: number): void;
}

/** Parts of the body that a page should hold before the next one begins. */
const leastUse = 1 / 4;

/** Where the next thing stands: goes down the pages, and begins new ones. Both passes run through one of these. */
export class PageFlow {
  readonly sheet: Sheet;
  readonly paper: PaperGeometry;
  readonly faces: Typefaces;
  readonly places: Places;
  /** Top of the next block, without the distance before it. */
  y: number;
  readonly #edges: PageEdges;
  #head = '';
  /** Shown at the top of pages that go on with something. */
  #continued: Piece[] | null = null;
  #kept: FlowBlock[] = [];
  #gap = 0;
  /** Top of the first block of the page, and where its body ends. */
  #start: number;
  #bottom: number;

  constructor(sheet: Sheet, paper: PaperGeometry, faces: Typefaces, places: Places, edges: PageEdges) {
    this.sheet = sheet;
    this.paper = paper;
    this.faces = faces;
    this.places = places;
    this.#edges = edges;
    this.y = paper.top;
    this.#start = paper.top;
    this.#bottom = paper.bottom;
  }

  /** A flow like this one, to see how much room something takes. */
  trial(): PageFlow {
    return new PageFlow(new MeasuringSheet(), this.paper, this.faces, new Places(), this.#edges);
  }

  get left(): number {
    return this.paper.left;
  }

  get right(): number {
    return this.paper.left + contentWidth;
  }

  /** Height that is left on the page below the distance to what stands above. */
  get remaining(): number {
    return this.#bottom - this.y - this.#gap;
  }

  get isTop(): boolean {
    return this.y <= this.#start;
  }

  /** Begins a page without head and footer. */
  barePage(): void {
    this.sheet.addPage();
    this.y = this.paper.top;
    this.#start = this.y;
    this.#bottom = this.paper.bottom;
    this.#gap = 0;
  }

  /** Ends the body of this page higher up, for what stands below. */
  limitPage(bottom: number): void {
    this.#bottom = bottom;
  }

  /** Sets the running head of the pages to come. */
  setHead(text: string): void {
    this.#head = text;
  }

  /** Sets what pages open with when they go on with an entry; null = it has ended. */
  setContinued(pieces: Piece[] | null): void {
    this.#continued = pieces;
  }

  newPage(): void {
    this.barePage();
    this.sheet.artifact(() => this.#drawEdges(), 'Pagination');
    if (this.#continued !== null) this.#drawContinued(this.#continued);
  }

  #drawEdges(): void {
    const { paper, sheet } = this;
    this.#edgeText(paper.head, 'left', plain(this.#head, styles.label));
    this.#edgeText(paper.head, 'right', plain(this.#edges.title, styles.label));
    sheet.rule(this.left, paper.footRule, this.right, paper.footRule, colors.rowLine, 0.5);
    this.#edgeText(paper.foot, 'left', plain(this.#edges.scan, styles.monoLabel));
    this.#edgeText(paper.foot, 'middle', plain(this.#edges.footer, styles.label));
    const pages = this.places.pages === 0 ? '' : ` of ${this.places.pages}`;
    this.#edgeText(paper.foot, 'right', plain(`Page ${sheet.page}${pages}`, styles.label));
  }

  #edgeText(top: number, side: 'left' | 'middle' | 'right', piece: Piece): void {
    const [line] = layoutText(this.faces, [piece], side === 'middle' ? 240 : 320, { maxLines: 1 });
    if (line === undefined) return;
    const rest = contentWidth - line.width;
    const x = this.left + (side === 'left' ? 0 : side === 'right' ? rest : rest / 2);
    const baseline = top + baselineOf(styles.label);
    for (const { piece, text, x: at } of line.spans) {
      if ('style' in piece) this.sheet.text(text, piece.style, x + at, baseline);
    }
  }

  #drawContinued(pieces: Piece[]): void {
    const [line] = layoutText(this.faces, pieces, contentWidth, { maxLines: 1 });
    const bottom = this.y + 16;
    this.sheet.artifact(() => {
      for (const { piece, text, x } of line?.spans ?? []) {
        if ('style' in piece)
          this.sheet.text(text, piece.style, this.left + x, this.y + baselineOf(styles.label));
      }
      this.sheet.rule(this.left, bottom, this.right, bottom, colors.rowLine, 0.5);
    }, 'Pagination');
    this.y = bottom;
    this.#start = bottom;
    this.#gap = 10;
  }

  /** At least this distance to what comes next. */
  space(height: number): void {
    this.#gap = Math.max(this.#gap, height);
  }

  /** Notes what was drawn at `y`. */
  advance(height: number, after = 0): void {
    this.y += height;
    this.#gap = after;
  }

  /** The block stays with what comes next. */
  keep(block: FlowBlock): void {
    this.#kept.push({ ...block, before: Math.max(block.before ?? 0, this.#gap) });
    this.#gap = 0;
  }

  place(block: FlowBlock): void {
    this.space(block.before ?? 0);
    this.room(block.height);
    block.draw(this.y);
    this.advance(block.height, block.after);
  }

  /**
   * Makes room for something of this height that its caller draws at `y` afterwards: draws the blocks that stay with
   * it, on a new page if this one does not hold all of them.
   */
  room(height: number): void {
    const gap = this.#gap;
    const kept = this.#kept;
    this.#kept = [];
    if (kept.length > 0 && this.#mustBreak(heightOf(kept, gap) + height)) this.newPage();
    for (const block of kept) {
      this.space(block.before ?? 0);
      this.#settle(block.height);
      block.draw(this.y);
      this.advance(block.height, block.after);
    }
    if (kept.length > 0) this.space(gap);
    this.#settle(height);
  }

  #mustBreak(height: number): boolean {
    const used = this.y - this.paper.top;
    return this.y + height > this.#bottom && used >= (this.#bottom - this.paper.top) * leastUse;
  }

  /** Goes over the distance to what stands above, or to a new page. */
  #settle(height: number): void {
    if (this.remaining < height && !this.isTop) this.newPage();
    if (!this.isTop || this.#continued !== null) this.y += this.#gap;
    this.#gap = 0;
  }

  /** Draws what was kept although nothing follows. */
  flush(): void {
    if (this.#kept.length > 0) this.room(0);
  }
}

function heightOf(blocks: FlowBlock[], gap: number): number {
  let height = 0;
  let distance = 0;
  for (const block of blocks) {
    height += Math.max(distance, block.before ?? 0) + block.height;
    distance = block.after ?? 0;
  }
  return height + Math.max(distance, gap);
}
