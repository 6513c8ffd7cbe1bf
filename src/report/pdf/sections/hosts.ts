import { hostBlocks } from '../../model/host-blocks.ts';
import { networkOf } from '../../model/inventory/current-host.ts';
import type { Action, HostBlock, Report, WorstHost } from '../../model/report.ts';
import { fixAnchor, hostAnchor, numberText, pluralText, unknownText } from '../../model/report-text.ts';
import { drawNeutralBar } from '../figures/bars.ts';
import { exploitedChip, severityCountPieces } from '../figures/marks.ts';
import { footnote, lead, partHeading } from '../flow/blocks.ts';
import { type Column, cellPadding, columns, type RowOptions, Table } from '../flow/table.ts';
import type { ReportPages } from '../report-pages.ts';
import { colored, styles } from '../type/styles.ts';
import { type Piece, plain, whole } from '../type/text-layout.ts';
import { drawHostBlock } from './host-block.ts';
import { hostNamePieces } from './host-name.ts';
import { listedSections } from './listed-sections.ts';
import { closeSection, isShortReport, openSection, soFar } from './section.ts';

/** Reports of more hosts have no block per host. */
const maxBlocks = 200;
/** Hosts that paper lists. */
const maxListedHosts = 5000;
/** Networks that are compared. */
const maxNetworks = 20;
/** Networks that have a bookmark. */
const maxNetworkBookmarks = 1000;
/** Points of each severity beside the others. */
const severitySlot = 25;

/** The hosts: the worst, all of them in address order, and one block for each that has findings. */
export async function* drawHosts(pages: ReportPages): AsyncGenerator<void> {
  const { report } = pages;
  if (!listedSections.hosts.when(report)) return;
  const hasBlocks = report.hosts.all <= maxBlocks;
  openSection(pages, 'hosts');
  lead(pages.flow, report.leads.hosts);
  if (!isShortReport(pages)) {
    drawWorst(pages, hasBlocks);
    if (!hasBlocks) drawNetworks(pages);
    yield;
    yield* drawIndex(pages, hasBlocks);
  }
  if (isShortReport(pages) || (hasBlocks && report.hosts.withFindings > 0)) yield* drawBlocks(pages);
  closeSection(pages);
  yield;
}

/** Addresses of IPv6 take more room. */
function addressWidth({ hosts, facts }: Report): number {
  const places = [...hosts.networks.map(({ network }) => network), ...facts.targets];
  return places.some((place) => place.includes(':')) ? 98 : 82;
}

function addressPiece({ accent }: ReportPages, host: string, anchor: string | null): Piece {
  if (anchor === null) return whole(host, styles.mono);
  return { ...whole(host, colored(styles.mono, accent)), link: { anchor } };
}

function namePieces({ flow }: ReportPages, name: string | null, width: number): Piece[] {
  if (name === null) return [plain('no name', styles.cellThird)];
  return hostNamePieces(flow.faces, name, styles.cell, width);
}

function worstColumns(address: number): readonly Column[] {
  return columns(
    { width: address, head: 'Address' },
    { width: 196 - address, head: 'Name', maxLines: 3 },
    { width: 56, head: '', name: 'Known exploited' },
    { width: 133, head: 'Findings' },
    { width: 114, head: 'First action', style: styles.cellSecond, maxLines: 2 },
  );
}

function drawWorst(pages: ReportPages, hasBlocks: boolean): void {
  const { flow, report } = pages;
  const { worst } = report.hosts;
  if (worst.length === 0) return;
  partHeading(
    flow,
    'Worst first',
    `${numberText(worst.length)} of ${numberText(report.hosts.withFindings)} with findings${soFar(pages)}`,
  );
  const address = addressWidth(report);
  const table = new Table(flow, worstColumns(address));
  for (const host of worst) {
    table.row([
      [addressPiece(pages, host.host, hasBlocks ? hostAnchor(host.host) : null)],
      namePieces(pages, host.name, 196 - address - cellPadding),
      host.exploited ? [exploitedChip(flow.faces)] : '',
      severityCountPieces(flow.faces, host.severities, severitySlot),
      actionPieces(pages, host),
    ]);
  }
  table.end();
}

function actionPieces({ report, accent }: ReportPages, { action: rank }: WorstHost): Piece[] {
  const action: Action | undefined = report.actions[rank - 1];
  if (action === undefined) return [];
  const link = { anchor: fixAnchor(rank) };
  const number = { ...plain(numberText(rank), colored(styles.cellSecond, accent)), link };
  return [number, plain(` ${action.text}`, styles.cellSecond)];
}

const networkColumns = columns(
  { width: 112, head: 'Network', style: styles.mono },
  { width: 108, head: '', name: 'Bar' },
  { width: 46, head: 'Hosts', align: 'right', style: styles.number },
  { width: 53, head: 'Findings', align: 'right', style: styles.number },
  { width: 180, head: '', name: 'By severity' },
);
/** Thousands of findings take more room. */
const networkSlot = 36;

function drawNetworks(pages: ReportPages): void {
  const { flow, report } = pages;
  const { networks, networksLeft } = report.hosts;
  const shown = networks.slice(0, maxNetworks);
  if (networks.length < 2) return;
  const all = networks.length + networksLeft;
  const part = shown.length < all ? `${numberText(shown.length)} of ${numberText(all)}, ` : '';
  partHeading(flow, 'Networks', `${part}most findings first${soFar(pages)}`);
  const table = new Table(flow, networkColumns);
  const most = Math.max(...shown.map(({ findings }) => findings));
  for (const { network, hosts, findings, severities } of shown) {
    table.row([
      [whole(network, styles.mono)],
      {
        draw: (x, y, width, height) => drawNeutralBar(flow.sheet, findings, most, { x, y, width, height }),
      },
      numberText(hosts),
      numberText(findings),
      severityCountPieces(flow.faces, severities, networkSlot),
    ]);
  }
  const left = (key: 'hosts' | 'findings', sum: number) =>
    numberText(sum - shown.reduce((part, network) => part + network[key], 0));
  if (shown.length < all) {
    const { hosts, summary } = report;
    const more = `${pluralText(all - shown.length, 'more network')}`;
    table.row([
      [plain(more, styles.cell)],
      '',
      left('hosts', hosts.all),
      left('findings', summary.findings),
      '',
    ]);
  }
  table.end([
    'All',
    '',
    numberText(report.hosts.all),
    numberText(report.summary.findings),
    severityCountPieces(flow.faces, report.summary.severities, networkSlot),
  ]);
}

/** What addresses take is left out of names and systems. */
function indexColumns(address: number): readonly Column[] {
  const rest = 276 - address;
  const name = Math.round(rest * 0.57);
  return columns(
    { width: address, head: 'Address' },
    { width: name, head: 'Name', maxLines: 3 },
    { width: rest - name, head: 'System', maxLines: 3 },
    { width: 62, head: 'Kind', maxLines: 2 },
    { width: 34, head: 'Open', align: 'right', style: styles.number },
    { width: 127, head: 'Findings' },
  );
}

/** Every host in one row. Hosts come one by one: none but the row at hand is in memory. */
async function* drawIndex(pages: ReportPages, hasBlocks: boolean): AsyncGenerator<void> {
  const { flow, report, source } = pages;
  const listed = Math.min(report.hosts.all, maxListedHosts);
  const part =
    listed < report.hosts.all ? `, the first ${numberText(listed)} of ${numberText(report.hosts.all)}` : '';
  partHeading(flow, 'All hosts', `in address order${part}${soFar(pages)}`);
  const widths = indexColumns(addressWidth(report));
  const nameWidth = (widths[1]?.width ?? 0) - cellPadding;
  const table = new Table(flow, widths);
  const bookmarks = new NetworkBookmarks();
  let rows = 0;
  for await (const block of hostBlocks(report, source.rows())) {
    if (rows === listed) break;
    rows += 1;
    table.row(
      indexCells(pages, block, { hasBlocks, nameWidth }),
      hasBlocks ? {} : bookmarks.before(block.host),
    );
    yield;
  }
  table.end();
  if (listed < report.hosts.all) {
    footnote(
      flow,
      `${pluralText(report.hosts.all - listed, 'more host')}: all stand in the HTML and JSON formats.`,
    );
  } else if (!hasBlocks) {
    footnote(
      flow,
      `Services and findings of each host stand in the HTML and JSON formats: paper has blocks for up to ${numberText(maxBlocks)} hosts.`,
    );
  }
}

function indexCells(
  pages: ReportPages,
  block: HostBlock,
  { hasBlocks, nameWidth }: { hasBlocks: boolean; nameWidth: number },
) {
  const known = (text: string | null) => [
    plain(text ?? unknownText, text === null ? styles.cellThird : styles.cell),
  ];
  const anchor = hasBlocks && hasFindings(block) ? block.anchor : null;
  return [
    [addressPiece(pages, block.host, anchor)],
    namePieces(pages, block.names[0] ?? null, nameWidth),
    known(block.system),
    known(block.kind),
    numberText(block.openPorts),
    hasFindings(block)
      ? severityCountPieces(pages.flow.faces, block.severities, severitySlot)
      : [plain('0', styles.cellThird)],
  ];
}

function hasFindings({ findings, findingsLeft }: HostBlock): boolean {
  return findings.length + findingsLeft > 0;
}

/** A bookmark where the hosts of a network begin. */
class NetworkBookmarks {
  #network = '';
  #count = 0;

  before(host: string): RowOptions {
    const network = networkOf(host);
    if (network === this.#network || this.#count >= maxNetworkBookmarks) return {};
    this.#network = network;
    this.#count += 1;
    return { bookmark: network };
  }
}

async function* drawBlocks(pages: ReportPages): AsyncGenerator<void> {
  const { flow, report, source } = pages;
  const all = isShortReport(pages);
  const count = numberText(all ? report.hosts.all : report.hosts.withFindings);
  partHeading(flow, all ? 'All hosts' : 'Hosts with findings', `${count}, in address order${soFar(pages)}`);
  for await (const block of hostBlocks(report, source.rows())) {
    if (!all && !hasFindings(block)) continue;
    yield* drawHostBlock(pages, block);
  }
}
