import type { PngLogo } from '../../template/report-template.ts';
import type { Style } from '../type/styles.ts';
import type { TagOptions } from './pdfkit-parts.ts';

/** Standard structure types of PDF. */
export type Tag =
  | 'Sect'
  | 'H1'
  | 'H2'
  | 'H3'
  | 'H4'
  | 'P'
  | 'Code'
  | 'Figure'
  | 'Link'
  | 'L'
  | 'LI'
  | 'Lbl'
  | 'LBody'
  | 'TOC'
  | 'TOCI'
  | 'Table'
  | 'THead'
  | 'TBody'
  | 'TR'
  | 'TH'
  | 'TD';

/** Where a link leads: an address on the web, or the name of a place in the report. */
export type LinkTarget = { url: string } | { anchor: string };

export interface Paint {
  fill?: string;
  stroke?: string;
  lineWidth?: number;
  evenOdd?: boolean;
  /** 0..1 */
  opacity?: number;
  round?: boolean;
  /** Lengths of strokes and gaps. */
  dash?: [number, number];
}

/** Where a path of its own units stands on the page. */
export interface Placing {
  x: number;
  y: number;
  scale: number;
  /** Applied to the path first. */
  matrix?: readonly [number, number, number, number, number, number] | null;
}

/**
 * What the layout draws on. The same layout runs twice: once on a sheet that only counts its pages, then on the
 * document. Points, origin at the top left of the page. Everything is drawn within `content` or `artifact`.
 */
export interface Sheet {
  /** Of the current page, from 1; 0 before the first. */
  readonly page: number;
  addPage(): void;
  /** Opens an element of the structure; what is drawn and opened until it is closed belongs to it. */
  open(tag: Tag, options?: TagOptions): void;
  close(): void;
  /** Draws as content of the open element. It must not go on to another page. */
  content(draw: () => void): void;
  /** Draws what is not content: rules, marks beside their word, heads and footers. */
  artifact(draw: () => void, kind?: 'Pagination' | 'Layout'): void;
  /** Draws within content what is read aloud and copied as the given text. */
  readAs(text: string, draw: () => void): void;
  text(text: string, style: Style, x: number, baseline: number): void;
  /** Horizontal or vertical line. */
  rule(x1: number, y1: number, x2: number, y2: number, color: string, width: number): void;
  rect(x: number, y: number, width: number, height: number, paint: Paint, radius?: number): void;
  /** SVG path data. */
  path(data: string, placing: Placing, paint: Paint): void;
  /** Draws clipped to a rectangle. */
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
  image(image: PngLogo, x: number, y: number, width: number, height: number): void;
  /** Makes a rectangle a link, within an open element `Link`. */
  link(x: number, y: number, width: number, height: number, target: LinkTarget, description: string): void;
  /** Names a place of the page. */
  anchor(name: string, y: number): void;
  /** Level 0 is a section, 1 a part of the last section, and so on. */
  bookmark(title: string, level: number, y: number): void;
}

/** Counts pages and draws nothing. */
export class MeasuringSheet implements Sheet {
  page = 0;

  addPage(): void {
    this.page += 1;
  }
  open(): void {}
  close(): void {}
  content(): void {}
  artifact(): void {}
  readAs(): void {}
  text(): void {}
  rule(): void {}
  rect(): void {}
  path(): void {}
  clipped(): void {}
  image(): void {}
  link(): void {}
  anchor(): void {}
  bookmark(): void {}
}
