import { numberText } from '../../model/report-text.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import { colored, colors, type Style, styles } from '../type/styles.ts';
import { baselineOf, drawLine, layoutText, plain, type TextPiece } from '../type/text-layout.ts';
import { listedSections, type SectionName } from './listed-sections.ts';

/** The name of the place where a section begins. */
export function sectionAnchor(name: SectionName): string {
  return `section-${name}`;
}

/** Sections of a short report follow each other where at least this many points are left. */
const leastStart = 240;
/** Hosts of a short report. */
const maxShortHosts = 25;

/** Whether each finding and host takes a few lines instead of tables of its own. */
export function isShortReport({ report }: ReportPages): boolean {
  return report.hosts.all <= maxShortHosts;
}

const ownPage: readonly SectionName[] = ['summary', 'fixes'];

/** Begins a section, in a short report on the page of the one before. The caller ends it with `closeSection`. */
export function openSection(pages: ReportPages, name: SectionName): void {
  const { title } = listedSections[name];
  openPage(pages, title, sectionAnchor(name), isShortReport(pages) && !ownPage.includes(name));
}

/** A new page with a title, the running head and a bookmark; opens an element `Sect`. */
export function openPage({ flow }: ReportPages, title: string, anchor: string, goesOn = false): void {
  const { sheet } = flow;
  flow.setContinued(null);
  flow.setHead(title);
  if (!goesOn || flow.remaining < leastStart) flow.newPage();
  else flow.space(34);
  sheet.open('Sect');
  const [line] = layoutText(flow.faces, [plain(title, styles.h1)], contentWidth, { maxLines: 1 });
  flow.place({
    height: styles.h1.line,
    after: 12,
    draw: (y) => {
      flow.places.record(anchor, sheet.page);
      sheet.anchor(anchor, goesOn ? y - 8 : 0);
      sheet.bookmark(title, 0, goesOn ? y - 8 : 0);
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

/** Where all actions stand: a brief report has the first of them in its summary. */
export function actionsAnchor({ report }: ReportPages): string {
  return sectionAnchor(report.options.template?.brief ? 'summary' : 'fixes');
}

/** The page of a place, as a link to it. */
export function pageNumber({ flow, accent }: ReportPages, name: string, style: Style): TextPiece {
  const text = flow.places.pageText(name);
  return flow.places.has(name)
    ? { ...plain(text, colored(style, accent)), link: { anchor: name } }
    : plain(text, colored(style, colors.third));
}

/** `, so far` after the numbers of a partial scan. */
export function soFar({ report }: ReportPages): string {
  return report.partial === null ? '' : ', so far';
}

/** `the first 5 of 12 actions`, or `12 actions` if these are all. */
export function partOfText(shown: number, all: number, one: string, many = `${one}s`): string {
  const words = `${numberText(all)} ${all === 1 ? one : many}`;
  return shown < all ? `the first ${numberText(shown)} of ${words}` : words;
}
