import { buildReport } from '../model/build-report.ts';
import type { Report } from '../model/report.ts';
import { dateText } from '../model/report-text.ts';
import type { ReportSource } from '../report-source.ts';
import { PageFlow } from './flow/page-flow.ts';
import { Places } from './flow/places.ts';
import { paperGeometry } from './paper.ts';
import { openDocument, openTypefaces } from './pdf-document.ts';
import type { ReportPages, SectionSteps } from './report-pages.ts';
import { drawContents } from './sections/contents.ts';
import { drawCover } from './sections/cover.ts';
import { drawCoverage } from './sections/coverage.ts';
import { drawFindings } from './sections/findings.ts';
import { drawFixList } from './sections/fix-list.ts';
import { drawHosts } from './sections/hosts.ts';
import { drawMethodology } from './sections/methodology.ts';
import { drawServices } from './sections/services.ts';
import { drawSummary } from './sections/summary.ts';
import { PdfSheet } from './sheet/pdf-sheet.ts';
import { MeasuringSheet, type Sheet } from './sheet/sheet.ts';
import { colors } from './type/styles.ts';
import type { Typefaces } from './type/text-layout.ts';

/** The sections in their order. Each decides by itself whether there is something to draw. */
const sections: readonly ((pages: ReportPages) => SectionSteps)[] = [
  drawCover,
  drawContents,
  drawSummary,
  drawFixList,
  drawFindings,
  drawHosts,
  drawServices,
  drawCoverage,
  drawMethodology,
];

/**
 * Draws a report. The same layout runs twice: the first time to count pages and to learn on which page everything
 * stands, the second time to draw. Pages are handed out as they are finished, and the next one is drawn when they
 * were taken.
 */
export async function* renderPdf(source: ReportSource): AsyncGenerator<Uint8Array> {
  const report = await buildReport(source.facts, source.options, source.rows());
  const document = openDocument(report);
  try {
    const faces = await openTypefaces(document);
    const places = new Places();
    const measuring = new MeasuringSheet();
    for await (const _ of drawSections(pagesOf(report, source, measuring, faces, places)));
    places.pages = measuring.page;
    const sheet = new PdfSheet(document, faces, paperGeometry[report.options.paper]);
    for await (const _ of drawSections(pagesOf(report, source, sheet, faces, places)))
      yield* document.written();
    sheet.end();
    document.end();
    yield* document.written();
  } finally {
    document.destroy();
  }
}

function pagesOf(
  report: Report,
  source: ReportSource,
  sheet: Sheet,
  faces: Typefaces,
  places: Places,
): ReportPages {
  const { facts, options } = report;
  const date = dateText(facts.completedAt ?? facts.timestamp);
  const state = report.partial === null ? '' : ` · ${report.state}`;
  const flow = new PageFlow(sheet, paperGeometry[options.paper], faces, places, {
    title: `${shortTitle(report.title)} · ${date}${state}`,
    scan: facts.scan_id,
    footer: options.template?.blocks.footer ?? '',
  });
  return { report, source, flow, accent: options.template?.accent ?? colors.link };
}

/** Characters of the title at the top of each page: date and state must not be cut. */
const headTitle = 40;

function shortTitle(title: string): string {
  return title.length > headTitle ? `${title.slice(0, headTitle).trimEnd()}…` : title;
}

async function* drawSections(pages: ReportPages): AsyncGenerator<void> {
  const isBrief = pages.report.options.template?.brief ?? false;
  for (const section of isBrief ? [drawCover, drawSummary] : sections) yield* section(pages);
}
