import { numberText } from '../../model/report-text.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import type { LinkTarget } from '../sheet/sheet.ts';
import { colored, colors, type Style, styles } from '../type/styles.ts';
import { baselineOf, drawLine, layoutText, plain, type TextPiece } from '../type/text-layout.ts';

/** Sections that the contents page lists; `anchor` is the name of their place. */
export const sectionAnchor = (name: string): string => `section-${name}`;

interface SectionOptions {
  name: string;
  title: string;
}

/** Begins a section on a new page: running head, bookmark, place, title. The caller closes the element `Sect`. */
export function openSection({ flow }: ReportPages, { name, title }: SectionOptions): void {
  const { sheet } = flow;
  flow.setContinued(null);
  flow.setHead(title);
  flow.newPage();
  const anchor = sectionAnchor(name);
  sheet.open('Sect');
  flow.places.record(anchor, sheet.page);
  sheet.anchor(anchor, 0);
  sheet.bookmark(title, 0, 0);
  const [line] = layoutText(flow.faces, [plain(title, styles.h1)], contentWidth, { maxLines: 1 });
  flow.place({
    height: styles.h1.line,
    after: 12,
    draw: (y) => {
      sheet.open('H1');
      if (line) drawLine(sheet, line, flow.left, y + baselineOf(styles.h1));
      sheet.close();
    },
  });
}

export function closeSection({ flow }: ReportPages): void {
  flow.flush();
  flow.setContinued(null);
  flow.sheet.close();
}

/** The page of a place, as a link to it. */
export function pageLink({ flow, accent }: ReportPages, name: string, style: Style): TextPiece {
  const text = flow.places.pageText(name);
  const link: LinkTarget = { anchor: name };
  return flow.places.has(name)
    ? { ...plain(text, colored(style, accent)), link }
    : plain(text, colored(style, colors.third));
}

/** `so far` after the numbers of a partial scan. */
export function soFar({ report }: ReportPages): string {
  return report.partial === null ? '' : ', so far';
}

/** `3 of 12`, or `12` if these are all. */
export function partOfText(shown: number, all: number): string {
  return shown < all ? `${numberText(shown)} of ${numberText(all)}` : numberText(all);
}
