import { findingClasses } from '../../../domain/finding.ts';
import type { ChangeItem, ReportChanges } from '../../model/changes.ts';
import type { Action, NetworkCount, SeverityLine } from '../../model/report.ts';
import {
  changeText,
  cvssText,
  dateTimeText,
  endpointText,
  epssText,
  numberText,
  pluralText,
} from '../../model/report-text.ts';
import { drawBarPart, drawNeutralBar, drawSeverityBar } from '../figures/bars.ts';
import {
  exploitedChip,
  type Sign,
  severityMarkAlone,
  severityPieces,
  signPiece,
  stateMark,
} from '../figures/marks.ts';
import { banner, footnote, lead, partHeading, templateBlock, templateBlockHeight } from '../flow/blocks.ts';
import { type Cell, type Column, columns, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { colors, styles } from '../type/styles.ts';
import { type FigurePiece, gap, layoutText, type Piece, plain, whole } from '../type/text-layout.ts';
import { closeSection, openSection, pageNumber, partOfText, sectionAnchor, soFar } from './section.ts';

/** Hosts from which on a report speaks of networks, and shows more actions. */
const manyHosts = 200;
const shownNetworks = 4;

/** How bad, what first, what changed: always exactly one page, so the rows of its tables are limited by the room. */
export function* drawSummary(pages: ReportPages): Generator<void> {
  const { flow, report } = pages;
  openSection(pages, 'summary');
  if (report.partial !== null) {
    banner(flow, [stateMark(report.facts.status), plain(report.partial, styles.body)], 4);
  }
  lead(flow, report.leads.summary);
  const isBrief = report.options.template?.brief ?? false;
  if (isBrief) flow.limitPage(flow.paper.bottom - coverageHeight);
  if (report.summary.findings > 0) {
    drawSeverities(pages);
    drawFirst(pages);
  }
  const { changes } = report.options;
  if (changes !== null) drawChanges(pages, changes);
  else if (isBrief)
    partHeading(flow, 'What changed', 'not compared: no earlier scan was named (--against ID)');
  else if (report.summary.hosts > manyHosts && report.hosts.networks.length > 1) drawNetworks(pages);
  drawTemplateBlock(pages);
  if (isBrief) drawBriefCoverage(pages);
  closeSection(pages);
  yield;
}

/** Points at the end of the page of a brief report: a heading, four lines and where all the rest stands. */
const coverageHeight = 110;

function drawBriefCoverage({ flow, report }: ReportPages): void {
  const { coverage, facts } = report;
  flow.flush();
  flow.limitPage(flow.paper.bottom);
  const anchor = sectionAnchor('coverage');
  partHeading(flow, 'Coverage', `${numberText(coverage.addresses.requested)} addresses asked for`, {
    anchor,
  });
  lead(flow, coverage.text);
  footnote(
    flow,
    `All findings, hosts and services: portolan workspace export ${facts.scan_id} -o report.pdf`,
  );
}

/** Height that the text of the operator takes at the end of the page. */
function templateHeight({ flow, report }: ReportPages): number {
  return templateBlockHeight(flow, report.options.template?.blocks.summary);
}

function drawTemplateBlock(pages: ReportPages): void {
  templateBlock(pages.flow, pages.report.options.template?.blocks.summary);
}

/** The legend of the bars stands in the head of their column. */
function barHead(): Piece[] {
  const piece = (kind: 'certain' | 'likely' | 'possible'): FigurePiece => ({
    width: 11,
    reading: 'beside',
    draw: (sheet, x, baseline) =>
      drawBarPart(sheet, kind, colors.second, { x, y: baseline - 5.4, width: 9, height: 5.6 }),
  });
  return (['certain', 'likely', 'possible'] as const).flatMap((kind, index) => [
    ...(index > 0 ? [gap(5)] : []),
    piece(kind),
    plain(kind, styles.head),
  ]);
}

function countColumn(head: string, width: number): Column {
  return { width, head, align: 'right', style: head === 'All' ? styles.numberStrong : styles.number };
}

const countColumns = [
  countColumn('All', 36),
  countColumn('Certain', 44),
  countColumn('Likely', 40),
  countColumn('Possible', 48),
];
const severityColumn: Column = { width: 72, head: 'Severity' };
const barColumn: Column = { width: 187, head: barHead() };

const severityColumns = columns(
  severityColumn,
  barColumn,
  ...countColumns,
  countColumn('Exploited', 48),
  countColumn('+/−', 24),
);
const columnsWithoutChange = columns(
  severityColumn,
  barColumn,
  ...countColumns,
  countColumn('Exploited', 72),
);

function drawSeverities(pages: ReportPages): void {
  const { flow, report } = pages;
  const { lines, classes, exploited, findings } = report.summary;
  const { changes } = report.options;
  partHeading(flow, 'How bad', `findings by severity and by how sure they are${soFar(pages)}`);
  const most = Math.max(...lines.map((line) => line.all));
  const table = new Table(flow, changes === null ? columnsWithoutChange : severityColumns);
  for (const line of lines) table.row(severityRow(pages, line, most));
  const balance = lines.reduce((sum, { change }) => sum + (change ?? 0), 0);
  const sum = [findings, classes.certain, classes.likely, classes.possible, exploited.all].map(numberText);
  table.end(['All', '', ...sum, ...(changes === null ? [] : [changeText(balance)])]);
}

function severityRow(pages: ReportPages, line: SeverityLine, most: number): Cell[] {
  const { sheet } = pages.flow;
  const counts = [line.certain, line.likely, line.possible, line.exploited].map(numberText);
  const parts = findingClasses
    .filter((name) => line[name] > 0)
    .map((name) => `${numberText(line[name])} ${name}`);
  return [
    severityPieces(line.severity),
    {
      alt: [`${numberText(line.all)} ${line.severity}`, parts.join(', ')]
        .filter((text) => text !== '')
        .join(': '),
      draw: (x, y, width, height) =>
        drawSeverityBar(sheet, line.severity, line, most, { x, y, width, height }),
    },
    numberText(line.all),
    ...counts,
    ...(line.change === null ? [] : [changeText(line.change)]),
  ];
}

const firstColumns = columns(
  { width: 16, head: '', name: 'Rank', padding: 0 },
  { width: 275, head: 'Action and reason' },
  { width: 58, head: '', name: 'Known exploited' },
  { width: 36, head: 'Hosts', align: 'right', style: styles.number },
  { width: 46, head: 'Findings', align: 'right', style: styles.number },
  { width: 34, head: 'EPSS', align: 'right', style: styles.number },
  { width: 34, head: 'CVSS', align: 'right', style: styles.number },
);

const headingHeight = 16 + 16 + 5 + 17;
const lineRow = 17.5;
/** The actions that the page has room for beside what follows them, one at least. */
function shownActions(pages: ReportPages): Action[] {
  const { flow, report } = pages;
  const { changes, template } = report.options;
  const rows =
    changes === null
      ? template?.brief
        ? 0
        : report.hosts.networks.length
      : changes.items.length + Math.min(changes.notComparable.length, maxUntold);
  const hasMore = changes !== null || template?.brief || report.summary.hosts > manyHosts;
  const below = hasMore ? headingHeight + lineRow * Math.min(rows + 1, 5) : 0;
  let room = flow.remaining - headingHeight - lineRow - below - templateHeight(pages);
  const wanted = report.actions.slice(0, report.summary.hosts > manyHosts ? 8 : 5);
  return wanted.filter((action, index) => {
    room -= actionHeight(pages, action);
    return index === 0 || room >= 0;
  });
}

const reasonWidth = 267;

function actionHeight({ flow }: ReportPages, { reason }: Action): number {
  const lines = layoutText(flow.faces, [plain(reason, styles.reason)], reasonWidth, { maxLines: 2 });
  return 12.5 + 11 * lines.length + 2 * 5;
}

function drawFirst(pages: ReportPages): void {
  const { flow, report } = pages;
  const { actions } = report;
  const shown = shownActions(pages);
  const part = `${partOfText(shown.length, actions.length, 'action')}${soFar(pages)}`;
  const place = [
    plain(`${part}; page `, styles.cellThird),
    pageNumber(pages, sectionAnchor('fixes'), styles.cellThird),
    plain(' has all', styles.cellThird),
  ];
  partHeading(flow, 'What first', report.options.template?.brief ? part : place);
  const table = new Table(flow, firstColumns);
  for (const action of shown) table.row(firstRow(pages, action), { padding: 5 });
  const left = actions.length - shown.length;
  const findings = shown.reduce((sum, action) => sum - action.findings, report.summary.findings);
  table.end(left === 0 ? null : ['', pluralText(left, 'more action'), '', '', numberText(findings), '', '']);
}

function firstRow({ flow, report }: ReportPages, action: Action): Cell[] {
  const name = plain(action.text, styles.actionMedium);
  const text = report.options.template?.brief ? name : { ...name, link: { anchor: action.anchor } };
  return [
    [plain(String(action.rank), styles.cellThird)],
    {
      parts: [
        { pieces: [text], line: 12.5, maxLines: 1 },
        { pieces: [plain(action.reason, styles.reason)], line: 11, maxLines: 2 },
      ],
    },
    action.exploited ? [exploitedChip(flow.faces)] : '',
    numberText(action.hosts),
    numberText(action.findings),
    epssText(action.epss),
    cvssText(action.cvss),
  ];
}

/** Reasons for what cannot be compared. */
const maxUntold = 2;

const changeColumns = columns(
  { width: 20, head: '', name: 'Change' },
  { width: 215, head: 'Finding', maxLines: 1 },
  { width: 112, head: 'Where', maxLines: 1 },
  { width: 152, head: 'Why', maxLines: 1 },
);

function drawChanges(pages: ReportPages, changes: ReportChanges): void {
  const { flow } = pages;
  const room = Math.floor((flow.remaining - headingHeight - templateHeight(pages) - 20) / lineRow);
  const untold = changes.notComparable.slice(0, maxUntold);
  const items = changes.items.slice(0, Math.max(1, room - untold.length));
  partHeading(flow, 'What changed', changesNote(changes));
  const table = new Table(flow, changeColumns);
  for (const item of items) table.row(changeRow(item));
  for (const { reason, count, example } of untold) {
    const what = `${numberText(count)} not comparable`;
    table.row([[signPiece('?')], what, [plain(example, styles.mono)], reason]);
  }
  const left = changes.items.length - items.length + changes.itemsLeft;
  const more = `${pluralText(left, 'more change')}: in the HTML report, and with portolan scan diff.`;
  table.end(null, left > 0 ? more : null);
}

function changesNote(changes: ReportChanges): string {
  const untold = changes.notComparable.reduce((sum, { count }) => sum + count, 0);
  const counts = [
    `${numberText(changes.new)} new`,
    `${numberText(changes.fixed)} fixed`,
    `${numberText(changes.unchanged)} unchanged`,
    ...(untold > 0 ? [`${numberText(untold)} not comparable`] : []),
  ];
  return `since ${dateTimeText(changes.at)}: ${counts.join(', ')}`;
}

function changeRow(item: ChangeItem): Cell[] {
  const sign: Sign = item.sign === 'new' ? '+' : '−';
  const finding = item.product === null ? item.title : `${item.id} in ${item.product}`;
  return [
    [signPiece(sign)],
    [severityMarkAlone(item.severity), plain(finding, styles.cell)],
    [whole(endpointText(item.host, item.port), styles.mono)],
    item.why,
  ];
}

const networkColumns = columns(
  { width: 110, head: 'Network' },
  { width: 219, head: 'Findings', name: 'Share' },
  { width: 80, head: 'Hosts', align: 'right', style: styles.number },
  { width: 90, head: 'Findings', align: 'right', style: styles.number },
);

function drawNetworks(pages: ReportPages): void {
  const { flow, report } = pages;
  const { networks, networksLeft } = report.hosts;
  const room = Math.floor((flow.remaining - headingHeight - templateHeight(pages) - lineRow) / lineRow);
  const shown = networks.slice(0, Math.max(1, Math.min(shownNetworks, room)));
  const all = networks.length + networksLeft;
  partHeading(flow, 'Where', `${partOfText(shown.length, all, 'network')}, most findings first`);
  const most = Math.max(...shown.map((network) => network.findings));
  const table = new Table(flow, networkColumns);
  for (const network of shown) table.row(networkRow(pages, network, most));
  const left = all - shown.length;
  const hosts = shown.reduce((sum, network) => sum - network.hosts, report.hosts.all);
  const findings = shown.reduce((sum, network) => sum - network.findings, report.summary.findings);
  table.end(
    left === 0 ? null : [pluralText(left, 'more network'), '', numberText(hosts), numberText(findings)],
  );
}

function networkRow({ flow }: ReportPages, { network, hosts, findings }: NetworkCount, most: number): Cell[] {
  return [
    [whole(network, styles.mono)],
    { draw: (x, y, width, height) => drawNeutralBar(flow.sheet, findings, most, { x, y, width, height }) },
    numberText(hosts),
    numberText(findings),
  ];
}
