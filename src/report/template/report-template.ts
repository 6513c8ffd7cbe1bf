/** A template of the workspace, read and checked: plain data without code, links or remote parts. */
export interface ReportTemplate {
  name: string;
  /** Replaces the title of the report. */
  title: string | null;
  /** Stands at the top right of the cover: `Confidential`. */
  mark: string | null;
  /** Paragraphs at the end of a section. */
  blocks: Partial<Record<TemplateBlock, string>>;
  logo: TemplateLogo | null;
  /** `#rrggbb` */
  accent: string | null;
  /** Two pages for who decides, instead of all sections. */
  brief?: true;
}

/** Comes with the program; a folder of this name in the workspace wins. */
export const summaryTemplate: ReportTemplate = {
  name: 'summary',
  title: null,
  mark: null,
  blocks: {},
  logo: null,
  accent: null,
  brief: true,
};

export const templateBlocks = ['cover', 'summary', 'fixes', 'methodology', 'footer'] as const;
export type TemplateBlock = (typeof templateBlocks)[number];

export type TemplateLogo = PngLogo | VectorLogo;

export interface PngLogo {
  kind: 'png';
  width: number;
  height: number;
  /** Base64 of the checked file. */
  data: string;
}

/** An SVG reduced to shapes: renderers write them anew, nothing of the file reaches a page as it is. */
export interface VectorLogo {
  kind: 'vector';
  /** Of the view box. */
  x: number;
  y: number;
  width: number;
  height: number;
  shapes: VectorShape[];
}

export interface VectorShape {
  /** SVG path data of absolute and relative commands, in units of the view box. */
  path: string;
  /** Affine matrix a, b, c, d, e, f; null = identity. */
  transform: readonly [number, number, number, number, number, number] | null;
  /** `#rrggbb`, or null = none. */
  fill: string | null;
  stroke: string | null;
  strokeWidth: number;
  evenOdd: boolean;
  /** 0..1 */
  opacity: number;
}
