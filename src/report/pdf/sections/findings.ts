import type { FindingKind, Report } from '../../model/report.ts';
import { cvssText, epssText, numberText, pluralText } from '../../model/report-text.ts';
import { exploitedChip, severityPieces } from '../figures/marks.ts';
import { lead, partHeading, sideNotice } from '../flow/blocks.ts';
import { type Cell, columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { styles } from '../type/styles.ts';
import { plain, textWidth, whole } from '../type/text-layout.ts';
import { drawFindingEntry, maxPlaces } from './finding-entry.ts';
import { closeSection, isShortReport, openSection, pageNumber } from './section.ts';

/** Reports with more kinds or findings have entries for what is critical, high or known to be exploited only. */
const fullKinds = 60;
const fullFindings = 1000;
/** Even of those. */
const maxEntries = 300;

/** An index of all kinds, then an entry for each that is shown in full. */
export function* drawFindings(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  if (report.kinds.length === 0) return;
  openSection(pages, 'findings');
  lead(flow, report.leads.findings);
  const entries = entriesOf(report);
  drawCut(pages, entries);
  if (!isShortReport(pages) || entries.length < report.kinds.length) yield* drawIndex(pages);
  if (entries.length > 0)
    partHeading(flow, 'Details', `${pluralText(entries.length, 'kind')}, most severe first`);
  for (const kind of entries) {
    drawFindingEntry(pages, kind);
    yield;
  }
  closeSection(pages);
}

/** Where every kind has an entry, a short report does without: they follow at once. */
function* drawIndex(pages: ReportPages): Generator<void> {
  const table = new Table(pages.flow, indexColumns);
  for (const kind of pages.report.kinds) {
    table.row(indexRow(pages, kind));
    yield;
  }
  table.end();
  yield;
}

/** The kinds with an entry of their own. */
export function entriesOf({ kinds, summary }: Pick<Report, 'kinds' | 'summary'>): FindingKind[] {
  if (kinds.length <= fullKinds && summary.findings <= fullFindings) return kinds;
  const urgent = kinds.filter(
    ({ severity, exploited }) => exploited || severity === 'critical' || severity === 'high',
  );
  return urgent.slice(0, maxEntries);
}

/** What is not on paper, and where it is. */
function drawCut(pages: ReportPages, entries: readonly FindingKind[]): void {
  const { flow, report } = pages;
  const cutKinds = report.kinds.length - entries.length;
  const cutPlaces = entries.some((kind) => kind.counts.all > maxPlaces);
  if (cutKinds === 0 && !cutPlaces) return;
  const parts = [
    ...(cutKinds > 0
      ? [
          `Details follow for ${pluralText(entries.length, 'kind')} that are critical, high, or known exploited; the other ${numberText(cutKinds)} stand in the table only.`,
        ]
      : []),
    ...(cutPlaces ? [`Up to ${maxPlaces} places stand under each finding.`] : []),
    `All ${pluralText(report.summary.findings, 'finding')} with their evidence:`,
  ];
  sideNotice(flow, [
    plain('Cut for paper. ', styles.bodyStrong),
    plain(`${parts.join(' ')} `, styles.bodySecond),
    whole('portolan workspace export', styles.monoBody),
    plain(' ', styles.bodySecond),
    whole(report.facts.scan_id, styles.monoBody),
    plain(' ', styles.bodySecond),
    whole('--format json', styles.monoBody),
  ]);
}

const idWidth = 110;
const indexColumns = columns(
  { width: 54, head: 'Severity' },
  { width: idWidth, head: 'ID' },
  { width: 173, head: 'Title', maxLines: 3 },
  { width: 48, head: '', name: 'Known exploited' },
  { width: 32, head: 'Hosts', align: 'right', style: styles.number },
  { width: 30, head: 'EPSS', align: 'right', style: styles.number },
  { width: 30, head: 'CVSS', align: 'right', style: styles.number },
  { width: 22, head: 'Page', align: 'right', style: styles.number },
);

function indexRow(pages: ReportPages, kind: FindingKind): Cell[] {
  const { faces } = pages.flow;
  return [
    severityPieces(kind.severity),
    ...namesOf(pages, kind),
    kind.exploited ? [exploitedChip(faces)] : '',
    numberText(kind.hosts),
    epssText(kind.epss),
    cvssText(kind.cvss?.score),
    [pageNumber(pages, kind.anchor, styles.number)],
  ];
}

/** An ID is never broken for its column: a longer one takes the room of the title, which follows below. */
function namesOf({ flow }: ReportPages, { id, title }: FindingKind): Cell[] {
  const name = whole(id, styles.mono);
  const shown = flow.faces.mono.visible(id);
  if (textWidth(flow.faces, shown, styles.mono) <= idWidth - 8) return [[name], title];
  return [
    {
      columns: 2,
      parts: [
        { pieces: [name], line: 11 },
        { pieces: [plain(title, styles.cell)], line: 11, maxLines: 2 },
      ],
    },
  ];
}
