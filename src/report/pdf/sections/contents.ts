import { findingClasses, type Severity, severities } from '../../../domain/finding.ts';
import { classPieces, exploitedChip, severityPieces } from '../figures/marks.ts';
import { partHeading } from '../flow/blocks.ts';
import { columns, Table } from '../flow/table.ts';
import { contentWidth } from '../paper.ts';
import type { ReportPages } from '../report-pages.ts';
import { colors, styles } from '../type/styles.ts';
import { baselineOf, drawLine, gap, layoutText, type Piece, plain } from '../type/text-layout.ts';
import { listedSections, type SectionName, sectionNames } from './listed-sections.ts';
import { closeSection, isShortReport, openPage, pageNumber, sectionAnchor } from './section.ts';

const headHeight = 17;
const rowHeight = 21.3;

/** Where everything stands, and how to read the marks; a short report does without, and has the marks at its end. */
export function* drawContents(pages: ReportPages): Generator<void> {
  const { flow } = pages;
  if (isShortReport(pages)) return;
  openPage(pages, 'Contents', 'contents');
  drawHead(pages);
  flow.sheet.open('TOC');
  for (const name of sectionNames) if (listedSections[name].when(pages.report)) drawEntry(pages, name);
  flow.sheet.close();
  drawMarks(pages);
  closeSection(pages);
  yield;
}

/** For the eye: the entries of the contents have a structure of their own. */
function drawHead({ flow }: ReportPages): void {
  const { sheet, faces } = flow;
  const [right] = layoutText(faces, [plain('Page', styles.head)], 60);
  flow.place({
    height: headHeight,
    draw: (y) => {
      const baseline = y + 1 + baselineOf({ size: styles.head.size, line: 11 });
      sheet.artifact(() => {
        sheet.text('Section', styles.head, flow.left, baseline);
        sheet.text('Page', styles.head, flow.right - (right?.width ?? 0), baseline);
        sheet.rule(flow.left, y + headHeight, flow.right, y + headHeight, colors.headLine, 0.75);
      });
    },
  });
}

function drawEntry(pages: ReportPages, name: SectionName): void {
  const { flow, report } = pages;
  const { sheet, faces } = flow;
  const { title, note } = listedSections[name];
  const anchor = sectionAnchor(name);
  const pieces: Piece[] = [
    { ...plain(title, styles.entry), link: { anchor } },
    gap(5),
    plain(note(report), styles.cellThird),
  ];
  const [left] = layoutText(faces, pieces, contentWidth - 60, { maxLines: 1 });
  const [right] = layoutText(faces, [pageNumber(pages, anchor, styles.entryPage)], 60, { maxLines: 1 });
  flow.place({
    height: rowHeight,
    draw: (y) => {
      const baseline = y + baselineOf({ size: styles.entry.size, line: rowHeight });
      sheet.open('TOCI');
      if (left) drawLine(sheet, left, flow.left, baseline);
      if (right) drawLine(sheet, right, flow.right - right.width, baseline);
      sheet.close();
      const bottom = y + rowHeight;
      sheet.artifact(() => sheet.rule(flow.left, bottom, flow.right, bottom, colors.rowLine, 0.5));
    },
  });
}

const markColumns = columns({ width: 110, head: 'Mark' }, { width: 389, head: 'Meaning' });

const severityMeanings: Record<Severity, string> = {
  critical: 'CVSS 9.0 and above, or declared so by a check',
  high: '7.0 to 8.9',
  medium: '4.0 to 6.9',
  low: '0.1 to 3.9',
  info: 'Worth knowing, no weakness by itself',
};

const classMeanings = {
  certain: 'Shown by the service itself, or an exact version of software that no distribution patches',
  likely: 'The version is affected, and nothing seen speaks against it',
  possible:
    'The version is affected, but the distribution may have fixed it without a new one. Check before acting',
};

export function drawMarks(pages: ReportPages): void {
  const { flow } = pages;
  partHeading(flow, 'How to read this report');
  const table = new Table(flow, markColumns);
  for (const severity of isShortReport(pages) ? [] : severities)
    table.row([severityPieces(severity), severityMeanings[severity]]);
  for (const name of findingClasses) table.row([classPieces(name), classMeanings[name]]);
  table.row([
    [exploitedChip(flow.faces)],
    'Listed in the catalog of known exploited vulnerabilities (KEV). On the list does not mean exploited here',
  ]);
  table.row([
    [plain('EPSS ', styles.cellSecond), plain('0.94', styles.cellStrong)],
    'Estimated chance, 0 to 1, that the vulnerability is exploited within 30 days',
  ]);
  table.row([
    [plain('CVSS ', styles.cellSecond), plain('9.8', styles.cellStrong)],
    'Technical severity, 0 to 10. A check has none: –',
  ]);
  table.end(
    null,
    'Color only repeats what the shape says. All times are UTC. A dash (–) is not known or does not apply; 0 was counted.',
  );
}
