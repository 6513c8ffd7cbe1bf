import type { Paper } from '../report-facts.ts';

/** Geometry of a page in points; the origin is at the top left. */
export interface PaperGeometry {
  width: number;
  height: number;
  left: number;
  /** Of the body, as all below. */
  top: number;
  bottom: number;
  /** Top of the text of the running head. */
  head: number;
  footRule: number;
  /** Top of the text of the footer. */
  foot: number;
}

/** The same on both papers: tables never change. */
export const contentWidth = 499;

export const paperGeometry: Record<Paper, PaperGeometry> = {
  a4: {
    width: 595.28,
    height: 841.89,
    left: 48.14,
    top: 60,
    bottom: 788,
    head: 32,
    footRule: 795,
    foot: 802,
  },
  letter: { width: 612, height: 792, left: 56.5, top: 60, bottom: 738, head: 32, footRule: 745, foot: 752 },
};
